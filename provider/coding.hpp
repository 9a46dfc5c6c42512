// SPDX-License-Identifier: Apache-2.0
// Code shared by encoders and decoders, which exist for the sets whose keys have standard forms.
#pragma once

#include <openssl/core.h>
#include <openssl/core_dispatch.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include "formats/keys.hpp"
#include "provider.hpp"

namespace polykem::provider {

/// The number of such sets, for which dispatch tables are made at compile time.
inline constexpr std::size_t kCodedSets = formats::kSetsWithKeyFormat;

/// Returns the offered algorithm that is number `set` of these sets.
inline const Algorithm& coded_algorithm(const Offer& offer, std::size_t set) {
  for (const Algorithm& each : offer.algorithms) {
    if (!each.is_hybrid() && formats::has_key_format(each.scheme) && set-- == 0) return each;
  }
  throw std::logic_error("more coded sets than algorithms with a form of keys");
}

/// Finds a function of the algorithm's key manager.
template <class Function>
Function* manager_function(const Provider& provider, const Algorithm& algorithm, int id) {
  for (const OSSL_ALGORITHM& manager : provider.key_managers) {
    if (manager.algorithm_names != algorithm.names.c_str()) continue;
    for (const OSSL_DISPATCH* entry = manager.implementation; entry->function_id != 0; ++entry) {
      if (entry->function_id == id) return reinterpret_cast<Function*>(entry->function);
    }
  }
  throw std::logic_error("a key manager without that function");
}

/// An encoder or decoder: its algorithm and properties.
struct Coding {
  std::size_t set;
  const char* properties;
  const OSSL_DISPATCH* functions;
};

inline std::vector<OSSL_ALGORITHM> coding_table(const Offer& offer, const std::vector<Coding>& all) {
  std::vector<OSSL_ALGORITHM> table;
  for (const Coding& each : all) {
    const Algorithm& algorithm = coded_algorithm(offer, each.set);
    table.push_back({algorithm.names.c_str(), each.properties, each.functions, algorithm.name.c_str()});
  }
  table.push_back({nullptr, nullptr, nullptr, nullptr});
  return table;
}

}  // namespace polykem::provider
