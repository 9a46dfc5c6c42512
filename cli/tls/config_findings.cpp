// SPDX-License-Identifier: Apache-2.0
#include "tls/config_findings.hpp"

#include <fmt/format.h>
#include <openssl/conferr.h>
#include <openssl/err.h>
#include <strings.h>

#include <algorithm>

#include "common/context.hpp"

namespace polykem::cli {
namespace {

constexpr const char* kStart = "openssl_conf";
constexpr const char* kSystemDefault = "system_default";
const std::vector<std::string> kModules = {"providers",   "ssl_conf", "alg_section", "engines",
                                           "oid_section", "random",   "stbl_section"};

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string close = nearest(word, candidates);
  return close.empty() ? "" : fmt::format("; did you mean '{}'?", close);
}

/// Parses a Boolean as OpenSSL versions after 3.0 do. Any other value is an error to them.
bool is_on(const std::string& value) {
  return value == "1" || strcasecmp(value.c_str(), "yes") == 0 || strcasecmp(value.c_str(), "true") == 0 ||
         strcasecmp(value.c_str(), "on") == 0;
}

bool is_groups(const std::string& name) {
  const std::string command = after_dot(name);
  return strcasecmp(command.c_str(), "Groups") == 0 || strcasecmp(command.c_str(), "Curves") == 0;
}

/// The module that a name selects. libcrypto accepts longer names that begin with it, and ignores a suffix after the
/// last dot.
std::string module_name(const std::string& name) {
  const std::string base = name.substr(0, name.rfind('.'));
  for (const std::string& module : kModules)
    if (module.rfind(base, 0) == 0) return module;
  return base;
}

/// True if libcrypto knows the module.
bool is_known_module(const std::string& name) {
  if (module_name(name) == "ssl_conf") return true;  // asking libcrypto would make libssl forget what it has read
  const std::string text = fmt::format("openssl_conf = a\n[a]\n{} = polykem_no_such_section\n", name);
  const OpensslPtr<CONF> conf(NCONF_new(nullptr));
  const OpensslPtr<BIO> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  ERR_clear_error();
  bool known = true;
  if (NCONF_load_bio(conf.get(), bio.get(), nullptr) == 1 &&
      CONF_modules_load(conf.get(), nullptr, CONF_MFLAGS_NO_DSO) <= 0) {
    while (const unsigned long code = ERR_get_error())
      known = known && !(ERR_GET_LIB(code) == ERR_LIB_CONF && ERR_GET_REASON(code) == CONF_R_UNKNOWN_MODULE_NAME);
  }
  return known;
}

std::vector<std::string> active_providers_by_name() {
  std::vector<std::string> out;
  OSSL_PROVIDER_do_all(
      nullptr,
      [](OSSL_PROVIDER* provider, void* names) {
        static_cast<std::vector<std::string>*>(names)->emplace_back(OSSL_PROVIDER_get0_name(provider));
        return 1;
      },
      &out);
  return out;
}

class Examination {
 public:
  Examination(const ConfigFile& file, const std::vector<std::string>& offered) : file_(file), offered_(offered) {}

  ConfigFindings run() {
    for (const std::string& section : file_.sections())
      for (const ConfigFile::Entry& entry : file_.entries(section))
        out_.names_groups = out_.names_groups || is_groups(entry.name);
    out_.notes = file_.missing_includes();
    out_.section = file_.section_for_polykem();
    if (enter()) {
      follow_modules();
      if (!saw_providers_)
        say(kDefaultSection, kStart,
            fmt::format("section [{}] has no line 'providers = SECTION', so OpenSSL loads no provider{}", start_,
                        near_in(start_, "providers")));
      if (out_.names_groups && !out_.reads_groups) report_unread_groups();
    }
    return std::move(out_);
  }

 private:
  void say(const std::string& section, const std::string& name, const std::string& sentence) {
    out_.sentences.push_back(file_.line(section, name) + sentence);
  }

  /// A hint if a name in the section is similar to the missing one.
  std::string near_in(const std::string& section, const std::string& missing) const {
    for (const ConfigFile::Entry& entry : file_.entries(section))
      if (!nearest(entry.name, {missing}).empty())
        return fmt::format("; {}did you mean '{}' by '{}'?", file_.line(section, entry.name), missing, entry.name);
    return "";
  }

  /// True if a value names an existing section; otherwise says that it does not.
  bool section_exists(const std::string& section, const std::string& name, const std::string& value,
                      const std::string& consequence) {
    if (file_.has(value)) return true;
    say(section, name,
        fmt::format("{} names section [{}], which is not there, so {}{}", name, value, consequence,
                    did_you_mean(value, file_.sections())));
    return false;
  }

  bool enter() {
    const char* start = file_.value(kDefaultSection, kStart);
    if (start != nullptr) {
      start_ = start;
      return section_exists(kDefaultSection, kStart, start_, "OpenSSL ignores the whole file");
    }
    for (const std::string& section : file_.sections()) {
      if (file_.value(section, kStart) == nullptr) continue;
      say(section, kStart,
          fmt::format("openssl_conf stands in section [{}]; OpenSSL looks for it before the first section only, so it "
                      "ignores the whole file",
                      section));
      return false;
    }
    out_.sentences.push_back(
        "no line 'openssl_conf = SECTION' stands before the first section, so OpenSSL ignores the "
        "whole file" +
        near_in(kDefaultSection, kStart));
    return false;
  }

  void follow_modules() {
    const std::string rest = fmt::format("OpenSSL ignores it and what follows in [{}]", start_);
    for (const ConfigFile::Entry& entry : file_.entries(start_)) {
      if (!is_known_module(entry.name)) {
        say(start_, entry.name,
            fmt::format("OpenSSL knows no '{}', so it ignores this line and what follows in [{}]{}", entry.name, start_,
                        did_you_mean(entry.name, kModules)));
        continue;
      }
      const std::string module = module_name(entry.name);
      if (module == "providers") {
        saw_providers_ = true;
        if (section_exists(start_, entry.name, entry.value, rest)) follow_providers(entry.value);
      } else if (module == "ssl_conf") {
        if (section_exists(start_, entry.name, entry.value, rest)) follow_ssl(entry.value);
      } else if (module == "alg_section") {
        if (section_exists(start_, entry.name, entry.value, rest)) follow_algorithms(entry.value);
      }
    }
  }

  void follow_providers(const std::string& list) {
    bool found = false, has_default = false;
    for (const ConfigFile::Entry& entry : file_.entries(list)) {
      if (!section_exists(list, entry.name, entry.value, "OpenSSL loads neither this provider nor those after it"))
        continue;
      const bool ours = is_entry_of_polykem(file_, entry);
      const std::string name = after_dot(entry.name);
      if (ours || name == "default") follow_provider(entry, ours);
      found = found || ours;
      has_default = has_default || name == "default" || name == "fips";
    }
    const std::string close = near_in(list, "polykem");
    if (!found)
      out_.sentences.push_back(fmt::format("section [{}] names no provider 'polykem'{}", list, close));
    else if (!has_default)
      out_.sentences.push_back(fmt::format("section [{}] names no provider 'default', which every program needs{}",
                                           list, near_in(list, "default")));
  }

  void follow_provider(const ConfigFile::Entry& entry, bool ours) {
    const std::string& section = entry.value;
    if (ours) out_.section = section;
    bool activates = false;
    for (const ConfigFile::Entry& each : file_.entries(section)) {
      if (after_dot(each.name) == "activate") {
        activates = true;
        if (!is_on(each.value))
          out_.switched_off.push_back(fmt::format("{}OpenSSL 3.0 loads '{}' in spite of {} = {}; newer versions do not",
                                                  file_.line(section, each.name), entry.name, each.name, each.value));
      }
      if (ours && after_dot(each.name) == "module") examine_module(section, each);
    }
    if (!activates)
      out_.sentences.push_back(fmt::format("section [{}] has no line 'activate = 1', so OpenSSL does not load '{}'{}",
                                           section, entry.name, near_in(section, "activate")));
    out_.loads_polykem = out_.loads_polykem || (ours && activates);
  }

  void examine_module(const std::string& section, const ConfigFile::Entry& entry) {
    if (entry.value.empty() || entry.value[0] == '/') return;
    const char* folder = OPENSSL_info(OPENSSL_INFO_MODULES_DIR);
    const char* variable = secure_getenv("OPENSSL_MODULES");
    out_.relative_module = fmt::format("{}module = {} is not an absolute path: OpenSSL looks for it in {}, not here",
                                       file_.line(section, entry.name), entry.value,
                                       variable != nullptr ? variable
                                       : folder != nullptr ? folder
                                                           : "its own folder");
  }

  void follow_algorithms(const std::string& section) {
    for (const ConfigFile::Entry& entry : file_.entries(section)) {
      const std::string name = entry.name;
      if (name == "default_properties") {
        examine_properties(section, entry);
      } else if (name != "fips_mode") {
        say(section, name,
            fmt::format("OpenSSL knows no '{}' here, so it ignores this line and what follows{}", name,
                        did_you_mean(name, {"default_properties"})));
      }
    }
  }

  /// Reports properties that name an inactive provider and so select nothing.
  void examine_properties(const std::string& section, const ConfigFile::Entry& entry) {
    const OpensslPtr<OSSL_LIB_CTX> context(OSSL_LIB_CTX_new());
    if (EVP_set_default_properties(context.get(), entry.value.c_str()) != 1)
      say(section, entry.name,
          fmt::format("OpenSSL refuses the properties '{}', and ignores what follows in [{}]", entry.value, start_));
    for (const std::string& part : split(entry.value, ',')) {
      const std::size_t begin = part.find_first_not_of(" ?"), equals = part.find('=');
      if (begin == std::string::npos || equals == std::string::npos) continue;
      std::string key = part.substr(begin, equals - begin), value = part.substr(equals + 1);
      std::erase_if(key, [](char c) { return c == ' ' || c == '!'; });
      std::erase_if(value, [](char c) { return c == ' ' || c == '\'' || c == '"'; });
      if (value == "polykem" && offered_.empty()) continue;  // its being inactive is reported elsewhere
      if (key == "provider" && OSSL_PROVIDER_available(nullptr, value.c_str()) != 1)
        say(section, entry.name,
            fmt::format("default_properties names the provider '{}', which is not active{}", value,
                        did_you_mean(value, active_providers_by_name())));
      else if (key != "provider" && !nearest(key, {"provider"}).empty())
        say(section, entry.name, fmt::format("default_properties has '{}'; did you mean 'provider'?", key));
    }
  }

  void follow_ssl(const std::string& section) {
    bool found = false;
    for (const ConfigFile::Entry& entry : file_.entries(section)) {
      if (!section_exists(section, entry.name, entry.value, "OpenSSL ignores the whole section")) continue;
      if (entry.name != kSystemDefault) continue;
      found = true;
      follow_commands(entry.value);
    }
    if (found) return;
    const std::string near = near_in(section, kSystemDefault);
    if (out_.names_groups || !near.empty())
      out_.sentences.push_back(
          fmt::format("section [{}] has no line 'system_default = SECTION', the only one that every program reads{}",
                      section, near));
  }

  /// Reports commands that libssl does not know.
  void follow_commands(const std::string& section) {
    const OpensslPtr<SSL_CTX> context(SSL_CTX_new(TLS_method()));
    if (context == nullptr) {  // no provider has ciphers, which is reported elsewhere
      for (const ConfigFile::Entry& entry : file_.entries(section))
        if (is_groups(entry.name)) set_groups(section, entry);
      return;
    }
    SSL_CONF_CTX* commands = SSL_CONF_CTX_new();
    SSL_CONF_CTX_set_flags(
        commands, SSL_CONF_FLAG_FILE | SSL_CONF_FLAG_CLIENT | SSL_CONF_FLAG_SERVER | SSL_CONF_FLAG_CERTIFICATE);
    SSL_CONF_CTX_set_ssl_ctx(commands, context.get());
    for (const ConfigFile::Entry& entry : file_.entries(section)) {
      ERR_clear_error();
      const std::string command = after_dot(entry.name);
      const int result = SSL_CONF_cmd(commands, command.c_str(), entry.value.c_str());
      if (result == -2)
        say(section, entry.name,
            fmt::format("OpenSSL knows no '{}' here and ignores it{}", entry.name,
                        did_you_mean(command, {"Groups", "Curves", "MinProtocol", "MaxProtocol", "CipherString",
                                               "Ciphersuites", "SignatureAlgorithms", "Options"})));
      if (is_groups(entry.name)) {
        examine_groups(section, entry, result > 0);
      } else if (result <= 0 && result != -2) {
        say(section, entry.name, fmt::format("OpenSSL refuses '{} = {}'", entry.name, entry.value));
      }
    }
    SSL_CONF_CTX_free(commands);
    ERR_clear_error();
  }

  void set_groups(const std::string& section, const ConfigFile::Entry& entry) {
    out_.reads_groups = true;
    out_.groups_line = file_.line(section, entry.name);
    out_.groups.clear();
    for (ListedGroup& group : groups_of_list(entry.value))
      out_.groups.push_back(std::move(group.name));
  }

  /// Reports an earlier line of this name, which libcrypto ignores, or a list under another name that libssl uses.
  void report_replaced_list(const std::string& section, const ConfigFile::Entry& entry, bool taken) {
    std::string before = file_.line_before(section, entry.name);
    if (before.empty() && taken && has_list_)
      before = out_.groups_line.empty() ? "an included file: " : out_.groups_line;
    if (!before.empty())
      say(section, entry.name, fmt::format("this list replaces that of {}", before.substr(0, before.rfind(':'))));
  }

  void examine_groups(const std::string& section, const ConfigFile::Entry& entry, bool taken) {
    report_replaced_list(section, entry, taken);
    if (taken || !has_list_) set_groups(section, entry);
    has_list_ = has_list_ || taken;
    if (offered_.empty()) return;  // polykem is inactive, so its groups are missing anyway
    bool blamed = false;
    for (const auto& [group, optional] : groups_of_list(entry.value)) {
      const OpensslPtr<SSL_CTX> context(SSL_CTX_new(TLS_method()));
      if (context == nullptr || SSL_CTX_set1_groups_list(context.get(), group.c_str()) == 1) continue;
      const std::string sentence = fmt::format(
          "OpenSSL has no group '{}'{}{}", group,
          taken || optional ? " and leaves it out" : ", so it ignores the whole list", did_you_mean(group, offered_));
      blamed = blamed || !optional;
      if (optional)
        out_.notes.push_back(file_.line(section, entry.name) + sentence);
      else
        say(section, entry.name, sentence);
    }
    if (!taken && !blamed) say(section, entry.name, fmt::format("OpenSSL refuses the list '{}'", entry.value));
  }

  struct ListedGroup {
    std::string name;
    bool optional;
  };

  /// The names in a list of groups, without OpenSSL 3.5's marks: '?', '*' and '-' before a group, '/' between tuples.
  static std::vector<ListedGroup> groups_of_list(std::string list) {
    std::replace(list.begin(), list.end(), '/', ':');
    std::vector<ListedGroup> out;
    for (const std::string& each : split(list, ':')) {
      const std::size_t begin = each.find_first_not_of(" ?*");
      const std::size_t end = each.find_last_not_of(' ');
      if (begin == std::string::npos || each[begin] == '-') continue;
      std::string group = each.substr(begin, end + 1 - begin);
      if (group != "DEFAULT") out.push_back({std::move(group), each.rfind('?', begin) != std::string::npos});
    }
    return out;
  }

  /// Reports lists of groups in sections that programs do not read.
  void report_unread_groups() {
    for (const std::string& section : file_.sections())
      for (const ConfigFile::Entry& entry : file_.entries(section))
        if (is_groups(entry.name))
          say(section, entry.name,
              fmt::format("programs do not read {} in section [{}]: openssl_conf does not lead there by ssl_conf and "
                          "system_default",
                          entry.name, section));
  }

  const ConfigFile& file_;
  const std::vector<std::string>& offered_;
  ConfigFindings out_;
  std::string start_;
  bool saw_providers_ = false, has_list_ = false;
};

}  // namespace

ConfigFindings examine(const ConfigFile& file, const std::vector<std::string>& offered) {
  if (!file.problem().empty()) {
    ConfigFindings out;
    out.sentences.push_back("OpenSSL cannot read this file and ignores all of it: " + file.problem());
    return out;
  }
  return Examination(file, offered).run();
}

}  // namespace polykem::cli
