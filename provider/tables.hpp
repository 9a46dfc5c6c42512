// SPDX-License-Identifier: Apache-2.0
// Dispatch tables whose function types are checked.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include "provider.hpp"

namespace polykem::provider {

template <class Function>
OSSL_DISPATCH entry(int id, Function* function) {
  return {id, reinterpret_cast<void (*)()>(function)};
}

/// A table with an entry, functions(index), for each offered algorithm for which takes(algorithm) is true. Entries
/// point to strings of the offer.
template <class Takes, class Functions>
std::vector<OSSL_ALGORITHM> algorithm_table(const Offer& offer, Takes&& takes, Functions&& functions) {
  std::vector<OSSL_ALGORITHM> table;
  for (std::size_t i = 0; i < offer.algorithms.size(); ++i) {
    const Algorithm& each = offer.algorithms[i];
    if (!takes(each)) continue;
    table.push_back({each.names.c_str(), kProperties, functions(i), each.name.c_str()});
  }
  table.push_back({nullptr, nullptr, nullptr, nullptr});
  return table;
}

}  // namespace polykem::provider
