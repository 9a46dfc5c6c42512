// SPDX-License-Identifier: Apache-2.0
// The steps of kem.hpp, each a loop over the items of a chunk. Compiled for each instruction set with its
// primitives.
#pragma once

#include <cstring>

#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/lac/coding.hpp"
#include "schemes/lac/prg.hpp"
#include "schemes/lac/state.hpp"

namespace polykem::lac {
inline namespace POLYKEM_ISA {

template <InstructionSet Isa>
struct Steps {
  using State = lac::State<Isa>;

  static void hash(uint8_t* out, size_t out_stride, const uint8_t* in, size_t in_stride, size_t length, size_t count) {
    Isa::sha256({out, out_stride}, {in, in_stride}, length, count);
  }

  static void expand(uint8_t* out, size_t length, const uint8_t* seed, const Set& set) {
    prg(out, length, seed, set.misplaces_tail, Isa::prg());
  }

  /// Makes the seed of a key pair, or m.
  static void make_coins(State& state) {
    state.each([&](Item& t, size_t i) {
      uint8_t* to = state.has_keys() ? t.hash_input.m : t.seed;
      if (state.io.coins != nullptr) {
        std::memcpy(to, state.io.coins + i * kSeedBytes, kSeedBytes);
      } else {
        state.io.drbg->fill({to, kSeedBytes});
      }
    });
  }

  static void hash_m(State& state) {
    hash(state.items->seed, sizeof(Item), state.items->hash_input.m, sizeof(Item), kSeedBytes, state.io.count);
  }

  static void expand_seeds(State& state) {
    state.each([&](Item& t, size_t) {
      expand(t.seeds, sizeof t.seeds, t.seed, state.set);
      if (!state.has_keys()) ct::declassify(t.seeds, kSeedBytes);  // a part of pk
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

  static void gen_a(State& state) {
    const size_t keys = state.has_keys() && state.io.shared_key ? 1 : state.io.count;
    for (size_t i = 0; i < keys; ++i) {
      if (state.decapsulates()) ct::declassify(state.pk(i), state.set.public_key_bytes());
      gen_a_of(state.items[i].a, state.has_keys() ? state.pk(i) : state.items[i].seeds, state.set);
    }
  }

  /// Samples s and e from the second and third seed, r and e1 from the first and second. The chains of all items are
  /// hashed side by side. sampled: a member of Item, two FixedWeight.
  template <class Sampled>
  static void sample_fixed_as(State& state, Sampled sampled) {
    const size_t first = state.has_keys() ? 0 : 1, chains = 2 * state.io.count;
    state.each([&](Item& t, size_t i) {
      for (size_t k = 0; k < 2; ++k) {
        const uint8_t* seed = t.seeds + (first + k) * kSeedBytes;
        expand(t.stream, state.set.word_bytes(), seed, state.set);
        (t.*sampled)[k].start(t.stream, state.set.weight);
        std::memcpy(state.chain + (2 * i + k) * kSeedBytes, seed, kSeedBytes);
      }
    });
    uint32_t complete = 0;
    for (size_t hashes = 1; complete == 0; ++hashes) {
      hash(state.chain, kSeedBytes, state.chain, kSeedBytes, kSeedBytes, chains);
      state.each([&](Item& t, size_t i) {
        for (size_t k = 0; k < 2; ++k)
          (t.*sampled)[k].take_next_hash(state.chain + (2 * i + k) * kSeedBytes);
      });
      if (hashes < chain_hashes(state.set)) continue;
      complete = 1;
      state.each([&](Item& t, size_t) { complete &= (t.*sampled)[0].complete() & (t.*sampled)[1].complete(); });
      ct::declassify(&complete, sizeof complete);
    }
    state.each([&](Item& t, size_t) {
      (t.*sampled)[0].store(t.secret);
      (t.*sampled)[1].store(t.noise);
    });
  }

  static void sample_fixed(State& state) {
    if (state.set.n == Bits::kCount) {
      sample_fixed_as(state, &Item::small);
    } else {
      sample_fixed_as(state, &Item::large);
    }
  }

  static void sample_e2(State& state) {
    state.each([&](Item& t, size_t) {
      expand(t.stream, state.set.noise2_bytes(), t.seeds + 2 * kSeedBytes, state.set);
      noise2(t.noise2, t.stream, state.set);
    });
  }

  /// Computes b = a s + e, or c1 = a r + e1.
  static void multiply_a(State& state) {
    state.each([&](Item& t, size_t i) {
      uint8_t* out = state.has_keys() ? t.hash_input.ct : t.b;
      Isa::multiply(out, state.a(i), t.secret, t.noise, state.set.n, state.set.n, *state.scratch);
    });
  }

  static void store_keys(State& state) {
    state.each([&](Item& t, size_t i) {
      uint8_t* pk = state.io.pk_out + i * state.set.public_key_bytes();
      uint8_t* sk = state.io.sk_out + i * state.set.secret_key_bytes();
      std::memcpy(pk, t.seeds, kSeedBytes);
      std::memcpy(pk + kSeedBytes, t.b, state.set.n);
      std::memcpy(sk, t.secret, state.set.n);
      std::memcpy(sk + state.set.n, pk, state.set.public_key_bytes());
    });
  }

  static void encode(State& state) {
    const BchFunctions& bch = Isa::bch(state.set.errors);
    state.each([&](Item& t, size_t) {
      std::memcpy(t.code, t.hash_input.m, kSeedBytes);
      bch.encode(t.code + kSeedBytes, t.hash_input.m);
      add_code(t.noise2, t.code, state.set);
    });
  }

  static void multiply_b(State& state) {
    state.each([&](Item& t, size_t i) {
      Isa::multiply(t.b, state.pk(i) + kSeedBytes, t.secret, t.noise2, state.set.n, state.set.c2_coefficients(),
                    *state.scratch);
      compress(t.hash_input.ct + state.set.n, t.b, state.set.c2_coefficients());
    });
  }

  static void store_ct(State& state) {
    state.each([&](Item& t, size_t i) {
      std::memcpy(state.io.ct_out + i * state.set.ciphertext_bytes(), t.hash_input.ct, state.set.ciphertext_bytes());
    });
  }

  static void hash_ss(State& state) {
    hash(state.io.ss_out, kSeedBytes, state.items->hash_input.m, sizeof(Item),
         kSeedBytes + state.set.ciphertext_bytes(), state.io.count);
  }

  static void load_ct_sk(State& state) {
    state.each([&](Item& t, size_t i) {
      load_secret(t.secret, state.sk(i), state.set.n);
      decompress(t.stream, state.ct(i) + state.set.n, state.set.c2_coefficients());
    });
  }

  static void multiply_s(State& state) {
    state.each([&](Item& t, size_t i) {
      Isa::multiply(t.b, state.ct(i), t.secret, nullptr, state.set.n, state.set.c2_coefficients(), *state.scratch);
    });
  }

  static void demodulate(State& state) {
    state.each([&](Item& t, size_t) { received_word(t.code, t.stream, t.b, state.set); });
  }

  static void decode(State& state) {
    const BchFunctions& bch = Isa::bch(state.set.errors);
    state.each([&](Item& t, size_t) { bch.decode(t.hash_input.m, t.code); });
  }

  static void compare_ct(State& state) {
    state.each([&](Item& t, size_t i) {
      uint64_t differences = 0;
      for (size_t j = 0; j < state.set.ciphertext_bytes(); ++j)
        differences |= static_cast<uint64_t>(t.hash_input.ct[j] ^ state.ct(i)[j]);
      t.fail = ct::barrier(uint64_t{0} - ((uint64_t{0} - differences) >> 63));
    });
  }

  /// Computes SHA-256(s), which takes the place of m where the ciphertext is rejected. The ciphertext that is hashed is
  /// the one received.
  static void hash_reject(State& state) {
    hash(state.items->rejected, sizeof(Item), state.io.sk, state.io.shared_key ? 0 : state.set.secret_key_bytes(),
         state.set.n, state.io.count);
    state.each([&](Item& t, size_t i) {
      ct::select_bytes(t.hash_input.m, t.hash_input.m, t.rejected, kSeedBytes, static_cast<uint32_t>(t.fail));
      std::memcpy(t.hash_input.ct, state.ct(i), state.set.ciphertext_bytes());
    });
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::lac
