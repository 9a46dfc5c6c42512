// SPDX-License-Identifier: Apache-2.0
#include "common/context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "common/table.hpp"
#include "common/terminal.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kMinBeginning = 3;
constexpr const char* kOpsHint = "use keygen, encaps, decaps, sign, verify or all";

/// The requested backend and, if no option named it, the variable that did.
std::string requested_backend(const std::string& option) {
  if (!option.empty()) return fmt::format("'{}'", option);
  const char* variable = std::getenv(kBackendVariable);
  return fmt::format("'{}' (from {})", variable == nullptr ? "" : variable, kBackendVariable);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Equality as in the library: letter case, '-' and '_' do not matter.
std::string plain(const std::string& word) {
  std::string out;
  for (const char c : word) {
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

ExitCode exit_code_of(polykem_status status) {
  switch (status) {
    case POLYKEM_OK:
      return kExitOk;
    case POLYKEM_ERR_ARGUMENT:
    case POLYKEM_ERR_UNKNOWN_SCHEME:
    case POLYKEM_ERR_UNKNOWN_BACKEND:
      return kExitUsage;
    case POLYKEM_ERR_BACKEND_UNAVAILABLE:
      return kExitBackend;
    case POLYKEM_ERR_OUT_OF_MEMORY:
    case POLYKEM_ERR_RANDOM:
      return kExitResources;
    case POLYKEM_ERR_ITEMS:
    case POLYKEM_ERR_PUBLIC_KEY:
    case POLYKEM_ERR_SECRET_KEY:
    case POLYKEM_ERR_CIPHERTEXT:
    case POLYKEM_ERR_SIZE:
    case POLYKEM_ERR_SIGNATURE:
      return kExitBadInput;
    default:
      return kExitInternal;
  }
}

std::vector<Scheme> all_sets(Sets sets) {
  std::vector<Scheme> out;
  if (sets != Sets::kSignatures) out = Scheme::all();
  if (sets == Sets::kKems) return out;
  const std::vector<Scheme> signatures = Scheme::all_signatures();
  out.insert(out.end(), signatures.begin(), signatures.end());
  return out;
}

const polykem_scheme* find_set(const std::string& name) {
  const polykem_scheme* handle = nullptr;
  polykem_status status = polykem_scheme_find(name.c_str(), &handle);
  if (status == POLYKEM_ERR_UNKNOWN_SCHEME) status = polykem_signature_find(name.c_str(), &handle);
  if (status == POLYKEM_ERR_UNKNOWN_SCHEME) return nullptr;
  check(status, "parameter set");
  return handle;
}

std::string suggestion(const std::string& name) {
  std::vector<std::string> names;
  for (const Scheme& scheme : all_sets())
    names.emplace_back(scheme.name());
  const std::string close = nearest(name, names);
  return close.empty() ? "'polykem list' shows all" : fmt::format("did you mean '{}'? 'polykem list' shows all", close);
}

Scheme open_scheme(const std::string& name, Sets sets) {
  const polykem_scheme* handle = find_set(name);
  if (handle == nullptr) throw CliError(kExitUsage, fmt::format("no parameter set '{}'", name), suggestion(name));
  const Scheme scheme(handle);
  check_kind(scheme, sets, kExitUsage);
  return scheme;
}

void check_kind(const Scheme& scheme, Sets sets, ExitCode code, const std::string& where) {
  if (sets == Sets::kAll || scheme.is_signature() == (sets == Sets::kSignatures)) return;
  const std::string what = where.empty() ? std::string() : where + ": ";
  if (scheme.is_signature())
    throw CliError(code, fmt::format("{}{} is a signature set, expected a KEM's", what, scheme.name()),
                   "its commands are keygen, sign and verify");
  throw CliError(code, fmt::format("{}{} is a KEM's set, expected a signature set", what, scheme.name()),
                 "its commands are keygen, encaps and decaps");
}

std::vector<Scheme> open_schemes(const std::string& list) {
  std::vector<Scheme> out;
  const auto add = [&out](const Scheme& scheme) {
    if (std::find(out.begin(), out.end(), scheme) == out.end()) out.push_back(scheme);
  };
  for (const std::string& word : split(list, ',')) {
    bool group = false;
    for (const Scheme& scheme : all_sets()) {
      if (word != "all" && word != scheme.info().family) continue;
      group = true;
      add(scheme);
    }
    if (!group) add(open_scheme(word, Sets::kAll));
  }
  if (out.empty()) throw CliError(kExitUsage, "no parameter set named", "use --scheme NAME or --all");
  return out;
}

Context open_context(unsigned threads, const std::string& backend) {
  try {
    return Context(threads, backend);
  } catch (const Error& e) {
    if (e.status() == POLYKEM_ERR_UNKNOWN_BACKEND) {
      throw CliError(kExitUsage, fmt::format("no backend {}", requested_backend(backend)),
                     fmt::format("this build has: {}", fmt::join(backend_names(false), ", ")));
    }
    if (e.status() == POLYKEM_ERR_BACKEND_UNAVAILABLE) {
      throw CliError(kExitBackend, fmt::format("backend {} cannot run on this machine", requested_backend(backend)),
                     fmt::format("these can: {}; 'polykem doctor' says why", fmt::join(backend_names(true), ", ")));
    }
    throw;
  }
}

std::string backend_for(const Context& context, const Scheme& scheme, const std::string& asked) {
  std::string name = context.backend(scheme);
  if (!name.empty()) return name;
  const bool forced = !asked.empty() || std::getenv(kBackendVariable) != nullptr;
  throw CliError(kExitBackend,
                 forced ? fmt::format("backend {} does not run {}", requested_backend(asked), scheme.name())
                        : fmt::format("no backend here runs {}", scheme.name()),
                 "'polykem list' shows which backends run which set");
}

std::string describe_backends() {
  std::string out = "backends, best first\n";
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    check(polykem_backend_info(i, &info), "backend");
    out += fmt::format("  {:<8}  {}\n", info.name, info.description);
    if (info.available == 0) out += fmt::format("  {:<8}  not here: needs {}\n", "", info.requirements);
  }
  return wrap_lines(out, text_columns(), 12);
}

std::string describe_failures() {
  std::string out;
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    check(polykem_backend_info(i, &info), "backend");
    if (info.fallbacks == 0) continue;
    out += fmt::format("{} failed: the CPU computed {} chunk{} of its batches. It needs {}\n", info.name,
                       info.fallbacks, info.fallbacks == 1 ? "" : "s", info.requirements);
  }
  return out;
}

bool has_op(const Scheme& scheme, polykem_op op) {
  const bool signs = op == POLYKEM_SIGN || op == POLYKEM_VERIFY;
  return op == POLYKEM_KEYGEN || signs == scheme.is_signature();
}

std::vector<polykem_op> parse_ops(const std::string& list) {
  std::vector<polykem_op> out;
  const auto add = [&out](polykem_op op) {
    if (std::find(out.begin(), out.end(), op) == out.end()) out.push_back(op);
  };
  for (const std::string& word : split(list, ',')) {
    bool known = false;
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS, POLYKEM_SIGN, POLYKEM_VERIFY}) {
      if (word != "all" && word != op_name(op)) continue;
      known = true;
      add(op);
    }
    if (!known) throw CliError(kExitUsage, fmt::format("no operation '{}'", word), kOpsHint);
  }
  if (out.empty()) throw CliError(kExitUsage, "no operation named", kOpsHint);
  return out;
}

const char* op_name(polykem_op op) {
  switch (op) {
    case POLYKEM_KEYGEN:
      return "keygen";
    case POLYKEM_ENCAPS:
      return "encaps";
    case POLYKEM_DECAPS:
      return "decaps";
    case POLYKEM_SIGN:
      return "sign";
    case POLYKEM_VERIFY:
      return "verify";
  }
  return "unknown";
}

std::vector<std::string> backend_names(bool only_available) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t info{};
    info.struct_size = sizeof info;
    check(polykem_backend_info(i, &info), "backend");
    if (!only_available || info.available != 0) names.emplace_back(info.name);
  }
  return names;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string typed = plain(word);
  std::string best;
  std::size_t best_distance = typed.size() + 1;
  for (const std::string& candidate : candidates) {
    const std::string name = plain(candidate);
    // A third of the letters may be wrong, and the end of a name may be missing.
    const bool begins = typed.size() >= kMinBeginning && name.rfind(typed, 0) == 0;
    const std::size_t distance = edit_distance(typed, name);
    const std::size_t allowed = begins ? name.size() : std::max(typed.size(), name.size()) / 3;
    if (distance > allowed || distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  return "unknown";
}

bool is_emulated() {
#ifdef __aarch64__
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("vendor_id", 0) == 0) return true;
  }
#endif
  return false;
}

std::string compiler_name() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace polykem::cli
