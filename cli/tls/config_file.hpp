// SPDX-License-Identifier: Apache-2.0
// An openssl.cnf as it is written: values by section and name, with their line numbers.
#pragma once

#include <string>
#include <vector>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

class ConfigFile {
 public:
  struct Entry {
    std::string name, value;
  };

  /// Reads the file. If OpenSSL cannot read it, problem() says why.
  explicit ConfigFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& problem() const { return problem_; }

  bool has(const std::string& section) const;
  /// The entries of a section, in the order of the file; empty if there is no such section.
  std::vector<Entry> entries(const std::string& section) const;
  /// The value, or nullptr. Unlike NCONF_get_string it does not also search the default section.
  const char* value(const std::string& section, const std::string& name) const;
  std::vector<std::string> sections() const;
  /// The entry's line, as the beginning of a sentence: "line 7: ", or "" if it is in an included file.
  std::string line(const std::string& section, const std::string& name) const;
  /// The same of an earlier entry of this name in the section; "" if there is none.
  std::string line_before(const std::string& section, const std::string& name) const;
  /// A sentence for each line that includes a file or folder that does not exist.
  const std::vector<std::string>& missing_includes() const { return missing_includes_; }
  /// True if a section, name or value contains `word`.
  bool mentions(const std::string& word) const;
  /// The section that is meant for polykem, whether OpenSSL finds it or not; empty if there is none.
  std::string section_for_polykem() const;

 private:
  /// The line of a section (with an empty name) or of an entry.
  struct Location {
    int line;
    std::string section, name;
  };
  void read_locations();
  void read_include(int number, const std::string& what);

  std::string path_, problem_;
  std::vector<std::string> missing_includes_;
  OpensslPtr<CONF> conf_;
  std::vector<Location> locations_;
};

/// The section of names before the first [section].
inline constexpr const char* kDefaultSection = "default";

/// The name of a provider or a command without the part up to its first dot, which OpenSSL ignores.
std::string after_dot(const std::string& name);

/// True if an entry in a list of providers is polykem's, by its name, its identity or its module.
bool is_entry_of_polykem(const ConfigFile& file, const ConfigFile::Entry& entry);

}  // namespace polykem::cli
