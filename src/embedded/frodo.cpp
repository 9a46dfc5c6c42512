// SPDX-License-Identifier: Apache-2.0
// FrodoKEM-640: steps that need little memory, with a few rows of A at a time.
#include <algorithm>

#include "embedded/frodo_kernels.hpp"
#include "embedded/request.hpp"
#include "embedded/sizes.hpp"
#include "schemes/frodo/low_memory/kem.hpp"

namespace polykem::embedded {

namespace {

namespace low_memory = frodo::low_memory;
using frodo::Set;

void make_keygen_coins(low_memory::KeygenState& state) {
  random_bytes(state, state.strings.coins, state.set.keygen_coin_bytes());
}

void make_encaps_coins(low_memory::EncryptionState& state) {
  random_bytes(state, state.mu(), state.set.encaps_coin_bytes());
}

/// The state of an operation of one set.
template <class State, size_t kSet>
struct FrodoState : State {
  FrodoState(const Batch& batch, std::byte* workspace) : State(frodo::kSets[kSet], kFrodoKernels, batch, workspace) {}
};

template <size_t kSet>
struct FrodoKem : low_memory::Kem<make_keygen_coins, make_encaps_coins> {
  using KeygenState = FrodoState<low_memory::KeygenState, kSet>;
  using EncapsState = FrodoState<low_memory::EncryptionState, kSet>;
  using DecapsState = EncapsState;
};

template <size_t kSet>
inline constexpr polykem_embedded_code kFrodoCode = code<FrodoKem<kSet>>();

template <size_t kSet>
constexpr polykem_embedded_set frodo_set(const char* name, size_t stack) {
  constexpr const Set& kOf = frodo::kSets[kSet];
  constexpr size_t kKeygen = low_memory::KeygenState::workspace_bytes(kOf, kFrodoTileRows);
  constexpr size_t kEncryption = low_memory::EncryptionState::workspace_bytes(kOf, kFrodoTileRows);
  return {.name = name,
          .public_key_bytes = kOf.public_key_bytes(),
          .secret_key_bytes = kOf.secret_key_bytes(),
          .ciphertext_bytes = kOf.ciphertext_bytes(),
          .shared_secret_bytes = kOf.p.secret_bytes,
          .keygen_coin_bytes = kOf.keygen_coin_bytes(),
          .encaps_coin_bytes = kOf.encaps_coin_bytes(),
          .keygen_workspace_bytes = kKeygen,
          .encaps_workspace_bytes = kEncryption,
          .decaps_workspace_bytes = kEncryption,
          .workspace_bytes = std::max(kKeygen, kEncryption),
          .stack_bytes = stack,
          .code = &kFrodoCode<kSet>};
}

}  // namespace
}  // namespace polykem::embedded

using polykem::embedded::frodo_set;
POLYKEM_EMBEDDED_DEFINE(frodokem640aes, FRODOKEM640AES, frodo_set<0>);
POLYKEM_EMBEDDED_DEFINE(frodokem640shake, FRODOKEM640SHAKE, frodo_set<1>);
