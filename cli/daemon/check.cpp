// SPDX-License-Identifier: Apache-2.0
#include "daemon/check.hpp"

#include <fmt/format.h>
#include <polykem/polykem.h>

#include <filesystem>
#include <string>

#include "common/json_out.hpp"
#include "common/streams.hpp"
#include "daemon/limits.hpp"
#include "daemon/systemd.hpp"

namespace polykem::cli {
namespace {

void examine_backend(const std::string& name, std::vector<Finding>& out) {
  const char* missing = name.empty() ? nullptr : ::polykem_backend_missing(name.c_str());
  if (missing == nullptr) return;
  out.push_back({"", fmt::format("backend '{}' cannot run on this machine: {}", name, missing),
                 "'polykem doctor' shows what runs on this machine"});
}

void examine_socket(const std::string& path, std::vector<Finding>& out) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::is_directory(std::filesystem::absolute(path).parent_path(), ignored)) return;
  out.push_back({"", fmt::format("the folder of the socket '{}' does not exist", path),
                 "make it, or leave the socket to systemd (polykemd.socket)"});
}

Json json_of(const LimitRow& row) {
  Json out{{"limit", row.resource}, {"needed", row.needed}};
  out["available"] = row.available ? Json(*row.available) : Json(nullptr);
  out["enough"] = row.is_enough();
  out["required"] = row.is_required;
  out["needed_by"] = row.needed_by;
  out["limited_by"] = row.limited_by;
  return out;
}

Json json_of(const Configuration& configuration, const std::vector<Finding>& findings,
             const std::vector<LimitRow>& limits) {
  Json out = json_header("polykemd-check-1");
  out["ok"] = findings.empty();
  out["file"] = configuration.file;
  out["settings"] = Json::array();
  for (const Setting& setting : configuration.settings)
    out["settings"].push_back({{"line", setting.line}, {"name", setting.name}, {"value", setting.value}});
  out["findings"] = Json::array();
  for (const Finding& finding : findings)
    out["findings"].push_back({{"where", finding.where}, {"what", finding.what}, {"hint", finding.hint}});
  out["limits"] = Json::array();
  for (const LimitRow& row : limits)
    out["limits"].push_back(json_of(row));
  return out;
}

}  // namespace

std::vector<Finding> examine(const Configuration& configuration) {
  std::vector<Finding> out;
  examine_backend(configuration.options.common.backend, out);
  examine_socket(configuration.options.socket, out);
  const std::vector<Finding> missing = shortages(limits_of(configuration.options));
  out.insert(out.end(), missing.begin(), missing.end());
  return out;
}

void print_findings(const std::vector<Finding>& findings) {
  const char* const priority = logs_to_journal() ? "<3>" : "";
  for (const Finding& finding : findings)
    print_error("{0}polykemd: {1}\n{0}  {2}\n", priority, without_controls(sentence(finding)),
                without_controls(finding.hint));
}

int check_configuration(const Configuration& configuration) {
  std::vector<Finding> findings = configuration.findings;
  const std::vector<Finding> here = examine(configuration);
  findings.insert(findings.end(), here.begin(), here.end());
  const std::vector<LimitRow> limits = limits_of(configuration.options);
  const JsonFile& json = configuration.options.common.json;
  if (!json_to_stdout(json)) {
    const std::string file = configuration.file.empty() ? "no file" : configuration.file;
    print_out("{}: {} settings, {} wrong\n{}", file, configuration.settings.size(), findings.size(),
              render_limits(limits));
  }
  print_findings(findings);
  write_json(json, json_of(configuration, findings, limits));
  return findings.empty() ? kExitOk : kExitCheckFailed;
}

}  // namespace polykem::cli
