// SPDX-License-Identifier: Apache-2.0
#include "schemes/lac/lac.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "schemes/built_backends.hpp"
#include "schemes/lac/backends.hpp"
#include "schemes/lac/stages.hpp"

namespace polykem::lac {

namespace {

template <size_t kSet>
struct SetBackends {
  static SchemeBackend avx512() { return avx512_backends()[kSet]; }
  static SchemeBackend avx2() { return avx2_backends()[kSet]; }
  static SchemeBackend neon_sha3() { return neon_sha3_backends()[kSet]; }
  static SchemeBackend neon() { return neon_backends()[kSet]; }
  static SchemeBackend ref() { return ref_backends()[kSet]; }
};

template <size_t kSet>
Scheme scheme() {
  static constexpr const Set& set = kSets[kSet];
  static constexpr std::array aliases{set.alias};
  static constexpr bool named_so = std::string_view(set.alias) == set.name;
  return {.name = set.name,
          .family = "lac",
          .title = set.title,
          .aliases = std::span(aliases).first(named_so ? 0 : 1),
          .security_category = set.category,
          .public_key_bytes = set.public_key_bytes(),
          .secret_key_bytes = set.secret_key_bytes(),
          .ciphertext_bytes = set.ciphertext_bytes(),
          .shared_secret_bytes = kSeedBytes,
          .keygen_coin_bytes = kSeedBytes,
          .encaps_coin_bytes = kSeedBytes,
          .public_key_at = set.n,
          .research = true,
          .stages = kStages,
          .backends = built_backends<SetBackends<kSet>>()};
}

template <size_t... kSet>
std::span<const Scheme> all_schemes(std::index_sequence<kSet...>) {
  static const Scheme all[] = {scheme<kSet>()...};
  return all;
}

}  // namespace

std::span<const Scheme> schemes() {
  return all_schemes(std::make_index_sequence<std::size(kSets)>());
}

}  // namespace polykem::lac
