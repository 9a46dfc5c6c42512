// SPDX-License-Identifier: Apache-2.0
#include "tls/provider_check.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace polykem::cli {
namespace {

constexpr const char* kModuleFile = "polykem.so";
constexpr const char* kProviderName = "polykem";
constexpr int kDeepestSection = 8;

/** OpenSSL 3.5's own groups that use ML-KEM. */
constexpr struct {
  const char* name;
  unsigned code_point;
} kBuiltInGroups[] = {{"X25519MLKEM768", 0x11EC}, {"SecP256r1MLKEM768", 0x11EB}, {"SecP384r1MLKEM1024", 0x11ED},
                      {"MLKEM512", 0x0200},       {"MLKEM768", 0x0201},          {"MLKEM1024", 0x0202}};

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

/** The section of a provider; empty if the file has none. */
std::string provider_section(const CONF* conf, const char* provider) {
  STACK_OF(OPENSSL_CSTRING)* sections = NCONF_get_section_names(conf);
  std::string found;
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(sections); ++i) {
    const char* list = NCONF_get_string(conf, sk_OPENSSL_CSTRING_value(sections, i), "providers");
    const STACK_OF(CONF_VALUE)* entries = list == nullptr ? nullptr : NCONF_get_section(conf, list);
    for (int j = 0; j < sk_CONF_VALUE_num(entries); ++j) {
      const CONF_VALUE& entry = *sk_CONF_VALUE_value(entries, j);
      const char* identity = NCONF_get_string(conf, entry.value, "identity");
      if (std::strcmp(identity != nullptr ? identity : entry.name, provider) == 0) found = entry.value;
    }
  }
  sk_OPENSSL_CSTRING_free(sections);
  return found;
}

bool activates(const CONF* conf, const std::string& section) {
  const char* value = section.empty() ? nullptr : NCONF_get_string(conf, section.c_str(), "activate");
  return value != nullptr && std::strcmp(value, "0") != 0;
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
  ERR_clear_error();
  std::string text = "openssl_conf = init\n[init]\nproviders = list\n[list]\npolykem = own\n[own]\n";
  append_section(file.get(), section.c_str(), "", 0, text);
  const OpensslPtr<CONF> own(NCONF_new_ex(check.library.get(), nullptr));
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
  EVP_set_default_properties(check.library.get(), "?provider=polykem");
  for (const auto& each : kBuiltInGroups)
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
  check.library.reset(OSSL_LIB_CTX_new());
  check.folders = folders_to_look_in(modules);
  const auto found =
      std::find_if(check.folders.begin(), check.folders.end(), [](const auto& each) { return each.found; });
  const ModuleFolder& folder = found == check.folders.end() ? check.folders.front() : *found;
  OSSL_PROVIDER_set_default_search_path(check.library.get(), folder.path.c_str());
  configure(check);
  if (!check.problem.empty()) return check;
  check.default_provider.reset(OSSL_PROVIDER_load(check.library.get(), "default"));
  check.provider.reset(OSSL_PROVIDER_load(check.library.get(), kProviderName));
  if (check.provider == nullptr) {
    check.problem = openssl_errors();
    return check;
  }
  check.version = version_of(check.provider.get());
  list_groups(check);
  return check;
}

}  // namespace polykem::cli
