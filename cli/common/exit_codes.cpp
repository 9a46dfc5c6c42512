// SPDX-License-Identifier: Apache-2.0
#include "common/exit_codes.hpp"

#include <fmt/format.h>
#include <polykem/polykem.hpp>

#include <new>

#include "common/context.hpp"
#include "common/json_out.hpp"
#include "common/streams.hpp"

namespace polykem::cli {

void bad_input(const std::string& what, const std::string& hint) {
  throw CliError(kExitBadInput, what, hint);
}

namespace {

std::string& program_name() {
  static std::string name = "polykem";
  return name;
}

}  // namespace

void report_as(const std::string& program) {
  program_name() = program;
}

int report(int code, const std::string& message, const std::string& hint) {
  static_cast<void>(lost_output());  // report the first error, not this one
  print_error("{}: {}\n", program_name(), without_controls(message));
  if (!hint.empty()) print_error("  {}\n", without_controls(hint));
  write_json_error(code, message, hint);
  return code;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out(text.substr(0, limit));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > limit ? out + "..." : out;
}

std::string without_controls(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool two_bytes = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    if (byte < ' ' || byte == 0x7f || two_bytes) text[i] = '?';
    if (two_bytes) text[i + 1] = '?';
  }
  return text;
}

int run_guarded(const std::function<int()>& body) {
  try {
    const int code = body();
    const std::string lost = lost_output();
    if (!lost.empty()) report(kExitIo, lost);
    return lost.empty() || code != kExitOk ? code : kExitIo;
  } catch (const CliError& e) {
    return report(e.code(), e.what(), e.hint());
  } catch (const Error& e) {
    return report(exit_code_of(e.status()), e.what());
  } catch (const std::bad_alloc&) {
    return report(kExitResources, "not enough memory", "use a smaller count or batch");
  } catch (const std::length_error&) {
    return report(kExitResources, "not enough memory", "use a smaller count or batch");
  } catch (const std::exception& e) {
    return report(kExitInternal, fmt::format("internal error: {}", e.what()), "this is a defect, please report it");
  }
}

}  // namespace polykem::cli
