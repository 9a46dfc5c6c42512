// SPDX-License-Identifier: Apache-2.0
// Finds and loads the OpenSSL provider by itself, whatever openssl.cnf makes of it, and says where it fails.
#pragma once

#include <string>
#include <vector>

#include "tls/config_file.hpp"
#include "tls/program_view.hpp"

namespace polykem::cli {

/// A folder in which the module was looked for.
struct ModuleFolder {
  std::string path;
  std::string why;  ///< "OPENSSL_MODULES", for example
  bool found = false;
  bool by_openssl = true;  ///< OpenSSL looks there by itself
};

struct ProviderCheck {
  OpensslPtr<OSSL_LIB_CTX> libctx;
  OpensslPtr<OSSL_PROVIDER> default_provider, provider;  ///< provider: nullptr if it does not load
  std::string module;                                    ///< where the file says the module is; empty: it does not say
  /// What the file says, empty: nothing, and what is wrong with it, empty: nothing. Without a broker programs work too.
  std::string broker, broker_problem, statistics, statistics_problem;
  double linger_ms = 0;
  std::vector<ModuleFolder> folders;
  std::string version;  ///< of the provider
  std::string problem;  ///< why it does not load; empty: it does
  std::vector<TlsGroup> groups;
};

/// Those of `list`, names separated by commas, or with "all" all that are offered. Throws CliError (usage).
std::vector<TlsGroup> groups_asked_for(const std::vector<TlsGroup>& offered, const std::string& list);

/// Only what can be known without a process: which file OpenSSL reads, and polykem's section there.
ProgramView view_of_file();

/// Loads the provider into a library context of its own, with the keys of its section in the file that `view` found.
/// modules: a folder to look in and nowhere else; empty: where OpenSSL looks, then beside this program.
ProviderCheck check_provider(const ProgramView& view, const std::string& modules);

/// What OpenSSL says if it is told to load the provider of that section; empty: it loads it. When it reads a file by
/// itself, it swallows the errors.
std::string why_not_loaded(const ConfigFile& file, const std::string& section);

}  // namespace polykem::cli
