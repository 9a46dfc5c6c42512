// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace polykem::provider {

/** The keys of a provider's section in the configuration file that libcrypto loads by itself; those of a section below
 * it as "section.key", as OpenSSL names them. Empty if there is no such file. */
std::vector<std::string> keys_in_default_file(const char* provider);

}  // namespace polykem::provider
