// SPDX-License-Identifier: Apache-2.0
// Follows an openssl.cnf as OpenSSL does, from openssl_conf on, and says which lines it ignores and why.
#pragma once

#include <string>
#include <vector>

#include "tls/config_file.hpp"

namespace polykem::cli {

/// What a configuration file wants, and what OpenSSL makes of it.
struct ConfigFindings {
  std::vector<std::string> sentences;
  bool loads_polykem = false;   ///< OpenSSL is led to a section of polykem that activates it
  std::string section;          ///< polykem's, whether OpenSSL is led to it or not; empty: none
  std::string relative_module;  ///< a sentence about a module that has no absolute path; empty: it has one
  std::vector<std::string>
      switched_off;                 ///< sentences about lines such as activate = 0, which only newer OpenSSLs heed
  std::vector<std::string> notes;   ///< sentences about what is left out as the file wants it
  bool names_groups = false;        ///< there is a line Groups, whether OpenSSL reads it or not
  bool reads_groups = false;        ///< and OpenSSL does
  std::vector<std::string> groups;  ///< that this line adds to OpenSSL's own
  std::string groups_line;          ///< where that is
};

/// Asks the library context that every program has which names it knows, so it must hold what the file configures.
/// offered: the names of polykem's groups.
ConfigFindings examine(const ConfigFile& file, const std::vector<std::string>& offered);

}  // namespace polykem::cli
