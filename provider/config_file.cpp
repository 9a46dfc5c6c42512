// SPDX-License-Identifier: Apache-2.0
#include "config_file.hpp"

#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <cstring>
#include <memory>

namespace polykem::provider {

namespace {

constexpr int kDeepest = 8;  // sections below sections; OpenSSL refuses those that contain themselves

struct ConfFree {
  void operator()(CONF* conf) const { NCONF_free(conf); }
};
using ConfPtr = std::unique_ptr<CONF, ConfFree>;

ConfPtr load_default(std::string& name) {
  char* path = CONF_get1_default_config_file();
  name = path == nullptr ? "" : path;
  ConfPtr conf(path == nullptr ? nullptr : NCONF_new(nullptr));
  if (conf != nullptr && NCONF_load(conf.get(), path, nullptr) != 1) conf = nullptr;
  OPENSSL_free(path);
  return conf;
}

template <class Visit>
void for_each_value(const CONF* conf, const char* section, Visit&& visit) {
  const STACK_OF(CONF_VALUE)* values = NCONF_get_section(conf, section);
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i)
    visit(*sk_CONF_VALUE_value(values, i));
}

void add_keys(const CONF* conf, const char* section, const std::string& prefix, int depth,
              std::vector<std::string>& out) {
  for_each_value(conf, section, [&](const CONF_VALUE& value) {
    const std::string key = prefix + value.name;
    if (depth < kDeepest && NCONF_get_section(conf, value.value) != nullptr) {
      add_keys(conf, value.value, key + ".", depth + 1, out);
    } else {
      out.push_back(key);
    }
  });
}

/// The provider's name: the value of the section's key "identity", if there is one.
bool is_section_of(const CONF* conf, const CONF_VALUE& entry, const char* provider) {
  const char* identity = NCONF_get_string(conf, entry.value, "identity");
  return std::strcmp(identity != nullptr ? identity : entry.name, provider) == 0;
}

}  // namespace

DefaultFile default_file(const char* provider) {
  DefaultFile out;
  ERR_set_mark();  // libcrypto raises errors for what is not in the file
  const ConfPtr conf = load_default(out.path);
  STACK_OF(OPENSSL_CSTRING)* sections = conf == nullptr ? nullptr : NCONF_get_section_names(conf.get());
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(sections); ++i) {
    const char* list = NCONF_get_string(conf.get(), sk_OPENSSL_CSTRING_value(sections, i), "providers");
    if (list == nullptr) continue;
    for_each_value(conf.get(), list, [&](const CONF_VALUE& entry) {
      if (is_section_of(conf.get(), entry, provider)) add_keys(conf.get(), entry.value, "", 0, out.keys);
    });
  }
  sk_OPENSSL_CSTRING_free(sections);
  ERR_pop_to_mark();
  return out;
}

}  // namespace polykem::provider
