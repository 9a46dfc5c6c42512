// SPDX-License-Identifier: Apache-2.0
// Every stage of a group of items: hashes with an item in each Keccak state, arithmetic item by item with neighbouring
// coefficients in a register. So nothing that is hashed is transposed further than into the items' rows.
#pragma once

#include "prim/drbg/drbg.hpp"
#include "prim/keccak/keccak_lanes.hpp"
#include "prim/ntt/avx512/noise.hpp"
#include "schemes/mlkem/groups/chunk.hpp"
#include "schemes/mlkem/groups/kem.hpp"
#include "schemes/mlkem/lanes/fetch.hpp"
#include "schemes/mlkem/lone/poly.hpp"

namespace polykem::mlkem::groups {
inline namespace POLYKEM_ISA {

using lanes::prf_tail, lanes::xof_tail, lanes::Seeds;
using simd::V16, simd::V64;

/// `Isa` names the primitives of an instruction set: keystream(), ntt(), keccak().
template <MlkemParams P, class Isa>
struct Ops {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  using Chunk = groups::Chunk<P>;
  using Poly = mlkem::Poly;

  template <size_t kBytes>
  static ByteRows rows(uint8_t (&table)[kItems][kBytes]) {
    return {table[0], kBytes};
  }
  template <size_t kBytes>
  static ConstByteRows rows(const uint8_t (&table)[kItems][kBytes], size_t offset) {
    return {table[0] + offset, kBytes};
  }

  static void draw(Chunk& c, size_t bytes) {
    c.draws.stride = bytes;
    if (c.io.draws == nullptr) c.io.drbg->fill({c.t.draws[0], c.count * bytes}, Isa::keystream());
  }

  /// rows[i k + j] of each item's own key = SampleNTT(rho, j, i), or transposed.
  static void sample_matrix(Chunk& c, ConstByteRows rho, bool transposed) {
    auto& t = c.t;
    const Seeds seeds = Seeds::load(rho, c.count);
    for (size_t i = 0; i < kK; ++i) {
      for (size_t j = 0; j < kK; ++j) {
        const size_t entry = i * kK + j;
        const V64 tails = V64::set1(transposed ? xof_tail(i, j) : xof_tail(j, i));
        lanes::fetch_output<P>(c.io, 0, kItems, entry, kK * kK);
        if (entry + 1 < kK * kK) {  // what is written beyond a polynomial belongs to the next one
          lanes::sample_ntt_rows(t.own[0].pk.rows[entry].c, sizeof t.own[0] / 2, seeds, tails, Isa::ntt());
          continue;
        }
        lanes::sample_ntt_rows(t.accepted[0], lanes::kAcceptedWords, seeds, tails, Isa::ntt());
        for (size_t l = 0; l < kItems; ++l)
          std::memcpy(t.own[l].pk.rows[entry].c, t.accepted[l], sizeof(Poly));
      }
    }
  }

  /// The PRF's output for s and e, or y, e1 and e2, nonce by nonce.
  template <unsigned kEta>
  static void hash_noise(Chunk& c, size_t others) {
    auto& t = c.t;
    Seeds seeds = Seeds::load(rows(t.seeds, kSymBytes), c.count);
    for (size_t n = 0; n < kK; ++n)
      lanes::prf_rows<P.eta1>(t.prf_s[0][n], sizeof t.prf_s[0], seeds, V64::set1(prf_tail(n)));
    for (size_t n = 0; n < others; ++n)
      lanes::prf_rows<kEta>(t.prf_e[0][n], sizeof t.prf_e[0], seeds, V64::set1(prf_tail(kK + n)));
    secure_zero(&seeds, sizeof seeds);
  }

  // ---- keygen: seeds = rho, sigma, u = t^

  static void draw_keygen(Chunk& c) { draw(c, kKeygenDrawBytes); }

  static void hash_d(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      std::memcpy(t.hashed[l], c.draws.data + l * c.draws.stride, kSymBytes);
      t.hashed[l][kSymBytes] = kK;
    });
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), kSymBytes + (P.kyber() ? 0 : 1), c.count);
    c.each([&](size_t l) { ct::declassify(t.seeds[l], kSymBytes); });  // rho is a part of ek
  }

  static void gen_a(Chunk& c) { sample_matrix(c, rows(c.t.seeds, 0), false); }

  static void sample_se(Chunk& c) {
    auto& t = c.t;
    constexpr size_t kRow = sizeof t.prf_s[0][0];
    hash_noise<P.eta1>(c, kK);
    ntt::forward_noise<P.eta1, ntt::Canonical>(t.s[0][0].c, t.prf_s[0][0], kRow, c.count * kK);
    for (size_t l = 0; l < c.count; ++l)
      ntt::forward_noise<P.eta1, ntt::Unreduced>(t.e[l][0].c, t.prf_e[l][0], kRow, kK);
  }

  /// e^ is within 8.3 q and a product within q, so that their sum has 16 bits.
  static void mul_as(Chunk& c) {
    auto& t = c.t;
    const ntt::Twiddle scale = ntt::Twiddle::of(ntt::Factor::of(ntt::kR));
    c.each([&](size_t l) {
      ntt::multiply_one_rows<kK>(
          t.u[l]->c, t.own[l].pk.rows->c, t.s[l]->c, kK, [&](size_t at, V16 x) __attribute__((always_inline)) {
            return ntt::positive(ntt::barrett(ntt::mul(x, scale) + V16::load(t.e[l]->c + at)));
          });
    });
  }

  static void store_keys(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      uint8_t* pk = c.io.pk_out + l * P.public_key_bytes();
      uint8_t* sk = c.io.sk_out + l * P.secret_key_bytes();
      for (size_t i = 0; i < kK; ++i) {
        lone::store<12>(sk + i * kPolyBytes, t.s[l][i]);
        lone::store<12>(pk + i * kPolyBytes, t.u[l][i]);
      }
      std::memcpy(pk + P.vector_bytes(), t.seeds[l], kSymBytes);
      std::memcpy(sk + P.ek_offset(), pk, P.public_key_bytes());
      std::memcpy(sk + P.z_offset(), c.draws.data + l * c.draws.stride + kSymBytes, kSymBytes);
    });
  }

  static void hash_new_ek(Chunk& c) {
    Isa::keccak().sha3_256({c.io.sk_out + P.hash_offset(), P.secret_key_bytes()}, {c.io.pk_out, P.public_key_bytes()},
                           P.public_key_bytes(), c.count);
  }

  // ---- encaps: seeds = K, r, s = y^

  static void draw_encaps(Chunk& c) {
    auto& t = c.t;
    draw(c, kEncapsDrawBytes);
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.hashed), c.draws, kSymBytes, c.count);
    } else {
      c.each([&](size_t l) { std::memcpy(t.hashed[l], c.draws.data + l * c.draws.stride, kSymBytes); });
    }
  }

  static void hash_ek(Chunk& c) {
    if (c.expanded()) return;
    Isa::keccak().sha3_256({c.t.own[0].pk.hash, sizeof c.t.own[0]}, c.ek_rows(0), P.public_key_bytes(), c.count);
  }

  static void hash_m(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) { std::memcpy(t.hashed[l] + kSymBytes, c.pk(l).hash, kSymBytes); });
    Isa::keccak().sha3_512(rows(t.seeds), rows(t.hashed, 0), 2 * kSymBytes, c.count);
  }

  static void load_ek(Chunk& c) {
    if (c.expanded()) return;
    c.each([&](size_t l) { lone::load_t<P>(c.t.own[l].pk, c.ek(l)); });
  }

  static void gen_a_transposed(Chunk& c) {
    if (!c.expanded()) sample_matrix(c, c.ek_rows(P.vector_bytes()), true);
  }

  static void sample_noise(Chunk& c) {
    auto& t = c.t;
    hash_noise<P.kEta2>(c, kK + 1);
    ntt::forward_noise<P.eta1, ntt::Reduced>(t.s[0][0].c, t.prf_s[0][0], sizeof t.prf_s[0][0], c.count * kK);
  }

  /// Without the factor 2^16, which inverse_uv multiplies by. t^ follows A^T.
  static void mul_ay(Chunk& c) {
    c.each([&](size_t l) { multiply(c.t.u[l], c.pk(l).rows, c.t.s[l], kK + 1); });
  }
  static void multiply(Poly* product, const Poly* a, const Poly* y, size_t count) {
    ntt::multiply_one_rows<kK>(product->c, a->c, y->c, count, [](size_t, V16 x) { return x; });
  }

  static void inverse_uv(Chunk& c) { inverse(c.t.u[0], c.count * (kK + 1)); }
  static void inverse(Poly* a, size_t count) { ntt::inverse_polys<ntt::kR, ntt::Positive>(a->c, count); }

  static void add_noise(Chunk& c) {
    auto& t = c.t;
    const auto noisy = [&](size_t l, size_t n, size_t i) __attribute__((always_inline)) {
      return V16::load(t.u[l][n].c + i) + ntt::noise_one<P.kEta2>(t.prf_e[l][n], i);
    };
    const auto canonical = [](V16 x) __attribute__((always_inline)) {
      return ntt::reduced_once(ntt::positive(x));
    };
    c.each([&](size_t l) {
      for (size_t i = 0; i < kN; i += V16::kLanes) {
        for (size_t n = 0; n < kK; ++n)
          canonical(noisy(l, n, i)).store(t.u[l][n].c + i);
        canonical(noisy(l, kK, i) + ntt::message_one(t.hashed[l], i)).store(t.u[l][kK].c + i);
      }
    });
  }

  static void store_c(Chunk& c) {
    c.each([&](size_t l) { lone::store_uv<D>(c.ct_out(l), c.t.u[l]); });
  }

  /// Round 3: ss = SHAKE256(K, SHA3-256(c)); t.other has the hashes.
  static void derive_kyber(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      std::memcpy(t.kdf[l], t.seeds[l], kSymBytes);
      std::memcpy(t.kdf[l] + kSymBytes, t.other[l], kSymBytes);
    });
    Isa::keccak().shake256({c.io.ss_out, kSymBytes}, kSymBytes, rows(t.kdf, 0), 2 * kSymBytes, c.count);
  }

  static void store_ss(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), {c.io.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        std::memcpy(c.ss_out(l), t.seeds[l], kSymBytes);
        if (c.pk(l).valid) return;
        c.io.item_status[l] = Status::public_key;
        std::memset(c.ct_out(l), 0, P.ciphertext_bytes());
        std::memset(c.ss_out(l), 0, kSymBytes);
      });
    }
  }

  // ---- decaps: e = u^, v from c; then u, v of the second encryption

  /// For ML-KEM, compares the hash of ek with the stored one. Both are public. [FIPS203, 7.3]
  static void check_dk(Chunk& c) {
    auto& t = c.t;
    if (c.expanded()) return;
    c.each([&](size_t l) {
      ct::declassify(c.ek(l), P.public_key_bytes() + kSymBytes);
      t.own[l].valid = 1;
    });
    const auto stored = [&](size_t l) { return c.dk(l) + P.hash_offset(); };
    if constexpr (!P.kyber()) {
      Isa::keccak().sha3_256(rows(t.ek_hash), c.ek_rows(0), P.public_key_bytes(), c.count);
      c.each([&](size_t l) { t.own[l].valid = std::memcmp(t.ek_hash[l], stored(l), kSymBytes) == 0; });
    }
    c.each([&](size_t l) { std::memcpy(t.own[l].pk.hash, stored(l), kSymBytes); });
  }

  static void load_c_dk(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      for (size_t i = 0; i < kK; ++i)
        lone::load_compressed<P.du>(t.e[l][i], c.ct(l) + i * (kN * P.du / 8));
      lone::load_compressed<P.dv>(t.v[l], c.ct(l) + P.u_bytes());
      if (c.expanded()) return;
      lone::load_dk<P>(t.own[l], c.dk(l));
    });
  }

  static void ntt_u(Chunk& c) { ntt::forward_polys<ntt::Reduced>(c.t.e[0][0].c, c.count * kK); }

  static void mul_su(Chunk& c) {
    c.each([&](size_t l) { multiply(&c.t.w[l], c.sk(l).s, c.t.e[l], 1); });
  }

  static void inverse_su(Chunk& c) { inverse(c.t.w, c.count); }

  static void decode_m(Chunk& c) {
    c.each([&](size_t l) { lone::store_message(c.t.hashed[l], c.t.v[l], c.t.w[l]); });
  }

  static void hash_reject(Chunk& c) {
    auto& t = c.t;
    if constexpr (P.kyber()) {
      Isa::keccak().sha3_256(rows(t.other), {c.io.ct, P.ciphertext_bytes()}, P.ciphertext_bytes(), c.count);
    } else {
      c.each([&](size_t l) {
        std::memcpy(t.reject[l], c.sk(l).z, kSymBytes);
        std::memcpy(t.reject[l] + kSymBytes, c.ct(l), P.ciphertext_bytes());
      });
      Isa::keccak().shake256(rows(t.other), kSymBytes, rows(t.reject, 0), sizeof t.reject[0], c.count);
    }
  }

  static void compare_c(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      lone::store_uv<D>(t.ct, t.u[l]);
      t.fail[l] = lone::differ(t.ct, c.ct(l), P.ciphertext_bytes());
    });
  }

  static void select(Chunk& c) {
    auto& t = c.t;
    c.each([&](size_t l) {
      const uint8_t* rejected = P.kyber() ? c.sk(l).z : t.other[l];
      for (size_t j = 0; j < kSymBytes; ++j)
        t.seeds[l][j] = static_cast<uint8_t>(t.seeds[l][j] ^ (t.fail[l] & (t.seeds[l][j] ^ rejected[j])));
    });
    if constexpr (P.kyber()) {
      derive_kyber(c);
    } else {
      c.each([&](size_t l) {
        std::memcpy(c.ss_out(l), t.seeds[l], kSymBytes);
        if (c.sk(l).valid) return;
        c.io.item_status[l] = Status::secret_key;
        std::memset(c.ss_out(l), 0, kSymBytes);
      });
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::groups
