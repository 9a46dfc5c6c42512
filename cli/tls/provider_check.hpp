// SPDX-License-Identifier: Apache-2.0
// Finds and loads the OpenSSL provider directly, independent of openssl.cnf, and reports what fails.
#pragma once

#include <string>
#include <vector>

#include "tls/config_file.hpp"
#include "tls/program_view.hpp"

namespace polykem::cli {

/// A folder that was searched for the module.
struct ModuleFolder {
  std::string path;
  std::string why;  ///< the reason for searching it, for example "OPENSSL_MODULES"
  bool found = false;
  bool by_openssl = true;  ///< OpenSSL searches it too
};

struct ProviderCheck {
  OpensslPtr<OSSL_LIB_CTX> libctx;
  OpensslPtr<OSSL_PROVIDER> default_provider, provider;  ///< provider: nullptr if it does not load
  std::string module;                                    ///< the module's path in the file; empty: it has none
  /// The values of these keys in the file, and the problems with them; empty: none. Programs also work without a
  /// broker.
  std::string broker, broker_problem, statistics, statistics_problem;
  double linger_ms = 0;
  std::vector<ModuleFolder> folders;
  std::string version;  ///< the provider's version
  std::string problem;  ///< why it does not load; empty: it does
  std::vector<TlsGroup> groups;
};

/// The groups in a comma-separated list of names, or all that are offered for "all". Throws CliError (usage).
std::vector<TlsGroup> groups_asked_for(const std::vector<TlsGroup>& offered, const std::string& list);

/// The part of the view that needs no other process: the file that OpenSSL reads, and polykem's section in it.
ProgramView view_of_file();

/// Loads the provider into a separate library context, with the keys of its section in the file that `view` found.
/// modules: the only folder to search; empty: those of OpenSSL, then those beside this program.
ProviderCheck check_provider(const ProgramView& view, const std::string& modules);

/// OpenSSL's error when it is told to load the provider of that section; empty: it loads. OpenSSL suppresses such
/// errors when it reads a file by itself.
std::string why_not_loaded(const ConfigFile& file, const std::string& section);

}  // namespace polykem::cli
