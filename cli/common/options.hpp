// SPDX-License-Identifier: Apache-2.0
// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <system_error>

#include "common/exit_codes.hpp"
#include "common/json_out.hpp"

namespace polykem::cli {

/// The backend and the destination of results.
struct CommonOptions {
  std::string backend;  ///< empty: POLYKEM_BACKEND if set, else the best available
  JsonFile json;        ///< its `force` holds for all outputs of a command
  unsigned threads = 0;
  bool quiet = false;
};

/// Accepts only plain decimal numbers above 0.
inline CLI::Validator at_least_one() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
          return "'" + text + "' is not a whole number";
        }
        if (text.find_first_not_of('0') == std::string::npos) return "must be at least 1";
        return text.size() > 18 ? "'" + text + "' is too large" : std::string();
      },
      "");
}

/// Accepts only finite decimal numbers within these limits.
inline CLI::Validator within(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
          return fmt::format("'{}' is not a number", printable(text));
        return value >= low && value <= high ? std::string()
                                             : fmt::format("{} is not within {} to {}", text, low, high);
      },
      "");
}

/// Adds a count that must be at least 1.
inline CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& value, const std::string& help) {
  return app.add_option(name, value, help)->check(at_least_one())->type_name("N");
}

/// Adds --backend.
inline void add_backend(CLI::App& app, CommonOptions& options) {
  app.add_option("--backend", options.backend, "Force a backend (else POLYKEM_BACKEND, else the best here)")
      ->type_name("NAME");
}

/// Adds --threads with its default.
inline void add_threads(CLI::App& app, CommonOptions& options, unsigned preset) {
  options.threads = preset;
  const char* help =
      preset == 0 ? "Worker threads; 0: one per CPU (default)" : "Worker threads; 0: one per CPU (default 1)";
  app.add_option("--threads", options.threads, help)->check(CLI::Range(0U, 1024U))->type_name("N");
}

/// Adds --format of tables; parse_table_format() checks it.
inline void add_format(CLI::App& app, std::string& format) {
  app.add_option("--format", format, "Format of tables (default text)")->type_name("text|markdown|csv");
}

/// Adds --json and -f, --force.
inline void add_json(CLI::App& app, CommonOptions& options) {
  app.add_option("--json", options.json.path, kJsonHelp)->type_name("FILE");
  app.add_flag("-f,--force", options.json.force, "Replace output files that exist");
}

/// Adds -q, --quiet.
inline void add_quiet(CLI::App& app, CommonOptions& options) {
  app.add_flag("-q,--quiet", options.quiet, "No progress and no summary; errors only");
}

}  // namespace polykem::cli
