// SPDX-License-Identifier: Apache-2.0
// Every stage of kem.hpp as a loop over the items of a chunk. The portable backend is this with PortablePrims; the
// vector backends use it with their own primitives for small batches.
#pragma once

#include <cstring>

#include "core/arena.hpp"
#include "core/scheme.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/mlkem/ref/keys.hpp"

namespace polykem::mlkem::ref {
inline namespace POLYKEM_ISA {

/// Working memory of one item.
template <Dims D>
struct Item {
  SecretKey<D.k> own;   ///< the item's key, if it is neither shared nor in a key set
  Poly s[D.k], e[D.k];  ///< s, e; or y, e1
  Poly u[D.k];          ///< t; or u
  Poly v, e2;
  uint8_t prf[D.noise_polys()][D.prf_stride()];
  uint8_t coins[kKeygenCoinBytes];
  uint8_t m[kSymBytes];
  uint8_t seeds[2 * kSymBytes];  ///< rho, sigma; or K, r
  uint8_t other[kSymBytes];      ///< ML-KEM: the rejection secret; round 3: SHA3-256(c)
  uint8_t ct[D.ciphertext_bytes()];
  uint32_t fail;  ///< all ones if the ciphertext is rejected
};

/// The items that are being computed, with their records and keys.
template <MlkemParams P, class Prims>
struct Chunk {
  static constexpr Dims D = P;
  static constexpr size_t kGranule = 1;
  static constexpr size_t kItems = 8;
  static constexpr size_t workspace_bytes(size_t items) { return Arena::bytes<Item<D>>(items); }

  Chunk(const Batch& batch, std::byte* workspace) : io(batch), items(Arena(workspace).take<Item<D>>(batch.count)) {}

  const Batch& io;
  Item<D>* items;

  const uint8_t* ct(size_t i) const { return io.ct + i * P.ciphertext_bytes(); }
  uint8_t* pk_out(size_t i) const { return io.pk_out + i * P.public_key_bytes(); }
  uint8_t* sk_out(size_t i) const { return io.sk_out + i * P.secret_key_bytes(); }
  uint8_t* ct_out(size_t i) const { return io.ct_out + i * P.ciphertext_bytes(); }
  uint8_t* ss_out(size_t i) const { return io.ss_out + i * kSymBytes; }

  bool decapsulates() const { return io.sk != nullptr; }
  /// The secret key of item i, expanded by the key set or by the steps so far.
  const SecretKey<D.k>& sk(size_t i) const {
    if (io.expanded.data != nullptr) return *reinterpret_cast<const SecretKey<D.k>*>(io.expanded.key(i));
    return items[io.shared_key ? 0 : i].own;
  }
  /// The public key of item i, likewise. It is a part of the secret key.
  const PublicKey<D.k>& pk(size_t i) const {
    if (io.expanded.data != nullptr && !decapsulates())
      return *reinterpret_cast<const PublicKey<D.k>*>(io.expanded.key(i));
    return sk(i).pk;
  }

  template <class F>
  void each(F&& f) {
    for (size_t i = 0; i < io.count; ++i)
      f(items[i], i);
  }
  /// Calls f(key, record) for every key that is not expanded yet.
  template <class F>
  void each_key(F&& f) {
    if (io.expanded.data != nullptr) return;
    const uint8_t* records = decapsulates() ? io.sk : io.pk;
    const size_t bytes = decapsulates() ? P.secret_key_bytes() : P.public_key_bytes();
    for (size_t i = 0; i < (io.shared_key ? 1 : io.count); ++i)
      f(items[i].own, records + i * bytes);
  }
};

template <MlkemParams P, class Prims>
struct Ops {
  static constexpr Dims D = P;
  static constexpr size_t kK = P.k;
  using Chunk = ref::Chunk<P, Prims>;
  using Item = ref::Item<D>;
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

  // ---- keygen: seeds = rho, sigma, u = t

  static void draw_keygen(Chunk& c) { draw(c, kKeygenCoinBytes); }

  static void hash_d(Chunk& c) {
    c.each([](Item& t, size_t) {
      const uint8_t k = kK;
      sha3_512(t.seeds, {t.coins, kSymBytes}, {&k, P.kyber() ? 0u : 1u});
      ct::declassify(t.seeds, kSymBytes);  // rho is a part of ek
    });
  }

  static void gen_a(Chunk& c) {
    c.each([](Item& t, size_t) { Prims::template gen_a<kK>(t.own.pk.rows, t.seeds, false); });
  }

  static void sample_se(Chunk& c) {
    c.each([](Item& t, size_t) {
      Prims::template prf<P.eta1>(t.prf[0], sizeof t.prf[0], t.seeds + kSymBytes, 0, 2 * kK);
      for (size_t i = 0; i < kK; ++i) {
        sample_cbd<P.eta1>(t.s[i], t.prf[i]);
        sample_cbd<P.eta1>(t.e[i], t.prf[kK + i]);
      }
    });
  }

  static void ntt_se(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (size_t i = 0; i < kK; ++i) {
        Prims::ntt(t.s[i]);
        Prims::ntt(t.e[i]);
      }
    });
  }

  static void mul_as(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (size_t i = 0; i < kK; ++i) {
        Prims::template multiply<kK>(t.u[i], t.own.pk.rows + i * kK, t.s);
        poly_add(t.u[i], t.e[i]);
      }
    });
  }

  static void store_keys(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      for (size_t j = 0; j < kK; ++j) {
        poly_tobytes(c.sk_out(i) + j * kPolyBytes, t.s[j]);
        poly_tobytes(c.pk_out(i) + j * kPolyBytes, t.u[j]);
      }
      std::memcpy(c.pk_out(i) + P.vector_bytes(), t.seeds, kSymBytes);
      std::memcpy(c.sk_out(i) + P.ek_offset(), c.pk_out(i), P.public_key_bytes());
      std::memcpy(c.sk_out(i) + P.z_offset(), t.coins + kSymBytes, kSymBytes);
    });
  }

  static void hash_new_ek(Chunk& c) {
    c.each([&](Item&, size_t i) { sha3_256(c.sk_out(i) + P.hash_offset(), {c.pk_out(i), P.public_key_bytes()}); });
  }

  // ---- encaps: seeds = K, r, s = y, e = e1

  static void draw_encaps(Chunk& c) {
    draw(c, kEncapsCoinBytes);
    c.each([](Item& t, size_t) {
      if constexpr (P.kyber()) {
        sha3_256(t.m, {t.coins, kSymBytes});
      } else {
        std::memcpy(t.m, t.coins, kSymBytes);
      }
    });
  }

  static void hash_ek(Chunk& c) {
    c.each_key([](auto& key, const uint8_t* record) { Keys::hash_ek(key.pk, record); });
  }

  static void hash_m(Chunk& c) {
    c.each([&](Item& t, size_t i) { sha3_512(t.seeds, {t.m, kSymBytes}, {c.pk(i).hash, kSymBytes}); });
  }

  static void load_ek(Chunk& c) {
    c.each_key([](auto& key, const uint8_t* record) { Keys::load_ek(key.pk, record); });
  }

  static void gen_a_transposed(Chunk& c) {
    c.each_key([&](auto& key, const uint8_t* record) {
      Keys::gen_a(key.pk, record + (c.decapsulates() ? P.ek_offset() : 0));
    });
  }

  static void draw_noise(Item& t) {
    const uint8_t* seed = t.seeds + kSymBytes;
    if constexpr (P.eta1 == P.kEta2) {
      Prims::template prf<P.eta1>(t.prf[0], sizeof t.prf[0], seed, 0, D.noise_polys());
    } else {
      Prims::template prf<P.eta1>(t.prf[0], sizeof t.prf[0], seed, 0, kK);
      Prims::template prf<P.kEta2>(t.prf[kK], sizeof t.prf[0], seed, kK, kK + 1);
    }
  }

  static void sample_noise(Chunk& c) {
    c.each([](Item& t, size_t) {
      draw_noise(t);
      for (size_t i = 0; i < kK; ++i) {
        sample_cbd<P.eta1>(t.s[i], t.prf[i]);
        sample_cbd<P.kEta2>(t.e[i], t.prf[kK + i]);
      }
      sample_cbd<P.kEta2>(t.e2, t.prf[2 * kK]);
    });
  }

  static void ntt_y(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (Poly& y : t.s)
        Prims::ntt(y);
    });
  }

  static void mul_ay(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      for (size_t j = 0; j < kK; ++j)
        Prims::template multiply<kK>(t.u[j], c.pk(i).rows + j * kK, t.s);
      Prims::template multiply<kK>(t.v, c.pk(i).t(), t.s);
    });
  }

  static void inverse_uv(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (Poly& u : t.u)
        Prims::inverse_ntt(u);
      Prims::inverse_ntt(t.v);
    });
  }

  static void add_noise(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (size_t i = 0; i < kK; ++i)
        poly_add(t.u[i], t.e[i]);
      poly_add(t.v, t.e2);
      poly_decompress<1>(t.e2, t.m);
      poly_add(t.v, t.e2);
    });
  }

  static void store_uv(const Item& t, uint8_t* ct) {
    for (size_t i = 0; i < kK; ++i)
      poly_compress<P.du>(ct + i * (kN * P.du / 8), t.u[i]);
    poly_compress<P.dv>(ct + P.u_bytes(), t.v);
  }

  static void store_c(Chunk& c) {
    c.each([&](Item& t, size_t i) { store_uv(t, c.ct_out(i)); });
  }

  /// Round 3: SHAKE256(secret, H(c)).
  static void derive_kyber(uint8_t* ss, const uint8_t* secret, const uint8_t* ct_hash) {
    Shake kdf(Shake::Strength::shake256);
    kdf.absorb({secret, kSymBytes});
    kdf.absorb({ct_hash, kSymBytes});
    kdf.squeeze({ss, kSymBytes});
  }

  static void store_ss(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      if constexpr (P.kyber()) {
        sha3_256(t.other, {c.ct_out(i), P.ciphertext_bytes()});
        derive_kyber(c.ss_out(i), t.seeds, t.other);
      } else {
        std::memcpy(c.ss_out(i), t.seeds, kSymBytes);
        if (c.pk(i).valid) return;
        c.io.item_status[i] = Status::public_key;
        std::memset(c.ct_out(i), 0, P.ciphertext_bytes());
        std::memset(c.ss_out(i), 0, kSymBytes);
      }
    });
  }

  // ---- decaps: u, v from c, then those of the second encryption

  static void check_dk(Chunk& c) {
    c.each_key([](auto& key, const uint8_t* record) { Keys::check_dk(key, record); });
  }

  static void load_c_dk(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      for (size_t j = 0; j < kK; ++j)
        poly_decompress<P.du>(t.u[j], c.ct(i) + j * (kN * P.du / 8));
      poly_decompress<P.dv>(t.v, c.ct(i) + P.u_bytes());
    });
    c.each_key([](auto& key, const uint8_t* record) { Keys::load_dk(key, record); });
  }

  static void ntt_u(Chunk& c) {
    c.each([](Item& t, size_t) {
      for (Poly& u : t.u)
        Prims::ntt(u);
    });
  }

  static void mul_su(Chunk& c) {
    c.each([&](Item& t, size_t i) { Prims::template multiply<kK>(t.e2, c.sk(i).s, t.u); });
  }

  static void inverse_su(Chunk& c) {
    c.each([](Item& t, size_t) { Prims::inverse_ntt(t.e2); });
  }

  static void decode_m(Chunk& c) {
    c.each([](Item& t, size_t) {
      poly_sub(t.v, t.v, t.e2);
      poly_compress<1>(t.m, t.v);
    });
  }

  static void hash_reject(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      if constexpr (P.kyber()) {
        sha3_256(t.other, {c.ct(i), P.ciphertext_bytes()});
      } else {
        Shake reject(Shake::Strength::shake256);
        reject.absorb({c.sk(i).z, kSymBytes});
        reject.absorb({c.ct(i), P.ciphertext_bytes()});
        reject.squeeze(t.other);
      }
    });
  }

  static void compare_c(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      store_uv(t, t.ct);
      uint32_t differences = 0;
      for (size_t j = 0; j < P.ciphertext_bytes(); ++j)
        differences |= static_cast<uint32_t>(t.ct[j] ^ c.ct(i)[j]);
      t.fail = ct::mask_nonzero(differences);
    });
  }

  static void select(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      const uint8_t* rejected = P.kyber() ? c.sk(i).z : t.other;
      ct::select_bytes(t.seeds, t.seeds, rejected, kSymBytes, t.fail);
      if constexpr (P.kyber()) {
        derive_kyber(c.ss_out(i), t.seeds, t.other);
      } else {
        std::memcpy(c.ss_out(i), t.seeds, kSymBytes);
        if (c.sk(i).valid) return;
        c.io.item_status[i] = Status::secret_key;
        std::memset(c.ss_out(i), 0, kSymBytes);
      }
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::ref
