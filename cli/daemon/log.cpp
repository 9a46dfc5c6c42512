// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <utility>

#include "common/exit_codes.hpp"
#include "common/streams.hpp"
#include "daemon/systemd.hpp"

namespace polykem::cli {
namespace {

const char* name_of(Priority priority) {
  return priority == Priority::kError ? "error" : priority == Priority::kWarning ? "warning" : "info";
}

/// "2026-01-31T12:00:00.123Z".
std::string time_now() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const auto ms = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(now)), ms);
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// A field in the journal's protocol, where a newline ends the value.
std::string journal_field(const std::string& name, const std::string& value) {
  return fmt::format("{}={}\n", name, without_controls(value));
}

}  // namespace

Log::Log(const std::string& level, const std::string& format, std::string journal)
    : format_(format == "json"                        ? Format::kJson
              : format == "auto" && logs_to_journal() ? Format::kJournal
                                                      : Format::kText),
      to_journal_(logs_to_journal()),
      quiet_(level == "warning"),
      journal_(std::move(journal)) {}

void Log::write(Priority priority, const char* event, const std::string& text, const Json& fields) const {
  if (quiet_ && priority == Priority::kInfo) return;
  if (format_ == Format::kJournal && send_to_journal(priority, event, text, fields)) return;
  if (format_ == Format::kJson) {
    Json line{{"time", time_now()}, {"level", name_of(priority)}, {"event", event}, {"message", text}};
    line.update(fields);
    return print_error("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  const std::string prefix = to_journal_ ? fmt::format("<{}>", static_cast<int>(priority)) : "polykemd: ";
  print_error("{}{}\n", prefix, without_controls(text));
}

/// Returns false if the journal did not accept the entry.
bool Log::send_to_journal(Priority priority, const char* event, const std::string& text, const Json& fields) const {
  std::string entry = journal_field("MESSAGE", text) +
                      journal_field("PRIORITY", std::to_string(static_cast<int>(priority))) +
                      journal_field("SYSLOG_IDENTIFIER", "polykemd") + journal_field("POLYKEM_EVENT", event);
  for (const auto& [name, value] : fields.items())
    entry += journal_field("POLYKEM_" + upper(name), value.is_string() ? value.get<std::string>() : value.dump());
  return send_datagram(journal_, entry);
}

}  // namespace polykem::cli
