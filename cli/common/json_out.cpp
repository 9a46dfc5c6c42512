// SPDX-License-Identifier: Apache-2.0
#include "common/json_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "common/build_commit.hpp"
#include "common/context.hpp"
#include "common/output.hpp"

namespace polykem::cli {
namespace {

/// The file that errors are also written to. Global, because errors may occur before a command has parsed its options.
std::string error_path;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void write_file(const JsonFile& file, const Json& value) {
  const std::string text = json_text(value);
  OutputFiles out(file.force);
  out.add(file.path, FileMode::kPublic);
  out.open();
  out.write(0, ByteView(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  out.commit();
}

}  // namespace

std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_json(const JsonFile& file, const Json& value) {
  if (file.path.empty()) return;
  write_file(file, value);
  error_path.clear();
}

Json json_header(const std::string& schema) {
  return Json{{"schema", schema},
              {"version", polykem_version()},
              {"commit", build_commit()},
              {"compiler", compiler_name()},
              {"device", cpu_model()}};
}

std::string json_path_of(const std::vector<std::string>& arguments) {
  constexpr std::string_view kAssigned = "--json=";
  std::string path;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--json" && i + 1 < arguments.size()) path = arguments[i + 1];
    if (arguments[i].rfind(kAssigned, 0) == 0) path = arguments[i].substr(kAssigned.size());
  }
  return path;
}

void send_errors_to(const std::string& path) {
  error_path = path;
}

void write_json_error(int exit_code, const std::string& message, const std::string& hint) noexcept {
  if (error_path.empty()) return;
  try {
    write_file({error_path, false}, Json{{"schema", "polykem-error-1"},
                                         {"version", polykem_version()},
                                         {"error", message},
                                         {"exit_code", exit_code},
                                         {"hint", hint}});
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace polykem::cli
