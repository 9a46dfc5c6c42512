// SPDX-License-Identifier: Apache-2.0
#include "tls/provider_check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <polykem/polykem.hpp>
#include <thread>

#include "common/context.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kModuleFile = "polykem.so";
constexpr const char* kProviderName = "polykem";

std::string folder_of_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::vector<ModuleFolder> folders_to_look_in(const std::string& modules) {
  std::vector<ModuleFolder> out;
  if (!modules.empty()) {
    out.push_back({modules, "--modules"});
  } else if (const char* variable = secure_getenv("OPENSSL_MODULES"); variable != nullptr) {
    out.push_back({variable, "OPENSSL_MODULES"});
  } else {
    const char* built_in = OPENSSL_info(OPENSSL_INFO_MODULES_DIR);
    out.push_back({built_in == nullptr ? "" : built_in, "OpenSSL's own folder"});
  }
  if (modules.empty()) {
    const std::string program = folder_of_program();
    for (const char* beside : {"/../ossl-modules", "/../lib/ossl-modules", "/../lib64/ossl-modules"})
      out.push_back(
          {std::filesystem::path(program + beside).lexically_normal().string(), "beside this program", false, false});
  }
  for (ModuleFolder& folder : out)
    folder.found = access((folder.path + "/" + kModuleFile).c_str(), R_OK) == 0;
  // Folders beside the program are guesses, so those that do not exist are not mentioned.
  std::erase_if(out, [](const ModuleFolder& folder) { return !folder.by_openssl && !folder.found; });
  return out;
}

/// Quotes a value for a configuration file, where '#' would cut it and '$' expand it.
std::string escaped_value(const char* value) {
  std::string out;
  for (; *value != '\0'; ++value) {
    if (std::strchr("\\\"'`$#", *value) != nullptr) out += '\\';
    out += *value;
  }
  return out;
}

/// Collects the lines of a section and its subsections, with OpenSSL's names of their keys, without those that load the
/// provider. path: this section and those above. Returns a section that contains itself, which OpenSSL refuses; empty:
/// none.
std::string append_section(const ConfigFile& file, std::vector<std::string>& path, const std::string& prefix,
                           std::string& out) {
  for (const ConfigFile::Entry& entry : file.entries(path.back())) {
    const std::string key = prefix + entry.name;
    if (file.has(entry.value)) {
      if (std::find(path.begin(), path.end(), entry.value) != path.end()) return entry.value;
      path.push_back(entry.value);
      std::string cycle = append_section(file, path, key + ".", out);
      path.pop_back();
      if (!cycle.empty()) return cycle;
    } else if (key != "activate" && key != "soft_load" && key != "identity") {
      out += key + " = " + escaped_value(entry.value.c_str()) + "\n";
    }
  }
  return "";
}

/// The reason why the broker does not accept operations; empty: it does. The batcher connects at its first operation.
std::string problem_of_broker(const std::string& path) try {
  polykem_batcher_config config{};
  config.broker = path.c_str();
  const Context context;
  const Batcher batcher(context, config);
  const Scheme scheme = Scheme::find("mlkem768");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) {
    if (batcher.add(Context::request(POLYKEM_KEYGEN, scheme, 1)).wait() != POLYKEM_OK) break;
    for (const polykem_executor_health_t& health : batcher.health()) {
      if (std::strcmp(health.name, "broker") != 0 || health.state == POLYKEM_EXECUTOR_UNUSED) continue;
      return health.state == POLYKEM_EXECUTOR_CLOSED ? std::string() : health.reason;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "it has not been asked: a backend is forced, or it does not answer";
} catch (const std::exception& e) {
  return e.what();
}

/// The reason why no file can be created beside `path`; empty: one can. Creates one, because access() allows root
/// everything.
std::string problem_of_statistics(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::string name = path + ".XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return folder + ": " + std::strerror(errno);
  close(descriptor);
  unlink(name.c_str());
  return "";
}

/// Checks the broker's socket and the statistics file that the section names.
void check_named_files(const ConfigFile& file, const std::string& section, ProviderCheck& check) {
  const auto value = [&](const char* key) {
    const char* text = file.value(section, key);
    return std::string(text == nullptr ? "" : text);
  };
  check.broker = value("broker");
  check.statistics = value("statistics");
  check.linger_ms = std::strtod(value("linger_us").c_str(), nullptr) / 1000;
  if (!check.broker.empty()) check.broker_problem = problem_of_broker(check.broker);
  if (!check.statistics.empty()) check.statistics_problem = problem_of_statistics(check.statistics);
}

/// Passes the provider's section to the library context without loading the provider. OpenSSL suppresses the errors of
/// a provider that a file activates, but returns those of one that is loaded by a call. Returns an error; empty on
/// success.
std::string configure(OSSL_LIB_CTX* context, const ConfigFile& file, const std::string& section) {
  std::string text = "openssl_conf = init\n[init]\nproviders = list\n[list]\npolykem = own\n[own]\n";
  std::vector<std::string> path = {section};
  const std::string cycle = append_section(file, path, "", text);
  if (!cycle.empty()) return fmt::format("section [{}] contains itself", cycle);
  const OpensslPtr<CONF> own(NCONF_new_ex(context, nullptr));
  const OpensslPtr<BIO> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (NCONF_load_bio(own.get(), bio.get(), nullptr) == 1 && CONF_modules_load(own.get(), nullptr, 0) == 1) return "";
  return openssl_errors();
}

void read_file(const ProgramView& view, ProviderCheck& check) {
  if (!view.has_config_file) return;
  const ConfigFile file(view.config_file);
  if (view.section.empty() || !file.problem().empty()) return;
  const char* module = file.value(view.section, "module");
  check.module = module == nullptr ? "" : module;
  check_named_files(file, view.section, check);
  ERR_clear_error();
  check.problem = configure(check.libctx.get(), file, view.section);
}

std::string version_of(OSSL_PROVIDER* provider) {
  char* version = nullptr;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_ptr(OSSL_PROV_PARAM_VERSION, &version, 0),
                         OSSL_PARAM_construct_end()};
  return OSSL_PROVIDER_get_params(provider, params) == 1 && version != nullptr ? version : "";
}

}  // namespace

std::string openssl_errors() {
  std::string out;
  const char* data = nullptr;
  int flags = 0;
  while (const unsigned long code = ERR_get_error_all(nullptr, nullptr, nullptr, &data, &flags)) {
    const char* reason = ERR_reason_error_string(code);
    std::string text = reason == nullptr ? "" : reason;
    if ((flags & ERR_TXT_STRING) != 0 && *data != '\0') text += (text.empty() ? "" : ": ") + std::string(data);
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  }
  return out.empty() ? "no reason given" : out;
}

std::string why_not_loaded(const ConfigFile& file, const std::string& section) {
  const OpensslPtr<OSSL_LIB_CTX> context(OSSL_LIB_CTX_new());
  ERR_clear_error();
  const std::string problem = configure(context.get(), file, section);
  if (!problem.empty()) return problem;
  const OpensslPtr<OSSL_PROVIDER> provider(OSSL_PROVIDER_load(context.get(), kProviderName));
  return provider == nullptr ? openssl_errors() : "";
}

std::vector<TlsGroup> groups_asked_for(const std::vector<TlsGroup>& offered, const std::string& list) {
  if (list == "all") return offered;
  if (split(list, ',').empty()) throw CliError(kExitUsage, "--groups names no group", "'polykem tls-check' shows all");
  std::vector<std::string> names;
  for (const TlsGroup& group : offered)
    names.push_back(group.name);
  std::vector<TlsGroup> out;
  for (const std::string& name : split(list, ',')) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string close = nearest(name, names);
      throw CliError(kExitUsage, fmt::format("the provider offers no group '{}'", printable(name)),
                     close.empty() ? "'polykem tls-check' shows all" : fmt::format("did you mean '{}'?", close));
    }
    out.push_back(offered[static_cast<std::size_t>(found - names.begin())]);
  }
  return out;
}

ProgramView view_of_file() {
  ProgramView view;
  char* path = CONF_get1_default_config_file();
  view.config_file = path == nullptr ? "" : path;
  OPENSSL_free(path);
  view.has_config_file = access(view.config_file.c_str(), R_OK) == 0;
  if (!view.has_config_file) return view;
  const ConfigFile file(view.config_file);
  if (file.problem().empty()) view.section = file.section_for_polykem();
  return view;
}

ProviderCheck check_provider(const ProgramView& view, const std::string& modules) {
  ProviderCheck check;
  check.libctx.reset(OSSL_LIB_CTX_new());
  check.folders = folders_to_look_in(modules);
  const auto found =
      std::find_if(check.folders.begin(), check.folders.end(), [](const auto& each) { return each.found; });
  const ModuleFolder& folder = found == check.folders.end() ? check.folders.front() : *found;
  OSSL_PROVIDER_set_default_search_path(check.libctx.get(), folder.path.c_str());
  read_file(view, check);
  if (!check.problem.empty()) return check;
  check.default_provider.reset(OSSL_PROVIDER_load(check.libctx.get(), "default"));
  check.provider.reset(OSSL_PROVIDER_load(check.libctx.get(), kProviderName));
  if (check.provider == nullptr) {
    check.problem = openssl_errors();
    return check;
  }
  check.version = version_of(check.provider.get());
  check.groups = groups_of(check.provider.get());
  if (openssl_has_mlkem()) EVP_set_default_properties(check.libctx.get(), "?provider=polykem");
  return check;
}

}  // namespace polykem::cli
