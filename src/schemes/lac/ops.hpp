// SPDX-License-Identifier: Apache-2.0
// Computes every stage of kem.hpp by a loop over the items of a chunk. Compiled for each instruction set with its
// primitives.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/lac/chunk.hpp"
#include "schemes/lac/coding.hpp"
#include "schemes/lac/prg.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

template <class Isa>
struct Ops {
  using Chunk = lac::Chunk<Isa>;

  static void hash(uint8_t* out, size_t out_stride, const uint8_t* in, size_t in_stride, size_t length, size_t count) {
    Isa::sha256({out, out_stride}, {in, in_stride}, length, count);
  }

  static void expand(uint8_t* out, size_t length, const uint8_t* seed, const Set& set) {
    prg(out, length, seed, set.misplaces_tail, Isa::prg());
  }

  /// Makes the seed of a key pair, or m.
  static void make_coins(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      uint8_t* to = c.has_keys() ? t.hash_input.m : t.seed;
      if (c.io.coins != nullptr) {
        std::memcpy(to, c.io.coins + i * kSeedBytes, kSeedBytes);
      } else {
        c.io.drbg->fill({to, kSeedBytes});
      }
    });
  }

  static void hash_m(Chunk& c) {
    hash(c.items->seed, sizeof(Item), c.items->hash_input.m, sizeof(Item), kSeedBytes, c.io.count);
  }

  static void expand_seeds(Chunk& c) {
    c.each([&](Item& t, size_t) {
      expand(t.seeds, sizeof t.seeds, t.seed, c.set);
      if (!c.has_keys()) ct::declassify(t.seeds, kSeedBytes);  // a part of pk
    });
  }

  /// Computes a. Bytes that are not below q are replaced by those of hashes of the seed. All of it is public.
  static void gen_a_of(uint8_t* a, const uint8_t* seed, const Set& set) {
    expand(a, set.n, seed, set);
    uint8_t spare[kSeedBytes];
    std::memcpy(spare, seed, sizeof spare);
    size_t used = sizeof spare;
    for (size_t first = 0; first < set.n; first += 64) {
      uint8_t largest = 0;
      for (size_t i = first; i < first + 64; ++i)
        largest = a[i] > largest ? a[i] : largest;
      if (largest < kQ) continue;
      for (size_t i = first; i < first + 64; ++i) {
        while (a[i] >= kQ) {
          if (used == sizeof spare) {
            hash(spare, 0, spare, 0, sizeof spare, 1);
            used = 0;
          }
          a[i] = spare[used++];
        }
      }
    }
  }

  static void gen_a(Chunk& c) {
    const size_t keys = c.has_keys() && c.io.shared_key ? 1 : c.io.count;
    for (size_t i = 0; i < keys; ++i) {
      if (c.decapsulates()) ct::declassify(c.pk(i), c.set.public_key_bytes());
      gen_a_of(c.items[i].a, c.has_keys() ? c.pk(i) : c.items[i].seeds, c.set);
    }
  }

  /// Samples s and e from the second and third seed, r and e1 from the first and second. The chains of all items are
  /// hashed side by side. sampled: a member of Item, two FixedWeight.
  template <class Sampled>
  static void sample_fixed_as(Chunk& c, Sampled sampled) {
    const size_t first = c.has_keys() ? 0 : 1, chains = 2 * c.io.count;
    c.each([&](Item& t, size_t i) {
      for (size_t k = 0; k < 2; ++k) {
        const uint8_t* seed = t.seeds + (first + k) * kSeedBytes;
        expand(t.stream, c.set.word_bytes(), seed, c.set);
        (t.*sampled)[k].start(t.stream, c.set.weight);
        std::memcpy(c.chain + (2 * i + k) * kSeedBytes, seed, kSeedBytes);
      }
    });
    uint32_t complete = 0;
    for (size_t hashes = 1; complete == 0; ++hashes) {
      hash(c.chain, kSeedBytes, c.chain, kSeedBytes, kSeedBytes, chains);
      c.each([&](Item& t, size_t i) {
        for (size_t k = 0; k < 2; ++k)
          (t.*sampled)[k].take_next_hash(c.chain + (2 * i + k) * kSeedBytes);
      });
      if (hashes < chain_hashes(c.set)) continue;
      complete = 1;
      c.each([&](Item& t, size_t) { complete &= (t.*sampled)[0].complete() & (t.*sampled)[1].complete(); });
      ct::declassify(&complete, sizeof complete);
    }
    c.each([&](Item& t, size_t) {
      (t.*sampled)[0].store(t.secret);
      (t.*sampled)[1].store(t.noise);
    });
  }

  static void sample_fixed(Chunk& c) {
    if (c.set.n == Bits::kCount) {
      sample_fixed_as(c, &Item::small);
    } else {
      sample_fixed_as(c, &Item::large);
    }
  }

  static void sample_e2(Chunk& c) {
    c.each([&](Item& t, size_t) {
      expand(t.stream, c.set.noise2_bytes(), t.seeds + 2 * kSeedBytes, c.set);
      noise2(t.noise2, t.stream, c.set);
    });
  }

  /// Computes b = a s + e, or c1 = a r + e1.
  static void multiply_a(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      uint8_t* out = c.has_keys() ? t.hash_input.ct : t.b;
      Isa::multiply(out, c.a(i), t.secret, t.noise, c.set.n, c.set.n, *c.scratch);
    });
  }

  static void store_keys(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      uint8_t* pk = c.io.pk_out + i * c.set.public_key_bytes();
      uint8_t* sk = c.io.sk_out + i * c.set.secret_key_bytes();
      std::memcpy(pk, t.seeds, kSeedBytes);
      std::memcpy(pk + kSeedBytes, t.b, c.set.n);
      std::memcpy(sk, t.secret, c.set.n);
      std::memcpy(sk + c.set.n, pk, c.set.public_key_bytes());
    });
  }

  static void encode(Chunk& c) {
    const Bch& bch = Isa::bch(c.set.errors);
    c.each([&](Item& t, size_t) {
      std::memcpy(t.code, t.hash_input.m, kSeedBytes);
      bch.encode(t.code + kSeedBytes, t.hash_input.m);
      add_code(t.noise2, t.code, c.set);
    });
  }

  static void multiply_b(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      Isa::multiply(t.b, c.pk(i) + kSeedBytes, t.secret, t.noise2, c.set.n, c.set.c2_coefficients(), *c.scratch);
      compress(t.hash_input.ct + c.set.n, t.b, c.set.c2_coefficients());
    });
  }

  static void store_ct(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      std::memcpy(c.io.ct_out + i * c.set.ciphertext_bytes(), t.hash_input.ct, c.set.ciphertext_bytes());
    });
  }

  static void hash_ss(Chunk& c) {
    hash(c.io.ss_out, kSeedBytes, c.items->hash_input.m, sizeof(Item), kSeedBytes + c.set.ciphertext_bytes(),
         c.io.count);
  }

  static void load_ct_sk(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      load_secret(t.secret, c.sk(i), c.set.n);
      decompress(t.stream, c.ct(i) + c.set.n, c.set.c2_coefficients());
    });
  }

  static void multiply_s(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      Isa::multiply(t.b, c.ct(i), t.secret, nullptr, c.set.n, c.set.c2_coefficients(), *c.scratch);
    });
  }

  static void demodulate(Chunk& c) {
    c.each([&](Item& t, size_t) { received_word(t.code, t.stream, t.b, c.set); });
  }

  static void decode(Chunk& c) {
    const Bch& bch = Isa::bch(c.set.errors);
    c.each([&](Item& t, size_t) { bch.decode(t.hash_input.m, t.code); });
  }

  static void compare_ct(Chunk& c) {
    c.each([&](Item& t, size_t i) {
      uint64_t differences = 0;
      for (size_t j = 0; j < c.set.ciphertext_bytes(); ++j)
        differences |= static_cast<uint64_t>(t.hash_input.ct[j] ^ c.ct(i)[j]);
      t.fail = ct::barrier(uint64_t{0} - ((uint64_t{0} - differences) >> 63));
    });
  }

  /// Computes SHA-256(s), which takes the place of m where the ciphertext is rejected. The ciphertext that is hashed is
  /// the one received.
  static void hash_reject(Chunk& c) {
    hash(c.items->rejected, sizeof(Item), c.io.sk, c.io.shared_key ? 0 : c.set.secret_key_bytes(), c.set.n, c.io.count);
    c.each([&](Item& t, size_t i) {
      ct::select_bytes(t.hash_input.m, t.hash_input.m, t.rejected, kSeedBytes, static_cast<uint32_t>(t.fail));
      std::memcpy(t.hash_input.ct, c.ct(i), c.set.ciphertext_bytes());
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
