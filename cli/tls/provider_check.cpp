// SPDX-License-Identifier: Apache-2.0
#include "tls/provider_check.hpp"

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

#include "formats/tls_groups.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kModuleFile = "polykem.so";
constexpr const char* kProviderName = "polykem";
constexpr int kDeepestSection = 8;

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
  // Of the guesses beside the program, only what is there is worth a word.
  std::erase_if(out, [](const ModuleFolder& folder) { return !folder.by_openssl && !folder.found; });
  return out;
}

/** In a configuration file a value may be cut by '#' and expanded by '$'. */
std::string escaped_value(const char* value) {
  std::string out;
  for (; *value != '\0'; ++value) {
    if (std::strchr("\\\"'`$#", *value) != nullptr) out += '\\';
    out += *value;
  }
  return out;
}

/** The lines of a section and of those below it, as OpenSSL names their keys, without what makes it load at once. */
void append_section(const CONF* conf, const char* section, const std::string& prefix, int depth, std::string& out) {
  const STACK_OF(CONF_VALUE)* values = NCONF_get_section(conf, section);
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i) {
    const CONF_VALUE& value = *sk_CONF_VALUE_value(values, i);
    const std::string key = prefix + value.name;
    if (depth < kDeepestSection && NCONF_get_section(conf, value.value) != nullptr) {
      append_section(conf, value.value, key + ".", depth + 1, out);
    } else if (key != "activate" && key != "soft_load" && key != "identity") {
      out += key + " = " + escaped_value(value.value) + "\n";
    }
  }
}

/** OpenSSL's name for the provider, or for ours its module under another name. */
bool is_section_of(const CONF* conf, const CONF_VALUE& entry, const char* provider) {
  const char* identity = NCONF_get_string(conf, entry.value, "identity");
  if (std::strcmp(identity != nullptr ? identity : entry.name, provider) == 0) return true;
  const char* module = NCONF_get_string(conf, entry.value, "module");
  return module != nullptr && std::strcmp(provider, kProviderName) == 0 &&
         std::filesystem::path(module).filename() == kModuleFile;
}

/** The section of a provider; empty if the file has none. */
std::string provider_section(const CONF* conf, const char* provider) {
  STACK_OF(OPENSSL_CSTRING)* sections = NCONF_get_section_names(conf);
  std::string found;
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(sections); ++i) {
    const char* list = NCONF_get_string(conf, sk_OPENSSL_CSTRING_value(sections, i), "providers");
    const STACK_OF(CONF_VALUE)* entries = list == nullptr ? nullptr : NCONF_get_section(conf, list);
    for (int j = 0; j < sk_CONF_VALUE_num(entries); ++j) {
      const CONF_VALUE& entry = *sk_CONF_VALUE_value(entries, j);
      if (is_section_of(conf, entry, provider)) found = entry.value;
    }
  }
  sk_OPENSSL_CSTRING_free(sections);
  return found;
}

bool activates(const CONF* conf, const std::string& section) {
  const char* value = section.empty() ? nullptr : NCONF_get_string(conf, section.c_str(), "activate");
  return value != nullptr && std::strcmp(value, "0") != 0;
}

/** Why the broker does not take an operation; empty: it does. The batcher asks it at its first operation. */
std::string problem_of_broker(const std::string& path) try {
  polykem_batcher_config config{};
  config.broker = path.c_str();
  const Context context;
  const Batcher batcher(context, config);
  const Scheme scheme = Scheme::find("mlkem768");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (std::chrono::steady_clock::now() < end) {
    if (batcher.add(Context::request(POLYKEM_KEYGEN, scheme, 1)).wait() != POLYKEM_OK) break;
    for (const polykem_lane_health_t& lane : batcher.health()) {
      if (std::strcmp(lane.name, "broker") != 0 || lane.state == POLYKEM_LANE_UNUSED) continue;
      return lane.state == POLYKEM_LANE_CLOSED ? std::string() : lane.reason;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "it has not been asked: a backend is forced, or it does not answer";
} catch (const std::exception& e) {
  return e.what();
}

/** Why no file can be made beside `path`; empty: it can. */
std::string problem_of_statistics(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return access(folder.c_str(), W_OK | X_OK) == 0 ? std::string() : folder + ": " + std::strerror(errno);
}

/** What the section says of things outside this process. */
void check_surroundings(const CONF* conf, const std::string& section, ProviderCheck& check) {
  const auto value = [&](const char* key) {
    const char* text = NCONF_get_string(conf, section.c_str(), key);
    return std::string(text == nullptr ? "" : text);
  };
  check.broker = value("broker");
  check.statistics = value("statistics");
  check.linger_ms = std::strtod(value("linger_us").c_str(), nullptr) / 1000;
  if (!check.broker.empty()) check.broker_problem = problem_of_broker(check.broker);
  if (!check.statistics.empty()) check.statistics_problem = problem_of_statistics(check.statistics);
}

/** Tells the library context what the file says of the provider. OpenSSL itself swallows the errors of a provider that
 * a file activates; this way it is loaded by a call of ours, which returns them. */
void configure(ProviderCheck& check) {
  char* path = CONF_get1_default_config_file();
  check.config_file = path == nullptr ? "" : path;
  OPENSSL_free(path);
  check.has_config_file = access(check.config_file.c_str(), R_OK) == 0;
  if (!check.has_config_file) return;
  const OpensslPtr<CONF> file(NCONF_new(nullptr));
  if (NCONF_load(file.get(), check.config_file.c_str(), nullptr) != 1) {
    check.problem = check.config_file + ": " + openssl_errors();
    return;
  }
  const std::string section = provider_section(file.get(), kProviderName);
  ERR_clear_error();  // what is not in a file is an error to libcrypto
  if (section.empty()) return;
  check.configured = true;
  check.activated = activates(file.get(), section);
  const auto is_active = [&](const char* name) { return activates(file.get(), provider_section(file.get(), name)); };
  check.lacks_default = check.activated && !is_active("default") && !is_active("fips");
  const char* module = NCONF_get_string(file.get(), section.c_str(), "module");
  check.module = module == nullptr ? "" : module;
  check_surroundings(file.get(), section, check);
  ERR_clear_error();
  std::string text = "openssl_conf = init\n[init]\nproviders = list\n[list]\npolykem = own\n[own]\n";
  append_section(file.get(), section.c_str(), "", 0, text);
  const OpensslPtr<CONF> own(NCONF_new_ex(check.libctx.get(), nullptr));
  const OpensslPtr<BIO> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (NCONF_load_bio(own.get(), bio.get(), nullptr) != 1 || CONF_modules_load(own.get(), nullptr, 0) != 1)
    check.problem = check.config_file + ": " + openssl_errors();
}

void list_groups(ProviderCheck& check) {
  OSSL_PROVIDER_get_capabilities(
      check.provider.get(), "TLS-GROUP",
      [](const OSSL_PARAM params[], void* list) {
        const char* name = nullptr;
        TlsGroup group;
        if (OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME), &name) == 1)
          group.name = name;
        OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID), &group.code_point);
        static_cast<std::vector<TlsGroup>*>(list)->push_back(group);
        return 1;
      },
      &check.groups);
  if (!openssl_has_mlkem()) return;
  EVP_set_default_properties(check.libctx.get(), "?provider=polykem");
  for (const formats::TlsGroup& each : formats::kStandardGroups)
    check.groups.push_back({each.name, each.code_point, true});
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

bool openssl_has_mlkem() {
  return OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 5;
}

ProviderCheck check_provider(const std::string& modules) {
  ProviderCheck check;
  check.libctx.reset(OSSL_LIB_CTX_new());
  check.folders = folders_to_look_in(modules);
  const auto found =
      std::find_if(check.folders.begin(), check.folders.end(), [](const auto& each) { return each.found; });
  const ModuleFolder& folder = found == check.folders.end() ? check.folders.front() : *found;
  OSSL_PROVIDER_set_default_search_path(check.libctx.get(), folder.path.c_str());
  configure(check);
  if (!check.problem.empty()) return check;
  check.default_provider.reset(OSSL_PROVIDER_load(check.libctx.get(), "default"));
  check.provider.reset(OSSL_PROVIDER_load(check.libctx.get(), kProviderName));
  if (check.provider == nullptr) {
    check.problem = openssl_errors();
    return check;
  }
  check.version = version_of(check.provider.get());
  list_groups(check);
  return check;
}

}  // namespace polykem::cli
