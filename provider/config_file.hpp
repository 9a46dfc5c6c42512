// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace polykem::provider {

/// The configuration file that libcrypto loads by itself.
struct DefaultFile {
  std::string path;
  /// The keys of a provider's section; those of a section below it as "section.key", as OpenSSL names them. Empty if
  /// there is no such file.
  std::vector<std::string> keys;
};
DefaultFile default_file(const char* provider);

}  // namespace polykem::provider
