// SPDX-License-Identifier: Apache-2.0
// Every stage of kem.hpp on a block of items at once: polynomials with one item per 16-bit lane, hashes with one item
// per 64-bit lane.
#pragma once

#include "ct/ct.hpp"
#include "schemes/saber/interleaved/chunk.hpp"

namespace polykem::saber::interleaved {
inline namespace POLYKEM_ISA {

template <SaberParams P, class Isa>
struct Ops {
  static constexpr size_t kL = P.l;
  using Chunk = interleaved::Chunk<P, Isa>;
  using Keys = ref::Keys<P, SinglePrims<Isa>>;

  template <size_t kBytes>
  static ByteRows rows(uint8_t (&table)[kLanes][kBytes], size_t offset = 0) {
    return {table[0] + offset, kBytes};
  }
  template <size_t kBytes>
  static ConstByteRows const_rows(const uint8_t (&table)[kLanes][kBytes], size_t offset = 0) {
    return {table[0] + offset, kBytes};
  }

  static void draw(Chunk& c, size_t bytes) {
    c.coins.stride = bytes;
    if (c.io.coins == nullptr) c.io.drbg->fill({c.t->coins[0], c.count * bytes}, Isa::keystream());
  }

  static void gen_matrix(Chunk& c, ConstByteRows seeds) {
    Isa::keccak().shake128(rows(c.t->matrix), P.matrix_bytes(), seeds, kSymBytes, c.count);
  }

  /// u[i] = the sum over j of entry(i, j) s[j], i < kRows. entry() may unpack to t.w.
  template <size_t kRows, class Entry>
  static void multiply(Chunk& c, const LanePoly* s, LanePoly* u, const Entry& entry) {
    auto& product = c.t->product;
    for (size_t j = 0; j < kL; ++j)
      product.set_column(j, s[j].data());
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kL; ++j)
        product.set_row(j, entry(i, j).data());
      product.multiply(u[i].data());
    }
  }

  /// The same where the entries are the same for all items: a[i kL + j].
  template <size_t kRows>
  static void multiply_shared(Chunk& c, const LanePoly* s, LanePoly* u, const Poly* a) {
    auto& t = *c.t;
    for (size_t j = 0; j < kL; ++j)
      t.product.set_column(j, s[j].data());
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < kL; ++j)
        split_words(t.words + j * kSplitRows, a[i * kL + j].c);
      t.product.multiply_shared(u[i].data(), t.words);
    }
  }

  /// Entry (i, j) of A, which gen_matrix left as bytes.
  static const LanePoly& matrix_entry(Chunk& c, size_t i, size_t j) {
    auto& t = *c.t;
    unpack<kQBits>(t.w, const_rows(t.matrix, (i * kL + j) * kPolyQBytes), c.count, t.scratch);
    return t.w;
  }

  // ---- keygen

  static void draw_keygen(Chunk& c) { draw(c, kKeygenCoinBytes); }

  /// What is published is a hash of the seed drawn, so that it does not tell the generator's output.
  static void hash_seed(Chunk& c) {
    auto& t = *c.t;
    Isa::keccak().shake128(rows(t.seeds), kSymBytes, c.coins, kSymBytes, c.count);
    c.each([&](size_t l) {
      ct::declassify(t.seeds[l], kSymBytes);
      std::memcpy(t.seeds[l] + kSymBytes, c.coins.data + l * c.coins.stride + kSymBytes, kSymBytes);
    });
  }

  static void gen_a_transposed(Chunk& c) { gen_matrix(c, const_rows(c.t->seeds)); }

  static void gen_s(Chunk& c) {
    auto& t = *c.t;
    Isa::keccak().shake128(rows(t.noise), P.noise_bytes(), const_rows(t.seeds, kSymBytes), kSymBytes, c.count);
    for (size_t i = 0; i < kL; ++i)
      sample_secret<P.mu>(t.s[i], const_rows(t.noise, i * (kN * P.mu / 8)), c.count, t.scratch);
  }

  static void mul_as(Chunk& c) {
    multiply<kL>(c, c.t->s, c.t->u, [&](size_t i, size_t j) -> const LanePoly& { return matrix_entry(c, j, i); });
  }

  /// The vector that u becomes by rounding. [SABER20, 2.3]
  static void store_rounded(Chunk& c, ByteRows out) {
    auto& t = *c.t;
    const V16 h1 = V16::set1(kH1);
    for (size_t i = 0; i < kL; ++i) {
      for (size_t k = 0; k < kN; ++k)
        t.u[i].set(k, (t.u[i].get(k) + h1).template shr<kQBits - kPBits>());
      pack<kPBits>({out.data + i * kPolyPBytes, out.stride}, t.u[i], c.count, t.scratch);
    }
  }

  static void store_keys(Chunk& c) {
    auto& t = *c.t;
    store_rounded(c, c.pk_out(0));
    for (size_t i = 0; i < kL; ++i)
      pack<kQBits>(c.sk_out(i * kPolyQBytes), t.s[i], c.count, t.scratch);
    c.each([&](size_t l) {
      uint8_t* pk = c.io.pk_out + l * P.public_key_bytes();
      uint8_t* sk = c.io.sk_out + l * P.secret_key_bytes();
      std::memcpy(pk + P.vector_bytes(), t.seeds[l], kSymBytes);
      std::memcpy(sk + P.pk_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), c.coins.data + l * c.coins.stride + 2 * kSymBytes, kSymBytes);
    });
  }

  static void hash_new_pk(Chunk& c) {
    const ByteRows pk = c.pk_out(0);
    Isa::keccak().sha3_256(c.sk_out(P.hash_offset()), {pk.data, pk.stride}, P.public_key_bytes(), c.count);
  }

  // ---- encaps

  static void draw_encaps(Chunk& c) {
    draw(c, kEncapsCoinBytes);
    Isa::keccak().sha3_256(rows(c.t->hashed), c.coins, kSymBytes, c.count);
  }

  static void hash_pk(Chunk& c) {
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::hash_pk(key.pk, record); });
    if (c.keys_are_records()) Isa::keccak().sha3_256(rows(c.t->pk_hash), c.pk(0), P.public_key_bytes(), c.count);
  }

  static void hash_m(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) { std::memcpy(t.hashed[l] + kSymBytes, c.pk_hash(l), kSymBytes); });
    Isa::keccak().sha3_512(rows(t.seeds), const_rows(t.hashed), 2 * kSymBytes, c.count);
  }

  static void gen_a(Chunk& c) {
    c.if_shared_record([&](auto& key, const uint8_t* record) {
      Keys::load_pk(key.pk, record + (c.decapsulates() ? P.pk_offset() : 0), c.t->matrix[0]);
    });
    if (!c.keys_are_records()) return;
    c.each([&](size_t l) { ct::declassify(c.pk(0).data + l * c.pk(0).stride, P.public_key_bytes()); });
    gen_matrix(c, c.pk(P.vector_bytes()));
  }

  /// Entry (i, j) of A, or of b where i == kL, of each item's own key.
  static const LanePoly& key_entry(Chunk& c, size_t i, size_t j) {
    auto& t = *c.t;
    if (c.expanded()) {
      gather(t.w, c.count, [&](size_t l) -> const Poly& { return c.expanded_public(l).rows[i * kL + j]; });
    } else if (i == kL) {
      unpack<kPBits>(t.w, c.pk(j * kPolyPBytes), c.count, t.scratch);
    } else {
      return matrix_entry(c, i, j);
    }
    return t.w;
  }

  static void mul_abs(Chunk& c) {
    auto& t = *c.t;
    if (c.io.shared_key) {
      multiply_shared<kL + 1>(c, t.s, t.u, c.shared_public_key().rows);
    } else {
      multiply<kL + 1>(c, t.s, t.u, [&](size_t i, size_t j) -> const LanePoly& { return key_entry(c, i, j); });
    }
  }

  /// c = (b', c_m) from A s', v' and m. [SABER20, Saber.PKE.Enc]
  static void store_ct(Chunk& c, ByteRows out) {
    auto& t = *c.t;
    store_rounded(c, out);
    unpack<1>(t.w, const_rows(t.hashed), c.count, t.scratch);
    const V16 h1 = V16::set1(kH1), mask = V16::set1(kPMask);
    for (size_t i = 0; i < kN; ++i) {
      const V16 v = t.u[kL].get(i) + h1 - t.w.get(i).template shl<kPBits - 1>();
      t.w.set(i, (v & mask).template shr<kPBits - P.t_bits>());
    }
    pack<P.t_bits>({out.data + P.vector_bytes(), out.stride}, t.w, c.count, t.scratch);
  }

  static void store_c(Chunk& c) { store_ct(c, {c.io.ct_out, P.ciphertext_bytes()}); }

  static void store_ss(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) { std::memcpy(t.kdf[l], t.seeds[l], kSymBytes); });
    Isa::keccak().sha3_256(rows(t.kdf, kSymBytes), {c.io.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
    Isa::keccak().sha3_256(c.ss_out(), const_rows(t.kdf), 2 * kSymBytes, c.count);
  }

  // ---- decaps

  static void load_c_sk(Chunk& c) {
    auto& t = *c.t;
    for (size_t i = 0; i < kL; ++i)
      unpack<kPBits>(t.u[i], c.ct(i * kPolyPBytes), c.count, t.scratch);
    unpack<P.t_bits>(t.cm, c.ct(P.vector_bytes()), c.count, t.scratch);
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::load_sk(key, record); });
  }

  static void mul_bs(Chunk& c) {
    auto& t = *c.t;
    if (c.io.shared_key) return multiply_shared<1>(c, t.u, t.u + kL, c.shared_secret_key().s);
    multiply<1>(c, t.u, t.u + kL, [&](size_t, size_t j) -> const LanePoly& {
      if (c.expanded()) {
        gather(t.w, c.count, [&](size_t l) -> const Poly& { return c.expanded_secret(l).s[j]; });
      } else {
        unpack<kQBits>(t.w, c.sk(j * kPolyQBytes), c.count, t.scratch);
      }
      return t.w;
    });
  }

  static void decode_m(Chunk& c) {
    auto& t = *c.t;
    const V16 h2 = V16::set1(P.h2());
    for (size_t i = 0; i < kN; ++i) {
      const V16 v = t.u[kL].get(i) + h2 - t.cm.get(i).template shl<kPBits - P.t_bits>();
      t.w.set(i, v.template shr<kPBits - 1>());
    }
    pack<1>(rows(t.hashed), t.w, c.count, t.scratch);
  }

  static void compare_c(Chunk& c) {
    auto& t = *c.t;
    store_ct(c, rows(t.ct));
    c.each([&](size_t l) {
      const uint8_t* ct = c.io.ct + l * P.ciphertext_bytes();
      uint8_t differences = 0;
      for (size_t j = 0; j < P.ciphertext_bytes(); ++j)
        differences = static_cast<uint8_t>(differences | (t.ct[l][j] ^ ct[j]));
      t.fail[l] = ct::mask_nonzero(differences);
    });
  }

  static void hash_c(Chunk& c) {
    Isa::keccak().sha3_256(rows(c.t->kdf, kSymBytes), c.ct(0), P.ciphertext_bytes(), c.count);
  }

  static void select(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) { ct::select_bytes(t.kdf[l], t.seeds[l], c.z(l), kSymBytes, t.fail[l]); });
    Isa::keccak().sha3_256(c.ss_out(), const_rows(t.kdf), 2 * kSymBytes, c.count);
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::saber::interleaved
