// SPDX-License-Identifier: Apache-2.0
// What polykemd says while it serves: lines for people, JSON, or fields of the journal.
#pragma once

#include <string>

#include "common/json_out.hpp"

namespace polykem::cli {

/// As syslog numbers them.
enum class Priority { kError = 3, kWarning = 4, kInfo = 6 };

/// Where systemd's journal takes entries with fields.
inline constexpr const char* kJournalSocket = "/run/systemd/journal/socket";

class Log {
 public:
  /// level: "info" or "warning". format: "text", "json", or "auto": fields if standard error goes to the journal, text
  /// otherwise.
  Log(const std::string& level, const std::string& format, std::string journal = kJournalSocket);

  void set_level(const std::string& level) { quiet_ = level == "warning"; }
  /// Errors of the start belong here too, instead of where a command tells them.
  bool is_structured() const { return format_ != Format::kText; }

  /// event: a word for programs, the same for every message of its kind. fields: strings and numbers.
  void write(Priority priority, const char* event, const std::string& text, const Json& fields = Json::object()) const;

 private:
  enum class Format { kText, kJson, kJournal };
  bool send_to_journal(Priority priority, const char* event, const std::string& text, const Json& fields) const;

  Format format_;
  bool to_journal_, quiet_;
  std::string journal_;
};

}  // namespace polykem::cli
