// SPDX-License-Identifier: Apache-2.0
// Finds and loads the OpenSSL provider as a program of the user's would, and says where it fails.
#pragma once

#include <string>
#include <vector>

#include "tls/openssl_objects.hpp"

namespace polykem::cli {

/** A folder in which the module was looked for. */
struct ModuleFolder {
  std::string path;
  std::string why; /**< "OPENSSL_MODULES", for example */
  bool found = false;
  bool by_openssl = true; /**< OpenSSL looks there by itself */
};

/** A group that a handshake can name. */
struct TlsGroup {
  std::string name;
  unsigned code_point = 0;
  bool built_in = false; /**< OpenSSL's own, with ML-KEM from polykem */
};

struct ProviderCheck {
  OpensslPtr<OSSL_LIB_CTX> libctx;
  OpensslPtr<OSSL_PROVIDER> default_provider, provider; /**< provider: nullptr if it does not load */
  std::string config_file;
  bool has_config_file = false;
  bool configured = false;    /**< the file has a section for polykem */
  bool activated = false;     /**< and activates it */
  bool lacks_default = false; /**< it activates providers, but not OpenSSL's own */
  std::string module;         /**< where the file says the module is; empty: it does not say */
  /** What the file says, empty: nothing, and what is wrong with it, empty: nothing. Without a broker programs work too.
   */
  std::string broker, broker_problem, statistics, statistics_problem;
  double linger_ms = 0;
  std::vector<ModuleFolder> folders;
  std::string version; /**< of the provider */
  std::string problem; /**< why it does not load; empty: it does */
  std::vector<TlsGroup> groups;
};

/** modules: a folder to look in and nowhere else; empty: where OpenSSL looks, then beside this program. The
 * configuration is that of OPENSSL_CONF. */
ProviderCheck check_provider(const std::string& modules);

/** True if OpenSSL has ML-KEM and its hybrids itself. */
bool openssl_has_mlkem();

}  // namespace polykem::cli
