// SPDX-License-Identifier: Apache-2.0
// Every stage of kem.hpp as a loop over the items of a chunk. The portable backend is this with PortablePrims; the
// vector backends use it with their own primitives for small batches.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/saber/ref/keys.hpp"

namespace polykem::saber::ref {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <SaberParams P, class Prims>
struct Item {
  SecretKey<P.l> own;  ///< the item's key, if it is neither shared nor in a key set
  Poly s[P.l];         ///< s or s'
  Poly u[P.l + 1];     ///< A s', v'; or b', v
  Poly cm;             ///< c_m
  typename Prims::template Space<P.l> space;
  alignas(64) uint8_t stream[P.matrix_bytes()];  ///< bytes of the matrix
  uint8_t noise[P.noise_bytes()];
  uint8_t coins[kKeygenCoinBytes];
  uint8_t m[2 * kSymBytes];      ///< m, H(pk)
  uint8_t seeds[2 * kSymBytes];  ///< K, r; or seed_A, seed_s
  uint8_t kdf[2 * kSymBytes];    ///< K or z, SHA3-256(c)
  uint8_t ct[P.ciphertext_bytes()];
  uint32_t fail;  ///< all ones if the ciphertext is rejected
};

/// The items that are being computed, with their records and keys.
template <SaberParams P, class Prims>
struct Chunk {
  static constexpr size_t kGranule = 1;
  static constexpr size_t kItems = 4;
  static constexpr size_t workspace_bytes(size_t items) { return Arena::bytes<Item<P, Prims>>(items); }

  Chunk(const Batch& batch, std::byte* workspace)
      : io(batch), items(Arena(workspace).take<Item<P, Prims>>(batch.count)) {}

  const Batch& io;
  Item<P, Prims>* items;

  const uint8_t* ct(size_t i) const { return io.ct + i * P.ciphertext_bytes(); }
  uint8_t* pk_out(size_t i) const { return io.pk_out + i * P.public_key_bytes(); }
  uint8_t* sk_out(size_t i) const { return io.sk_out + i * P.secret_key_bytes(); }
  uint8_t* ct_out(size_t i) const { return io.ct_out + i * P.ciphertext_bytes(); }
  uint8_t* ss_out(size_t i) const { return io.ss_out + i * kSymBytes; }

  bool decapsulates() const { return io.sk != nullptr; }
  /// The secret key of item i, expanded by the key set or by the steps so far.
  const SecretKey<P.l>& sk(size_t i) const {
    if (io.expanded.data != nullptr) return *reinterpret_cast<const SecretKey<P.l>*>(io.expanded.key(i));
    return items[io.shared_key ? 0 : i].own;
  }
  /// The public key of item i, likewise. It is a part of the secret key.
  const PublicKey<P.l>& pk(size_t i) const {
    if (io.expanded.data != nullptr && !decapsulates())
      return *reinterpret_cast<const PublicKey<P.l>*>(io.expanded.key(i));
    return sk(i).pk;
  }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < io.count; ++i)
      f(items[i], i);
  }
  /// Calls f(item, record) for every key that is not expanded yet.
  template <class F>
  void each_key(F&& f) {
    if (io.expanded.data != nullptr) return;
    const uint8_t* records = decapsulates() ? io.sk : io.pk;
    const size_t bytes = decapsulates() ? P.secret_key_bytes() : P.public_key_bytes();
    for (size_t i = 0; i < (io.shared_key ? 1 : io.count); ++i)
      f(items[i], records + i * bytes);
  }
};

template <SaberParams P, class Prims>
struct Ops {
  static constexpr size_t kL = P.l;
  using Chunk = ref::Chunk<P, Prims>;
  using Item = ref::Item<P, Prims>;
  using Keys = ref::Keys<P, Prims>;

  static void draw(Chunk& c, size_t bytes) {
    c.each([&](Item& t, size_t i) {
      if (c.io.coins != nullptr) {
        std::memcpy(t.coins, c.io.coins + i * bytes, bytes);
      } else {
        c.io.drbg->fill({t.coins, bytes}, Prims::keystream());
      }
    });
  }

  // ---- keygen

  static void draw_keygen(Chunk& c) { draw(c, kKeygenCoinBytes); }

  /// What is published is a hash of the seed drawn, so that it does not tell the generator's output.
  static void hash_seed(Chunk& c) {
    c.each([](Item& t, size_t) {
      Prims::template expand<kSymBytes>(t.seeds, t.coins);
      ct::declassify(t.seeds, kSymBytes);
      std::memcpy(t.seeds + kSymBytes, t.coins + kSymBytes, kSymBytes);
    });
  }

  static void gen_a_transposed(Chunk& c) {
    c.each([](Item& t, size_t) { Keys::gen_a(t.own.pk.rows, t.seeds, true, t.stream); });
  }

  static void gen_s(Chunk& c) {
    c.each([](Item& t, size_t) {
      Prims::template expand<P.noise_bytes()>(t.noise, t.seeds + kSymBytes);
      for (size_t i = 0; i < kL; ++i)
        sample_secret<P.mu>(t.s[i], t.noise + i * (kN * P.mu / 8));
    });
  }

  static void mul_as(Chunk& c) {
    c.each([](Item& t, size_t) { Prims::template multiply<kL, kL>(t.u, t.own.pk.rows, t.s, t.space); });
  }

  /// The vector that u becomes by rounding. [SABER20, 2.3]
  static void store_rounded(uint8_t* out, Poly* u) {
    for (size_t i = 0; i < kL; ++i) {
      for (uint16_t& x : u[i].c)
        x = static_cast<uint16_t>(static_cast<uint16_t>(x + kH1) >> (kQBits - kPBits));
      Prims::template pack<kPBits>(out + i * kPolyPBytes, u[i]);
    }
  }

  static void store_keys(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      store_rounded(c.pk_out(i), t.u);
      std::memcpy(c.pk_out(i) + P.vector_bytes(), t.seeds, kSymBytes);
      for (size_t j = 0; j < kL; ++j)
        Prims::template pack<kQBits>(c.sk_out(i) + j * kPolyQBytes, t.s[j]);
      std::memcpy(c.sk_out(i) + P.pk_offset(), c.pk_out(i), P.public_key_bytes());
      std::memcpy(c.sk_out(i) + P.z_offset(), t.coins + 2 * kSymBytes, kSymBytes);
    });
  }

  static void hash_new_pk(Chunk& c) {
    c.each([&](Item&, size_t i) {
      Prims::template hash256<P.public_key_bytes()>(c.sk_out(i) + P.hash_offset(), c.pk_out(i));
    });
  }

  // ---- encaps

  static void draw_encaps(Chunk& c) {
    draw(c, kEncapsCoinBytes);
    c.each([](Item& t, size_t) { Prims::template hash256<kSymBytes>(t.m, t.coins); });
  }

  static void hash_pk(Chunk& c) {
    c.each_key([](Item& t, const uint8_t* record) { Keys::hash_pk(t.own.pk, record); });
  }

  static void hash_m(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      std::memcpy(t.m + kSymBytes, c.pk(i).hash, kSymBytes);
      Prims::template hash512<2 * kSymBytes>(t.seeds, t.m);
    });
  }

  static void gen_a(Chunk& c) {
    c.each_key([&](Item& t, const uint8_t* record) {
      Keys::load_pk(t.own.pk, record + (c.decapsulates() ? P.pk_offset() : 0), t.stream);
    });
  }

  static void mul_abs(Chunk& c) {
    c.each([&](Item& t, size_t i) { Prims::template multiply<kL + 1, kL>(t.u, c.pk(i).rows, t.s, t.space); });
  }

  /// c = (b', c_m) from A s', v' and m. [SABER20, Saber.PKE.Enc]
  static void store_ct(Item& t, uint8_t* ct) {
    store_rounded(ct, t.u);
    Poly& v = t.u[kL];
    for (size_t i = 0; i < kN; ++i) {
      const uint32_t bit = t.m[i / 8] >> (i % 8) & 1u;
      v.c[i] = static_cast<uint16_t>(((v.c[i] + kH1 - (bit << (kPBits - 1))) & kPMask) >> (kPBits - P.t_bits));
    }
    ref::pack<P.t_bits>(ct + P.vector_bytes(), v.c);
  }

  static void store_c(Chunk& c) {
    c.each([&](Item& t, size_t i) { store_ct(t, c.ct_out(i)); });
  }

  static void store_ss(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      std::memcpy(t.kdf, t.seeds, kSymBytes);
      Prims::template hash256<P.ciphertext_bytes()>(t.kdf + kSymBytes, c.ct_out(i));
      Prims::template hash256<2 * kSymBytes>(c.ss_out(i), t.kdf);
    });
  }

  // ---- decaps

  static void load_c_sk(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      for (size_t j = 0; j < kL; ++j)
        Prims::template unpack<kPBits>(t.u[j], c.ct(i) + j * kPolyPBytes);
      ref::unpack<P.t_bits>(t.cm.c, c.ct(i) + P.vector_bytes());
    });
    c.each_key([](Item& t, const uint8_t* record) { Keys::load_sk(t.own, record); });
  }

  static void mul_bs(Chunk& c) {
    c.each([&](Item& t, size_t i) { Prims::template multiply<1, kL>(t.u + kL, c.sk(i).s, t.u, t.space); });
  }

  static void decode_m(Chunk& c) {
    c.each([](Item& t, size_t) {
      const Poly& v = t.u[kL];
      for (size_t i = 0; i < kN; ++i)
        t.cm.c[i] = static_cast<uint16_t>(static_cast<uint16_t>(v.c[i] + P.h2() - (t.cm.c[i] << (kPBits - P.t_bits))) >>
                                          (kPBits - 1));
      ref::pack<1>(t.m, t.cm.c);
    });
  }

  static void compare_c(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      store_ct(t, t.ct);
      uint32_t differences = 0;
      for (size_t j = 0; j < P.ciphertext_bytes(); ++j)
        differences |= static_cast<uint32_t>(t.ct[j] ^ c.ct(i)[j]);
      t.fail = ct::mask_nonzero(differences);
    });
  }

  static void hash_c(Chunk& c) {
    c.each([&](Item& t, size_t i) { Prims::template hash256<P.ciphertext_bytes()>(t.kdf + kSymBytes, c.ct(i)); });
  }

  static void select(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      ct::select_bytes(t.kdf, t.seeds, c.sk(i).z, kSymBytes, t.fail);
      Prims::template hash256<2 * kSymBytes>(c.ss_out(i), t.kdf);
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::ref
