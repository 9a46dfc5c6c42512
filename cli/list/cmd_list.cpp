// SPDX-License-Identifier: Apache-2.0
// polykem list: parameter sets, their sizes, and the backends that run them here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "commands.hpp"
#include "common/context.hpp"
#include "common/options.hpp"
#include "common/streams.hpp"
#include "common/table.hpp"

namespace polykem::cli {
namespace {

struct ListOptions {
  CommonOptions common;
  std::string format = "text";
};

struct Backend {
  polykem_backend_info_t info{};
  std::optional<Context> context;  ///< with this backend forced; empty where it is not available
};

std::vector<Backend> all_backends() {
  std::vector<Backend> out(polykem_backend_count());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].info.struct_size = sizeof out[i].info;
    check(polykem_backend_info(i, &out[i].info), "backend");
    if (out[i].info.available != 0) out[i].context.emplace(1U, out[i].info.name);
  }
  return out;
}

std::vector<std::string> backends_of(const Scheme& scheme, const std::vector<Backend>& backends) {
  std::vector<std::string> out;
  for (const Backend& backend : backends) {
    if (backend.context && backend.context->backend(scheme) == backend.info.name) out.emplace_back(backend.info.name);
  }
  return out;
}

Json list_as_json(const std::vector<Backend>& backends) {
  Json result = json_header("polykem-list-1");
  result["schemes"] = Json::array();
  for (const Scheme& scheme : Scheme::all()) {
    const auto& info = scheme.info();
    result["schemes"].push_back({{"name", info.name},
                                 {"family", info.family},
                                 {"title", info.title},
                                 {"security_category", info.security_category},
                                 {"public_key_bytes", info.public_key_bytes},
                                 {"secret_key_bytes", info.secret_key_bytes},
                                 {"ciphertext_bytes", info.ciphertext_bytes},
                                 {"shared_secret_bytes", info.shared_secret_bytes},
                                 {"keygen_coin_bytes", info.keygen_coin_bytes},
                                 {"encaps_coin_bytes", info.encaps_coin_bytes},
                                 {"secret_seed_bytes", info.secret_seed_bytes},
                                 {"public_key_at", info.public_key_at == SIZE_MAX ? Json() : Json(info.public_key_at)},
                                 {"research", info.research != 0},
                                 {"backends", backends_of(scheme, backends)}});
  }
  result["backends"] = Json::array();
  for (const Backend& backend : backends) {
    result["backends"].push_back({{"name", backend.info.name},
                                  {"description", backend.info.description},
                                  {"requirements", backend.info.requirements},
                                  {"available", backend.info.available != 0}});
  }
  return result;
}

Table scheme_table(const std::vector<Backend>& backends) {
  Table table({{"set", Align::kLeft},
               {"also known as", Align::kLeft},
               {"category", Align::kRight},
               {"public key", Align::kRight},
               {"secret key", Align::kRight},
               {"ciphertext", Align::kRight},
               {"secret", Align::kRight},
               {"backends here", Align::kLeft}});
  for (const Scheme& scheme : Scheme::all()) {
    const auto& info = scheme.info();
    const std::string title = info.research != 0 ? std::string(info.title) + ", research only" : info.title;
    table.row({info.name, title, info.security_category == 0 ? "-" : std::to_string(info.security_category),
               std::to_string(info.public_key_bytes), std::to_string(info.secret_key_bytes),
               std::to_string(info.ciphertext_bytes), std::to_string(info.shared_secret_bytes),
               fmt::format("{}", fmt::join(backends_of(scheme, backends), " "))});
  }
  return table;
}

int run_list(const ListOptions& options) {
  const TableFormat format = parse_table_format(options.format);
  const std::vector<Backend> backends = all_backends();
  write_json(options.common.json, list_as_json(backends));
  if (json_to_stdout(options.common.json)) return kExitOk;
  print_out("{}", scheme_table(backends).render(format));
  if (format != TableFormat::kText) return kExitOk;
  print_out(
      "\nSizes in bytes; category: NIST security category, '-' where none was claimed.\n"
      "Research only: attacks on it are published; do not protect anything with it.\n\n");
  print_out("{}", describe_backends());
  return kExitOk;
}

}  // namespace

void register_list(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "Show parameter sets, sizes and backends");
  command->footer("Examples:\n  polykem list\n  polykem list --format markdown\n  polykem list --json -");
  add_format(*command, options->format);
  add_json(*command, options->common);
  command->callback([options, &exit_code] { exit_code = run_guarded([&] { return run_list(*options); }); });
}

}  // namespace polykem::cli
