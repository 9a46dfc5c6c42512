// SPDX-License-Identifier: Apache-2.0
// One item in little memory: data that are needed at different times share memory, and what can be made when it is used
// is not stored.
#pragma once

#include <algorithm>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/keccak/keccak.hpp"
#include "schemes/frodo/gen_a.hpp"

namespace polykem::frodo::low_memory {

/// The members of every operation: its records, and the rows of A that are in memory.
struct State {
  const Set& set;
  const Kernels& kernels;
  const Batch& io;
  Matrix16 tile;
  size_t tile_row = 0;

  size_t n() const { return set.n(); }
  size_t tile_rows() const { return std::min(n() - tile_row, kernels.tile_rows); }
  size_t tile_words() const { return kernels.tile_rows * n(); }
  bool next_tile() {
    tile_row += kernels.tile_rows;
    if (tile_row < n()) return true;
    tile_row = 0;
    return false;
  }

 protected:
  static constexpr size_t tile_bytes(const Set& set, size_t tile_rows) {
    return Arena::bytes<uint16_t>(tile_rows * set.n());
  }
  State(const Set& of, const Kernels& with, const Batch& item, Arena& arena)
      : set(of), kernels(with), io(item), tile{arena.take<uint16_t>(with.tile_rows * of.n()), of.n()} {}
};

/// Key generation. S as a whole is in memory. Rows of E and B are in memory while the rows of A are.
struct KeygenState : State {
  struct Strings {
    uint8_t coins[112];  ///< s, seedSE, z
  };
  static_assert(sizeof(Strings::coins) >= kSets[4].keygen_coin_bytes());

  static constexpr size_t workspace_bytes(const Set& set, size_t tile_rows) {
    return tile_bytes(set, tile_rows) + Arena::bytes<Strings>(1) + Arena::bytes<uint16_t>(kBar * set.n()) +
           Arena::bytes<uint16_t>(tile_rows * kBar);
  }
  KeygenState(const Set& of, const Kernels& with, const Batch& item, std::byte* workspace)
      : KeygenState(of, with, item, Arena(workspace)) {}

  Strings& strings;
  Matrix16 s;  ///< transposed: kBar rows of n
  Matrix16 e;  ///< rows of E, then of B: kBar words each
  Shake r;     ///< S is squeezed first, then E row by row

 private:
  KeygenState(const Set& of, const Kernels& with, const Batch& item, Arena arena)
      : State(of, with, item, arena),
        strings(*arena.take<Strings>(1)),
        s{arena.take<uint16_t>(kBar * n()), n()},
        e{arena.take<uint16_t>(with.tile_rows * kBar), kBar},
        r(of.p.shake256 ? Shake::Strength::kShake256 : Shake::Strength::kShake128) {}
};

/// Encaps and decaps. A few rows of B at a time lie in the place of A's rows. In decaps, S and the ciphertext's B' lie
/// where S' and E' will be.
struct EncryptionState : State {
  struct Strings {
    uint8_t seed_input[128];  ///< pkh, mu, salt
    uint8_t seed[96];         ///< seedSE, k
    uint16_t m[kSquare];      ///< C, then M = C - B' S
    uint32_t fail;            ///< all ones if the ciphertext is rejected
  };
  static_assert(sizeof(Strings::seed_input) >= kMaxSecretBytes + kSets[4].encaps_coin_bytes());
  static_assert(sizeof(Strings::seed) >= kSets[4].seed_se_bytes() + kMaxSecretBytes);

  static constexpr size_t workspace_bytes(const Set& set, size_t tile_rows) {
    return tile_bytes(set, tile_rows) + Arena::bytes<Strings>(1) + Arena::bytes<uint16_t>(set.encaps_samples());
  }
  EncryptionState(const Set& of, const Kernels& with, const Batch& item, std::byte* workspace)
      : EncryptionState(of, with, item, Arena(workspace)) {}

  Strings& strings;
  Matrix16 s;   ///< S': kBar rows of n. E' and E'' follow
  Matrix16 e1;  ///< E', then B' = S' A + E': kBar rows of n
  Matrix16 e2;  ///< E'', then V, then C: kBar rows of kBar

  uint8_t* mu() const { return strings.seed_input + set.p.secret_bytes; }
  uint8_t* salt() const { return mu() + set.p.secret_bytes; }
  uint8_t* k() const { return strings.seed + set.seed_se_bytes(); }
  const uint8_t* pk() const { return io.sk != nullptr ? io.sk + set.pk_offset() : io.pk; }

 private:
  EncryptionState(const Set& of, const Kernels& with, const Batch& item, Arena arena)
      : State(of, with, item, arena),
        strings(*arena.take<Strings>(1)),
        s{arena.take<uint16_t>(of.encaps_samples()), n()},
        e1{s.row(kBar), n()},
        e2{e1.row(kBar), kBar} {}
};

}  // namespace polykem::frodo::low_memory
