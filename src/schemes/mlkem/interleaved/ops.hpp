// SPDX-License-Identifier: Apache-2.0
// Every stage of kem.hpp on a block of items at once: polynomials with one item per 16-bit lane, hashes with one item
// per 64-bit lane.
#pragma once

#include "prim/ntt/ntt_lanes.hpp"
#include "schemes/mlkem/interleaved/chunk.hpp"

namespace polykem::mlkem::interleaved {
inline namespace POLYKEM_ISA {

template <MlkemParams P, class Isa>
struct Ops {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  using Chunk = interleaved::Chunk<P, Isa>;
  using Keys = ref::Keys<P, SinglePrims<Isa>>;
  static const NttLanes& ntt() { return Isa::ntt(); }

  template <size_t kBytes>
  static ByteRows rows(uint8_t (&table)[kLanes][kBytes]) {
    return {table[0], kBytes};
  }
  template <size_t kBytes>
  static ConstByteRows rows(const uint8_t (&table)[kLanes][kBytes], size_t offset) {
    return {table[0] + offset, kBytes};
  }

  static void draw(Chunk& c, size_t bytes) {
    c.coins.stride = bytes;
    if (c.io.coins == nullptr) c.io.drbg->fill({c.t->coins[0], c.count * bytes}, Isa::keystream());
  }

  /// rows[i k + j] = SampleNTT(rho, j, i), or transposed, for the seeds of all items.
  static void sample_matrix(Chunk& c, ConstByteRows rho, bool transposed) {
    auto& t = *c.t;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < c.count; first += kStates)
      seeds[first / kStates] = Seeds::load({rho.data + first * rho.stride, rho.stride}, c.count - first);
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j) {
        const V64 tails = V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i));
        for (size_t first = 0; first < c.count; first += kStates) {
          fetch_output<P>(c.io, first, first + kStates, i * kK + j, kK * kK);
          sample_ntt_rows(t.accepted[first], kAcceptedWords, seeds[first / kStates], tails);
        }
        gather_paired(t.rows[i * kK + j], c.count, [&](size_t l) { return t.accepted[0] + l * kAcceptedWords; });
      }
    }
  }

  /// Samples `count` polynomials; number n comes from the seeds' PRF with nonce n, the first kK with eta1, the others
  /// with kEta.
  template <unsigned kEta>
  static void sample_secrets(Chunk& c, LanePoly* first_polys, LanePoly* other_polys, size_t others) {
    auto& t = *c.t;
    Seeds seeds[kLanes / kStates];
    for (size_t first = 0; first < c.count; first += kStates) {
      seeds[first / kStates] = Seeds::load({t.seeds[first] + kSymBytes, sizeof t.seeds[0]}, c.count - first);
    }
    Prf prf;
    for (size_t n = 0; n < kK; ++n)
      sample_secret<P.eta1>(c, first_polys[n], prf, seeds, n);
    for (size_t n = 0; n < others; ++n)
      sample_secret<kEta>(c, other_polys[n], prf, seeds, kK + n);
    secure_zero(seeds, sizeof seeds);
  }

  template <unsigned kEta>
  static void sample_secret(Chunk& c, LanePoly& a, Prf& prf, const Seeds* seeds, size_t nonce) {
    auto& t = *c.t;
    for (size_t first = 0; first < c.count; first += kStates)
      prf_rows<kEta>(prf, t.prf[first], sizeof t.prf[0], seeds[first / kStates], V64::set1(prf_tail(nonce)));
    records::rows_to_block(t.scratch.words, {t.prf[0], sizeof t.prf[0]}, 64 * kEta, c.count);
    sample_cbd<kEta>(a, t.scratch.words);
  }

  // ---- keygen: seeds = rho, sigma, u = t

  static void draw_keygen(Chunk& c) { draw(c, kKeygenCoinBytes); }

  static void hash_d(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) {
      std::memcpy(t.hashed[l], c.coins.data + l * c.coins.stride, kSymBytes);
      t.hashed[l][kSymBytes] = kK;
    });
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), kSymBytes + (P.kyber() ? 0 : 1), c.count);
    c.each([&](size_t l) { ct::declassify(t.seeds[l], kSymBytes); });  // rho is a part of ek
  }

  static void gen_a(Chunk& c) { sample_matrix(c, rows(c.t->seeds, 0), false); }

  static void sample_se(Chunk& c) { sample_secrets<P.eta1>(c, c.t->s, c.t->e, kK); }

  static void ntt_se(Chunk& c) {
    for (size_t i = 0; i < kK; ++i) {
      ntt().forward(c.t->s[i].data());
      ntt().forward(c.t->e[i].data());
    }
  }

  static void mul_as(Chunk& c) {
    auto& t = *c.t;
    ntt().multiply(t.u->data(), t.rows->data(), t.s->data(), kK, kK);
    for (size_t i = 0; i < kK; ++i)
      ntt().add_product(t.u[i].data(), t.e[i].data());
  }

  static void store_keys(Chunk& c) {
    auto& t = *c.t;
    for (size_t i = 0; i < kK; ++i) {
      ntt().canonical(t.s[i].data());
      pack<12>(c.sk_out(i * kPolyBytes), t.s[i], c.count, t.scratch);
      pack<12>(c.pk_out(i * kPolyBytes), t.u[i], c.count, t.scratch);
    }
    c.each([&](size_t l) {
      uint8_t* pk = c.io.pk_out + l * P.public_key_bytes();
      uint8_t* sk = c.io.sk_out + l * P.secret_key_bytes();
      std::memcpy(pk + P.vector_bytes(), t.seeds[l], kSymBytes);
      std::memcpy(sk + P.ek_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), c.coins.data + l * c.coins.stride + kSymBytes, kSymBytes);
    });
  }

  static void hash_new_ek(Chunk& c) {
    const ByteRows pk = c.pk_out(0);
    Isa::keccak().sha3_256(c.sk_out(P.hash_offset()), {pk.data, pk.stride}, P.public_key_bytes(), c.count);
  }

  // ---- encaps: seeds = K, r, s = y, e = e1, e2

  static void draw_encaps(Chunk& c) {
    auto& t = *c.t;
    draw(c, kEncapsCoinBytes);
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.hashed), c.coins, kSymBytes, c.count);
    } else {
      c.each([&](size_t l) { std::memcpy(t.hashed[l], c.coins.data + l * c.coins.stride, kSymBytes); });
    }
  }

  static void hash_ek(Chunk& c) {
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::hash_ek(key.pk, record); });
    if (c.keys_are_records()) Isa::keccak().sha3_256(rows(c.t->ek_hash), c.ek(0), P.public_key_bytes(), c.count);
  }

  static void hash_m(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) { std::memcpy(t.hashed[l] + kSymBytes, c.ek_hash(l), kSymBytes); });
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), 2 * kSymBytes, c.count);
  }

  /// Loads t^ of every item and checks that all its coefficients are below q. [FIPS203, 7.2]
  static void load_t(Chunk& c) {
    auto& t = *c.t;
    TooLarge wrong;
    for (size_t i = 0; i < kK; ++i) {
      LanePoly& poly = t.rows[kK * kK + i];
      if (c.expanded()) {
        gather_paired(poly, c.count, [&](size_t l) { return c.expanded_public(l).t()[i].c; });
      } else {
        unpack_paired(poly, c.ek(i * kPolyBytes), c.count, t.scratch);
        wrong.look(poly);
      }
    }
    if (c.expanded() || c.decapsulates()) return;
    wrong.each(c.count, [&](size_t l, bool none) { t.valid[l] = P.kyber() || none; });
  }

  static void load_ek(Chunk& c) {
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::load_ek(key.pk, record); });
    if (!c.io.shared_key) load_t(c);
  }

  static void gen_a_transposed(Chunk& c) {
    auto& t = *c.t;
    c.if_shared_record([&](auto& key, const uint8_t* record) {
      Keys::gen_a(key.pk, record + (c.decapsulates() ? P.ek_offset() : 0));
    });
    if (c.io.shared_key) return;
    if (!c.expanded()) return sample_matrix(c, c.ek(P.vector_bytes()), true);
    for (size_t i = 0; i < kK * kK; ++i)
      gather_paired(t.rows[i], c.count, [&](size_t l) { return c.expanded_public(l).rows[i].c; });
  }

  static void sample_noise(Chunk& c) { sample_secrets<P.kEta2>(c, c.t->s, c.t->e, kK + 1); }

  static void ntt_y(Chunk& c) {
    for (LanePoly& y : c.t->s)
      ntt().forward(y.data());
  }

  static void mul_ay(Chunk& c) {
    auto& t = *c.t;
    if (c.io.shared_key) {
      ntt().multiply_shared(t.u->data(), c.shared_public_key().rows->c, t.s->data(), kK + 1, kK);
    } else {
      ntt().multiply(t.u->data(), t.rows->data(), t.s->data(), kK + 1, kK);
    }
  }

  static void inverse_uv(Chunk& c) {
    for (LanePoly& u : c.t->u)
      ntt().inverse(u.data());
  }

  static void add_noise(Chunk& c) {
    auto& t = *c.t;
    unpack<1>(t.w, rows(t.hashed, 0), c.count, t.scratch);
    ntt().decompress(t.w.data(), 1);
    ntt().add(t.e[kK].data(), t.w.data());
    for (size_t i = 0; i <= kK; ++i)
      ntt().add(t.u[i].data(), t.e[i].data());
  }

  static void store_uv(Chunk& c, ByteRows out) {
    auto& t = *c.t;
    for (size_t i = 0; i < kK; ++i) {
      ntt().compress(t.u[i].data(), P.du);
      pack<P.du>({out.data + i * (kN * P.du / 8), out.stride}, t.u[i], c.count, t.scratch);
    }
    ntt().compress(t.u[kK].data(), P.dv);
    pack<P.dv>({out.data + P.u_bytes(), out.stride}, t.u[kK], c.count, t.scratch);
  }

  static void store_c(Chunk& c) { store_uv(c, {c.io.ct_out, P.ciphertext_bytes()}); }

  /// Round 3: ss = SHAKE256(K, SHA3-256(c)); t.other has the hashes.
  static void derive_kyber(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) {
      std::memcpy(t.kdf[l], t.seeds[l], kSymBytes);
      std::memcpy(t.kdf[l] + kSymBytes, t.other[l], kSymBytes);
    });
    Isa::keccak().shake256(c.ss_out(), kSymBytes, rows(t.kdf, 0), 2 * kSymBytes, c.count);
  }

  static void store_ss(Chunk& c) {
    auto& t = *c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), {c.io.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        uint8_t* ss = c.io.ss_out + l * kSymBytes;
        std::memcpy(ss, t.seeds[l], kSymBytes);
        if (c.valid(l)) return;
        c.io.item_status[l] = Status::public_key;
        std::memset(c.io.ct_out + l * P.ciphertext_bytes(), 0, P.ciphertext_bytes());
        std::memset(ss, 0, kSymBytes);
      });
    }
  }

  // ---- decaps: u, v from c, then those of the second encryption

  static void check_dk(Chunk& c) {
    auto& t = *c.t;
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::check_dk(key, record); });
    if (!c.keys_are_records()) return;
    c.each([&](size_t l) {
      ct::declassify(c.ek(0).data + l * c.ek(0).stride, P.public_key_bytes() + kSymBytes);
      t.valid[l] = true;
    });
    if constexpr (!P.kyber()) {
      Isa::keccak().sha3_256(rows(t.ek_hash), c.ek(0), P.public_key_bytes(), c.count);
      c.each([&](size_t l) { t.valid[l] = std::memcmp(t.ek_hash[l], c.ek_hash(l), kSymBytes) == 0; });
    }
  }

  static void load_c_dk(Chunk& c) {
    auto& t = *c.t;
    for (size_t i = 0; i < kK; ++i) {
      unpack<P.du>(t.u[i], c.ct(i * (kN * P.du / 8)), c.count, t.scratch);
      ntt().decompress(t.u[i].data(), P.du);
    }
    unpack<P.dv>(t.u[kK], c.ct(P.u_bytes()), c.count, t.scratch);
    ntt().decompress(t.u[kK].data(), P.dv);
    c.if_shared_record([](auto& key, const uint8_t* record) { Keys::load_dk(key, record); });
    if (c.io.shared_key) return;
    load_t(c);
    for (size_t i = 0; i < kK; ++i) {
      if (c.expanded()) {
        gather_paired(t.s[i], c.count, [&](size_t l) { return c.expanded_secret(l).s[i].c; });
      } else {
        unpack_paired(t.s[i], c.sk(i * kPolyBytes), c.count, t.scratch);
      }
    }
  }

  static void ntt_u(Chunk& c) {
    for (size_t i = 0; i < kK; ++i)
      ntt().forward(c.t->u[i].data());
  }

  static void mul_su(Chunk& c) {
    auto& t = *c.t;
    if (c.io.shared_key) {
      ntt().multiply_shared(t.w.data(), c.shared_secret_key().s->c, t.u->data(), 1, kK);
    } else {
      ntt().multiply(t.w.data(), t.s->data(), t.u->data(), 1, kK);
    }
  }

  static void inverse_su(Chunk& c) { ntt().inverse(c.t->w.data()); }

  static void decode_m(Chunk& c) {
    auto& t = *c.t;
    for (size_t i = 0; i < kN; ++i)
      t.w.set(i, t.u[kK].get(i) - t.w.get(i));
    ntt().canonical(t.w.data());
    ntt().compress(t.w.data(), 1);
    pack<1>(rows(t.hashed), t.w, c.count, t.scratch);
  }

  static void hash_reject(Chunk& c) {
    auto& t = *c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), c.ct(0), P.ciphertext_bytes(), c.count);
    } else {
      c.each([&](size_t l) {
        std::memcpy(t.reject[l], c.z(l), kSymBytes);
        std::memcpy(t.reject[l] + kSymBytes, c.io.ct + l * P.ciphertext_bytes(), P.ciphertext_bytes());
      });
      Isa::keccak().shake256(rows(t.other), kSymBytes, rows(t.reject, 0), sizeof t.reject[0], c.count);
    }
  }

  static void compare_c(Chunk& c) {
    auto& t = *c.t;
    store_uv(c, rows(t.ct));
    c.each([&](size_t l) {
      const uint8_t* ct = c.io.ct + l * P.ciphertext_bytes();
      uint8_t differences = 0;
      for (size_t j = 0; j < P.ciphertext_bytes(); ++j)
        differences = static_cast<uint8_t>(differences | (t.ct[l][j] ^ ct[j]));
      t.fail[l] = ct::mask_nonzero(differences);
    });
  }

  static void select(Chunk& c) {
    auto& t = *c.t;
    c.each([&](size_t l) {
      const uint8_t* rejected = P.kyber() ? c.z(l) : t.other[l];
      ct::select_bytes(t.seeds[l], t.seeds[l], rejected, kSymBytes, t.fail[l]);
    });
    if constexpr (P.kyber()) {
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        uint8_t* ss = c.io.ss_out + l * kSymBytes;
        std::memcpy(ss, t.seeds[l], kSymBytes);
        if (c.valid(l)) return;
        c.io.item_status[l] = Status::secret_key;
        std::memset(ss, 0, kSymBytes);
      });
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::interleaved
