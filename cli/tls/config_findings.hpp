// SPDX-License-Identifier: Apache-2.0
// Follows an openssl.cnf as OpenSSL does, starting at openssl_conf, and says which lines it ignores and why.
#pragma once

#include <string>
#include <vector>

#include "tls/config_file.hpp"

namespace polykem::cli {

/// The contents of a configuration file as OpenSSL reads them, and what it ignores.
struct ConfigFindings {
  std::vector<std::string> sentences;  ///< about ignored lines and other faults
  bool loads_polykem = false;          ///< OpenSSL finds a section of polykem that activates it
  std::string section;                 ///< polykem's section, whether OpenSSL finds it or not; empty: none
  std::string relative_module;         ///< a sentence about a module without an absolute path; empty: it has one
  std::vector<std::string>
      switched_off;                 ///< sentences about lines such as activate = 0, which only newer versions obey
  std::vector<std::string> notes;   ///< sentences about what the file deliberately leaves out
  bool names_groups = false;        ///< there is a line Groups, whether OpenSSL reads it or not
  bool reads_groups = false;        ///< OpenSSL reads it
  std::vector<std::string> groups;  ///< the groups on it that OpenSSL itself lacks
  std::string groups_line;          ///< its line, as the beginning of a sentence
};

/// Asks the default library context for the names that it knows, so this context must have loaded the file. offered:
/// the names of polykem's groups.
ConfigFindings examine(const ConfigFile& file, const std::vector<std::string>& offered);

}  // namespace polykem::cli
