// SPDX-License-Identifier: Apache-2.0
// polykemd's log: lines of text, JSON, or entries of systemd's journal with fields.
#pragma once

#include <string>

#include "common/json_out.hpp"

namespace polykem::cli {

/// The priorities of syslog.
enum class Priority { kError = 3, kWarning = 4, kInfo = 6 };

/// The socket at which systemd's journal receives entries with fields.
inline constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

class Log {
 public:
  /// level: "info" or "warning". format: "text", "json", or "auto", which is entries with fields if standard error is
  /// connected to the journal, and otherwise text.
  Log(const std::string& level, const std::string& format, std::string journal = kJournalSocket);

  void set_level(const std::string& level) { quiet_ = level == "warning"; }
  /// True unless the format is text. Then errors at start-up also go to the log, instead of plain standard error.
  bool is_structured() const { return format_ != Format::kText; }

  /// event: an identifier of the kind of message, for programs. fields: strings and numbers.
  void write(Priority priority, const char* event, const std::string& text, const Json& fields = Json::object()) const;

 private:
  enum class Format { kText, kJson, kJournal };
  bool send_to_journal(Priority priority, const char* event, const std::string& text, const Json& fields) const;

  Format format_;
  bool to_journal_, quiet_;
  std::string journal_;
};

}  // namespace polykem::cli
