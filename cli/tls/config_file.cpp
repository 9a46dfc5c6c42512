// SPDX-License-Identifier: Apache-2.0
#include "tls/config_file.hpp"

#include <openssl/err.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace polykem::cli {
namespace {

constexpr const char* kBlanks = " \t\r\n";
constexpr std::string_view kInclude = ".include";

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace

std::string after_dot(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

bool is_entry_of_polykem(const ConfigFile& file, const ConfigFile::Entry& entry) {
  std::string name = after_dot(entry.name);
  for (const ConfigFile::Entry& each : file.entries(entry.value)) {
    if (after_dot(each.name) == "identity") name = each.value;
    if (after_dot(each.name) == "module" && std::filesystem::path(each.value).filename() == "polykem.so") return true;
  }
  return name == "polykem";
}

ConfigFile::ConfigFile(const std::string& path) : path_(path), conf_(NCONF_new(nullptr)) {
  if (NCONF_load(conf_.get(), path.c_str(), nullptr) != 1) {
    problem_ = openssl_errors();
    conf_.reset(NCONF_new(nullptr));
    return;
  }
  ERR_clear_error();
  read_locations();
}

/// Checks an .include on line `number`. what: the rest of the line, a path, perhaps after '='. Paths with variables are
/// skipped.
void ConfigFile::read_include(int number, const std::string& what) {
  const std::string path = what.rfind('=', 0) == 0 ? trimmed(what.substr(1)) : what;
  const char* folder = std::getenv("OPENSSL_CONF_INCLUDE");
  if (path.find('$') != std::string::npos ||
      std::filesystem::exists(std::filesystem::path(folder ? folder : "") / path))
    return;
  missing_includes_.push_back("line " + std::to_string(number) + ": OpenSSL ignores '" + std::string(kInclude) + " " +
                              path + "', which does not exist");
}

/// Finds the lines of sections and names. Their values come from libcrypto.
void ConfigFile::read_locations() {
  std::ifstream in(path_);
  std::string text, section = kDefaultSection;
  bool continues = false;
  for (int number = 1; std::getline(in, text); ++number) {
    text = trimmed(text);
    const bool is_continuation = continues;
    continues = !text.empty() && text.back() == '\\';
    if (is_continuation || text.empty() || text[0] == '#') continue;
    if (text.rfind(kInclude, 0) == 0) {
      read_include(number, trimmed(text.substr(kInclude.size())));
      continue;
    }
    const std::size_t end = text.find(']'), equals = text.find('=');
    if (text[0] == '[' && end != std::string::npos) {
      section = trimmed(text.substr(1, end - 1));
      locations_.push_back({number, section, ""});
    } else if (equals != std::string::npos) {
      const std::string name = trimmed(text.substr(0, equals));
      const std::size_t colons = name.find("::");
      locations_.push_back(colons == std::string::npos
                               ? Location{number, section, name}
                               : Location{number, name.substr(0, colons), name.substr(colons + 2)});
    }
  }
}

bool ConfigFile::has(const std::string& section) const {
  return NCONF_get_section(conf_.get(), section.c_str()) != nullptr;
}

std::vector<ConfigFile::Entry> ConfigFile::entries(const std::string& section) const {
  const STACK_OF(CONF_VALUE)* values = NCONF_get_section(conf_.get(), section.c_str());
  std::vector<Entry> out;
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i) {
    const CONF_VALUE& each = *sk_CONF_VALUE_value(values, i);
    out.push_back({each.name, each.value});
  }
  return out;
}

const char* ConfigFile::value(const std::string& section, const std::string& name) const {
  const STACK_OF(CONF_VALUE)* values = NCONF_get_section(conf_.get(), section.c_str());
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i)
    if (name == sk_CONF_VALUE_value(values, i)->name) return sk_CONF_VALUE_value(values, i)->value;
  return nullptr;
}

std::vector<std::string> ConfigFile::sections() const {
  STACK_OF(OPENSSL_CSTRING)* names = NCONF_get_section_names(conf_.get());
  std::vector<std::string> out;
  for (int i = 0; i < sk_OPENSSL_CSTRING_num(names); ++i)
    out.emplace_back(sk_OPENSSL_CSTRING_value(names, i));
  sk_OPENSSL_CSTRING_free(names);
  return out;
}

std::string ConfigFile::line(const std::string& section, const std::string& name) const {
  for (auto entry = locations_.rbegin(); entry != locations_.rend(); ++entry)  // the last of several counts
    if (entry->section == section && entry->name == name) return "line " + std::to_string(entry->line) + ": ";
  return "";
}

std::string ConfigFile::line_before(const std::string& section, const std::string& name) const {
  bool is_later = false;
  for (auto entry = locations_.rbegin(); entry != locations_.rend(); ++entry) {
    if (entry->section != section || entry->name != name) continue;
    if (is_later) return "line " + std::to_string(entry->line) + ": ";
    is_later = true;
  }
  return "";
}

bool ConfigFile::mentions(const std::string& word) const {
  for (const std::string& section : sections()) {
    if (section.find(word) != std::string::npos) return true;
    for (const Entry& entry : entries(section))
      if (entry.name.find(word) != std::string::npos || entry.value.find(word) != std::string::npos) return true;
  }
  return false;
}

std::string ConfigFile::section_for_polykem() const {
  for (const std::string& section : sections())
    for (const Entry& entry : entries(section))
      if (has(entry.value) && is_entry_of_polykem(*this, entry)) return entry.value;
  return "";
}

}  // namespace polykem::cli
