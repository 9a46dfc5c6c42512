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

std::vector<std::string> aliases_of(const Scheme& scheme) {
  const auto& info = scheme.info();
  return {info.aliases, info.aliases + info.alias_count};
}

/// The fields that KEMs and signatures share.
Json set_as_json(const Scheme& scheme, const std::vector<Backend>& backends) {
  const auto& info = scheme.info();
  return {{"name", info.name},
          {"family", info.family},
          {"title", info.title},
          {"aliases", aliases_of(scheme)},
          {"security_category", info.security_category},
          {"public_key_bytes", info.public_key_bytes},
          {"secret_key_bytes", info.secret_key_bytes},
          {"keygen_coin_bytes", info.keygen_coin_bytes},
          {"secret_seed_bytes", info.secret_seed_bytes},
          {"backends", backends_of(scheme, backends)}};
}

Json list_as_json(const std::vector<Backend>& backends) {
  Json result = json_header("polykem-list-1");
  result["schemes"] = Json::array();
  for (const Scheme& scheme : Scheme::all()) {
    const auto& info = scheme.info();
    Json set = set_as_json(scheme, backends);
    set["ciphertext_bytes"] = info.ciphertext_bytes;
    set["shared_secret_bytes"] = info.shared_secret_bytes;
    set["encaps_coin_bytes"] = info.encaps_coin_bytes;
    set["public_key_at"] = info.public_key_at == SIZE_MAX ? Json() : Json(info.public_key_at);
    set["research"] = info.research != 0;
    result["schemes"].push_back(set);
  }
  result["signatures"] = Json::array();
  for (const Scheme& scheme : Scheme::all_signatures()) {
    Json set = set_as_json(scheme, backends);
    set["signature_bytes"] = scheme.info().signature_bytes;
    set["sign_coin_bytes"] = scheme.info().sign_coin_bytes;
    result["signatures"].push_back(set);
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

std::string category_of(const Scheme& scheme) {
  const std::uint32_t category = scheme.info().security_category;
  return category == 0 ? "-" : std::to_string(category);
}

/// Title and aliases.
std::string other_names(const Scheme& scheme) {
  std::vector<std::string> names = aliases_of(scheme);
  names.insert(names.begin(), scheme.info().title);
  if (scheme.info().research != 0) names.emplace_back("research only");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "-" where the set has no such record.
std::string size_text(std::size_t bytes) {
  return bytes == 0 ? "-" : std::to_string(bytes);
}

Table scheme_table(const std::vector<Backend>& backends) {
  Table table({{"set", Align::kLeft},
               {"also known as", Align::kLeft},
               {"category", Align::kRight},
               {"public key", Align::kRight},
               {"secret key", Align::kRight},
               {"ciphertext", Align::kRight},
               {"secret", Align::kRight},
               {"signature", Align::kRight},
               {"backends here", Align::kLeft}});
  for (const Scheme& scheme : all_sets()) {
    const auto& info = scheme.info();
    table.row({info.name, other_names(scheme), category_of(scheme), size_text(info.public_key_bytes),
               size_text(info.secret_key_bytes), size_text(info.ciphertext_bytes), size_text(info.shared_secret_bytes),
               size_text(info.signature_bytes), fmt::format("{}", fmt::join(backends_of(scheme, backends), " "))});
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
      "\nSizes in bytes; category: NIST security category, '-' where none was claimed. Sets with signatures sign,\n"
      "the others are KEMs.\n"
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
