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

void make_keygen_coins(low_memory::KeygenChunk& c) {
  random_bytes(c, c.strings.coins, c.set.keygen_coin_bytes());
}

void make_encaps_coins(low_memory::EncryptionChunk& c) {
  random_bytes(c, c.mu(), c.set.encaps_coin_bytes());
}

/// A chunk of one set.
template <class Chunk, size_t kSet>
struct FrodoChunk : Chunk {
  FrodoChunk(const Batch& batch, std::byte* workspace) : Chunk(frodo::kSets[kSet], kFrodoKernels, batch, workspace) {}
};

template <size_t kSet>
struct FrodoKem : low_memory::Kem<make_keygen_coins, make_encaps_coins> {
  using KeygenChunk = FrodoChunk<low_memory::KeygenChunk, kSet>;
  using EncapsChunk = FrodoChunk<low_memory::EncryptionChunk, kSet>;
  using DecapsChunk = EncapsChunk;
};

template <size_t kSet>
inline constexpr polykem_embedded_code kFrodoCode = code<FrodoKem<kSet>>();

template <size_t kSet>
constexpr polykem_embedded_set frodo_set(const char* name, size_t stack) {
  constexpr const Set& kOf = frodo::kSets[kSet];
  constexpr size_t kKeygen = low_memory::KeygenChunk::workspace_bytes(kOf, kFrodoTileRows);
  constexpr size_t kEncryption = low_memory::EncryptionChunk::workspace_bytes(kOf, kFrodoTileRows);
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
