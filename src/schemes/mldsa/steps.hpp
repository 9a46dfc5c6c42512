// SPDX-License-Identifier: Apache-2.0
// Every step of signature.hpp, in the standard's order, for any instruction set. A step computes all items of a state.
#pragma once

#include "core/secure.hpp"
#include "ct/ct.hpp"
#include "prim/drbg/drbg.hpp"
#include "schemes/mldsa/ntt.hpp"
#include "schemes/mldsa/sampling.hpp"
#include "schemes/mldsa/state.hpp"
#include "schemes/mldsa/string_hash.hpp"
#include "schemes/records.hpp"

namespace polykem::mldsa {
inline namespace POLYKEM_ISA {

/// The steps that several operations have in common.
template <MldsaParams P, InstructionSet Isa>
struct CommonSteps {
  static constexpr size_t kK = P.k, kL = P.l, kStates = Isa::kStates;
  static constexpr unsigned kEtaBits = P.eta_bits(), kW1Bits = P.w1_bits();

  /// Computes kOut bytes of SHAKE128 or SHAKE256 for each of `streams` seeds of kIn bytes. fill(stream, seed) writes a
  /// seed, and use(stream, bytes) takes the output for it.
  template <Shake::Strength kStrength, size_t kIn, size_t kOut, class Fill, class Use>
  static void expand(HashRows<P, Isa>& rows, size_t streams, Fill&& fill, Use&& use) {
    constexpr size_t kStride = rounded_up(kOut, 64);  // whole cache lines are stored
    static_assert(kStates * kIn <= sizeof rows.in && kStates * kStride <= sizeof rows.out);
    const ByteRows in{rows.in, kIn}, out{rows.out, kStride};
    if constexpr (kStrength == Shake::Strength::kShake256 && kOut <= kShake256Rate) {
      if (streams == 1) {
        fill(0, rows.in);
        Isa::template shake256_of_one<kOut, kIn>(rows.out, rows.in);
        return use(0, rows.out);
      }
    }
    for (size_t first = 0; first < streams; first += kStates) {
      const size_t count = std::min(kStates, streams - first);
      for (size_t i = 0; i < count; ++i)
        fill(first + i, in.at(i));
      constexpr auto* kHash = kStrength == Shake::Strength::kShake128 ? Isa::shake128 : Isa::shake256;
      kHash(out, kOut, in, kIn, count);
      for (size_t i = 0; i < count; ++i)
        use(first + i, out.at(i));
    }
  }

  /// Samples A^ of `count` keys to matrix(key), from the seed rho(key). [FIPS204, Alg 32]
  template <class Matrix, class Rho>
  static void expand_matrices(HashRows<P, Isa>& rows, size_t count, Matrix&& matrix, Rho&& rho) {
    constexpr size_t kEntries = kK * kL, kBlocks = kMatrixBytes / kShake128Rate;
    const auto seed_of = [&](size_t stream, uint8_t* seed) {
      const size_t entry = stream % kEntries;
      std::memcpy(seed, rho(stream / kEntries), kSeedBytes);
      seed[kSeedBytes] = static_cast<uint8_t>(entry % kL);
      seed[kSeedBytes + 1] = static_cast<uint8_t>(entry / kL);
    };
    expand<Shake::Strength::kShake128, kSeedBytes + 2, kMatrixBytes>(
        rows, count * kEntries, seed_of, [&](size_t stream, const uint8_t* bytes) {
          Rejection poly(matrix(stream / kEntries)[stream % kEntries]);
          poly.take_uniform({bytes, kMatrixBytes});
          if (poly.full()) return;
          uint8_t seed[kSeedBytes + 2];
          seed_of(stream, seed);
          expand_rest<Shake::Strength::kShake128, kBlocks>(seed, poly, &Rejection::take_uniform);
        });
  }

  /// Computes tr of `count` public keys. [FIPS204, Alg 6, L9; Alg 8, L6]
  static void hash_public_keys(ByteRows tr, ConstByteRows pk, size_t count) {
    constexpr size_t kBytes = P.public_key_bytes();
    if (count == 1) return Isa::template shake256_of_one<kDigestBytes, kBytes>(tr.data, pk.data);
    Isa::shake256(tr, kDigestBytes, pk, kBytes, count);
  }

  /// Computes mu of each item from its key's tr, or copies mu if the caller passes that.
  /// [FIPS204, Alg 7, L6; Alg 8, L7]
  template <class Tr, class Mu>
  static void hash_messages(const Batch& io, Tr&& tr, Mu&& mu) {
    if (io.message.kind == MessageKind::kMu) {
      for (size_t i = 0; i < io.count; ++i)
        std::memcpy(mu(i), io.message.strings.at(i).data(), kDigestBytes);
      return;
    }
    for (size_t first = 0; first < io.count; first += kStates) {
      const size_t count = std::min(kStates, io.count - first);
      uint8_t out[kStates][kDigestBytes], headers[kStates][2];
      FragmentReader messages[kStates];
      for (size_t i = 0; i < count; ++i) {
        const std::span context = io.message.contexts.at(first + i);
        headers[i][0] = io.message.kind == MessageKind::kDigest;
        headers[i][1] = static_cast<uint8_t>(context.size());
        messages[i].add({tr(first + i), kDigestBytes});
        messages[i].add(headers[i]);
        messages[i].add(context);
        messages[i].add(io.message.digest_oid);
        messages[i].add(io.message.strings.at(first + i));
      }
      StringHashes<Isa>::run(rows_of(out), messages, count);
      for (size_t i = 0; i < count; ++i)
        std::memcpy(mu(first + i), out[i], kDigestBytes);
    }
  }

  /// Computes c~ = H(mu, w1) of `count` items, of which item(i) is one. [FIPS204, Alg 7, L15; Alg 8, L12]
  template <class Item>
  static void hash_challenges(HashRows<P, Isa>& rows, size_t count, Item&& item) {
    expand<Shake::Strength::kShake256, kDigestBytes + kK * P.w1_bytes(), P.challenge_bytes()>(
        rows, count, [&](size_t i, uint8_t* in) { std::memcpy(in, item(i).mu_w1, sizeof item(i).mu_w1); },
        [&](size_t i, const uint8_t* bytes) { std::memcpy(item(i).challenge, bytes, P.challenge_bytes()); });
  }

  /// Samples c of `count` items from c~, which is challenge(i). [FIPS204, Alg 7, L16; Alg 8, L8]
  template <class Challenge, class Item>
  static void sample_challenges(HashRows<P, Isa>& rows, size_t count, Challenge&& challenge, Item&& item) {
    constexpr size_t kBytes = P.challenge_bytes();
    expand<Shake::Strength::kShake256, kBytes, kShake256Rate>(
        rows, count, [&](size_t i, uint8_t* in) { std::memcpy(in, challenge(i), kBytes); },
        [&](size_t i, const uint8_t* bytes) {
          sample_in_ball(item(i).c, P.tau, Stream({challenge(i), kBytes}, {bytes, kShake256Rate}));
        });
  }

  /// Packs the k polynomials of w1. [FIPS204, Alg 28]
  static void pack_w1(uint8_t* out, const Poly* w1) {
    for (size_t i = 0; i < kK; ++i)
      pack<kW1Bits>(out + i * P.w1_bytes(), w1[i].c);
  }

  /// Unpacks s1 or s2. [FIPS204, Alg 25]
  static void unpack_small(Poly* out, const uint8_t* in, size_t polys) {
    for (size_t i = 0; i < polys; ++i)
      unpack_below<kEtaBits>(out[i], in + i * P.eta_bytes(), P.eta);
  }

  /// Fills `poly` from the blocks of a stream after the first kBlocks. This is seldom needed.
  template <Shake::Strength kStrength, size_t kBlocks, size_t kIn, class Take>
  static void expand_rest(const uint8_t (&seed)[kIn], Rejection& poly, Take take) {
    constexpr size_t kRate = static_cast<size_t>(kStrength);
    uint8_t block[kRate];
    Shake xof(kStrength);
    xof.absorb(seed);
    for (size_t i = 0; i < kBlocks; ++i)
      xof.squeeze(block);
    while (!poly.full()) {
      xof.squeeze(block);
      (poly.*take)(std::span<const uint8_t>(block));
    }
    zeroize(block, sizeof block);
  }

  /// Returns 0 if |c| < bound for every coefficient c, otherwise all ones. |c| < q before. It takes constant time.
  /// [FIPS204, 2.3, infinity norm]
  static int32_t mask_too_large(const Poly& a, int32_t bound) {
    int32_t beyond = 0;
    for (const int32_t c : a.c) {
      const int32_t magnitude = (c ^ mask_negative(c)) - mask_negative(c);
      beyond |= bound - 1 - magnitude;
    }
    return mask_negative(beyond);
  }
};

template <MldsaParams P, InstructionSet Isa>
struct KeygenSteps : CommonSteps<P, Isa> {
  using Common = CommonSteps<P, Isa>;
  using State = KeygenState<P, Isa>;
  using Common::kK, Common::kL;

  /// Takes xi from the caller's coins or from the generator. [FIPS204, Alg 1, L1]
  static void make_xi(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      if (state.io.coins == nullptr) {
        state.io.drbg->fill(state.items[i].xi);
      } else {
        std::memcpy(state.items[i].xi, state.io.coins + i * kSeedBytes, kSeedBytes);
      }
    }
  }

  /// Computes rho, rho' and K from xi. [FIPS204, Alg 6, L1]
  static void expand_xi(State& state) {
    Common::template expand<Shake::Strength::kShake256, kSeedBytes + 2, sizeof state.items->seeds>(
        *state.rows, state.count,
        [&](size_t i, uint8_t* in) {
          std::memcpy(in, state.items[i].xi, kSeedBytes);
          in[kSeedBytes] = kK;
          in[kSeedBytes + 1] = kL;
        },
        [&](size_t i, const uint8_t* bytes) {
          std::memcpy(state.items[i].seeds, bytes, sizeof state.items->seeds);
          ct::declassify(state.items[i].seeds, kSeedBytes);  // rho is a part of pk
        });
  }

  /// Samples A^ from rho. [FIPS204, Alg 6, L3]
  static void expand_a(State& state) {
    Common::expand_matrices(
        *state.rows, state.count, [&](size_t i) { return state.items[i].a; },
        [&](size_t i) { return state.items[i].seeds; });
  }

  /// Samples s1 and s2 from rho'. [FIPS204, Alg 6, L4; Alg 33]
  static void expand_s(State& state) {
    constexpr size_t kBlocks = 2, kSeed = kDigestBytes + 2;
    const auto seed_of = [&](size_t stream, uint8_t* seed) {
      std::memcpy(seed, state.items[stream / (kL + kK)].seeds + kSeedBytes, kDigestBytes);
      seed[kDigestBytes] = static_cast<uint8_t>(stream % (kL + kK));
      seed[kDigestBytes + 1] = 0;
    };
    Common::template expand<Shake::Strength::kShake256, kSeed, kBlocks * kShake256Rate>(
        *state.rows, state.count * (kL + kK), seed_of, [&](size_t stream, const uint8_t* bytes) {
          auto& item = state.items[stream / (kL + kK)];
          const size_t i = stream % (kL + kK);
          Rejection poly(i < kL ? item.s1[i] : item.s2[i - kL]);
          poly.take_small<P.eta>({bytes, kBlocks * kShake256Rate});
          if (poly.full()) return;
          uint8_t seed[kSeed];
          seed_of(stream, seed);
          Common::template expand_rest<Shake::Strength::kShake256, kBlocks>(seed, poly, &Rejection::take_small<P.eta>);
          zeroize(seed, sizeof seed);
        });
  }

  /// Transforms s1. [FIPS204, Alg 6, L5]
  static void ntt_s1(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      std::memcpy(state.items[i].s1_hat, state.items[i].s1, sizeof state.items[i].s1);
      for (Poly& s : state.items[i].s1_hat)
        ntt(s);
    }
  }
  /// Computes A^ s1^. [FIPS204, Alg 6, L5]
  static void multiply_a_s1(State& state) {
    for (size_t i = 0; i < state.count; ++i)
      for (size_t row = 0; row < kK; ++row)
        multiply(state.items[i].t[row], state.items[i].a + row * kL, state.items[i].s1_hat, kL);
  }
  /// Transforms A^ s1^ back and adds s2, which gives t in [0, q). [FIPS204, Alg 6, L5]
  static void inverse_t(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      for (size_t row = 0; row < kK; ++row) {
        Poly& t = state.items[i].t[row];
        inverse_ntt(t);
        for (size_t j = 0; j < kN; ++j)
          t.c[j] = canonical(reduced(t.c[j] + state.items[i].s2[row].c[j]));
      }
    }
  }

  /// Splits t into t1 and t0, and stores pk and the part of sk that is t0. [FIPS204, Alg 6, L6-8]
  static void store_t(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      uint8_t* const pk = state.io.pk_out + i * P.public_key_bytes();
      uint8_t* const sk = state.io.sk_out + i * P.secret_key_bytes();
      std::memcpy(pk, state.items[i].seeds, kSeedBytes);
      for (size_t row = 0; row < kK; ++row) {
        Poly t1, t0;
        for (size_t j = 0; j < kN; ++j) {
          const HighLow split = power2_round(state.items[i].t[row].c[j]);
          t1.c[j] = split.high;
          t0.c[j] = split.low;
        }
        pack<kT1Bits>(pk + kSeedBytes + row * P.t1_bytes(), t1.c);
        pack_below<kD>(sk + P.t0_offset() + row * P.t0_bytes(), t0, 1 << (kD - 1));
      }
      ct::declassify(pk, P.public_key_bytes());
    }
  }

  /// Writes tr of the new public keys into sk. [FIPS204, Alg 6, L9]
  static void hash_new_pk(State& state) {
    Common::hash_public_keys({state.io.sk_out + P.tr_offset(), P.secret_key_bytes()},
                             {state.io.pk_out, P.public_key_bytes()}, state.count);
  }

  /// Stores rho, K, s1 and s2 in sk. [FIPS204, Alg 6, L10; Alg 24]
  static void store_sk(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      uint8_t* const sk = state.io.sk_out + i * P.secret_key_bytes();
      std::memcpy(sk, state.items[i].seeds, kSeedBytes);
      std::memcpy(sk + P.k_offset(), state.items[i].seeds + kSeedBytes + kDigestBytes, kSeedBytes);
      for (size_t j = 0; j < kL; ++j)
        pack_below<P.eta_bits()>(sk + P.s1_offset() + j * P.eta_bytes(), state.items[i].s1[j], P.eta);
      for (size_t j = 0; j < kK; ++j)
        pack_below<P.eta_bits()>(sk + P.s2_offset() + j * P.eta_bytes(), state.items[i].s2[j], P.eta);
    }
  }
};

template <MldsaParams P, InstructionSet Isa>
struct SignSteps : CommonSteps<P, Isa> {
  using Common = CommonSteps<P, Isa>;
  using State = SignState<P, Isa>;
  using Attempt = mldsa::Attempt<P>;
  using Common::kK, Common::kL;

  /// Makes rnd, mu and the seed of the masks of each item. [FIPS204, Alg 2, L5-8; Alg 7, L6-7]
  static void prepare_items(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      ct::declassify(sk_of(state, i) + P.tr_offset(), kDigestBytes);
      make_rnd(state, i);
    }
    Common::hash_messages(
        state.io, [&](size_t i) { return sk_of(state, i) + P.tr_offset(); },
        [&](size_t i) { return state.items[i].mu; });
    Common::template expand<Shake::Strength::kShake256, 2 * kSeedBytes + kDigestBytes, kDigestBytes>(
        *state.rows, state.count,
        [&](size_t i, uint8_t* in) {
          std::memcpy(in, sk_of(state, i) + P.k_offset(), kSeedBytes);
          std::memcpy(in + kSeedBytes, state.items[i].rnd, kSeedBytes);
          std::memcpy(in + 2 * kSeedBytes, state.items[i].mu, kDigestBytes);
        },
        [&](size_t i, const uint8_t* bytes) { std::memcpy(state.items[i].mask_seed, bytes, kDigestBytes); });
  }

  static void load_key(SecretKey<P>& key, const uint8_t* sk) {
    for (size_t j = 0; j < kL; ++j)
      load_small(key.s1[j], sk + P.s1_offset() + j * P.eta_bytes());
    for (size_t j = 0; j < kK; ++j)
      load_small(key.s2[j], sk + P.s2_offset() + j * P.eta_bytes());
    for (size_t j = 0; j < kK; ++j)
      unpack_below<kD>(key.t0[j], sk + P.t0_offset() + j * P.t0_bytes(), 1 << (kD - 1));
  }
  static void transform_key(SecretKey<P>& key) {
    for (SmallPoly& s : key.s1)
      Isa::small_ntt().forward(s.c);
    for (SmallPoly& s : key.s2)
      Isa::small_ntt().forward(s.c);
    for (Poly& t : key.t0)
      ntt(t);
  }

  // ---- A round of attempts

  /// Begins a round and loads the keys that are new in it. [FIPS204, Alg 7, L1; Alg 25]
  static void load_sk(State& state) {
    state.begin_round();
    each_new_key(state, load_key);
  }

  /// Transforms s1, s2 and t0 of the new keys. [FIPS204, Alg 7, L2-4]
  static void ntt_key(State& state) {
    each_new_key(state, [](SecretKey<P>& key, const uint8_t*) { transform_key(key); });
  }

  /// Samples A^ of the new keys from rho. [FIPS204, Alg 7, L5]
  static void expand_a(State& state) {
    each_new_key(state, [&](SecretKey<P>&, const uint8_t* sk) { ct::declassify(sk, kSeedBytes); });
    Common::expand_matrices(
        *state.rows, state.new_key_count, [&](size_t i) { return state.keys[state.new_keys[i]].a; },
        [&](size_t i) { return sk_of(state, state.slots[state.new_keys[i]].item); });
  }

  /// Expands y of each attempt. [FIPS204, Alg 7, L11; Alg 34]
  static void expand_mask(State& state) {
    Common::template expand<Shake::Strength::kShake256, kDigestBytes + 2, P.z_bytes()>(
        *state.rows, state.attempt_count * kL,
        [&](size_t stream, uint8_t* in) {
          const auto& attempt = state.attempts[stream / kL];
          const size_t nonce = attempt.kappa + stream % kL;
          std::memcpy(in, state.item_of(attempt).mask_seed, kDigestBytes);
          in[kDigestBytes] = static_cast<uint8_t>(nonce);
          in[kDigestBytes + 1] = static_cast<uint8_t>(nonce >> 8);
        },
        [&](size_t stream, const uint8_t* bytes) {
          unpack_below<P.z_bits()>(state.attempts[stream / kL].y[stream % kL], bytes, P.gamma1());
        });
  }

  /// Transforms y; y^ takes the place of z. [FIPS204, Alg 7, L12]
  static void ntt_y(State& state) {
    each_attempt(state, [](Attempt& attempt) {
      std::memcpy(attempt.z, attempt.y, sizeof attempt.y);
      for (Poly& z : attempt.z)
        ntt(z);
    });
  }
  /// Computes A^ y^. [FIPS204, Alg 7, L12]
  static void multiply_a_y(State& state) {
    each_attempt(state, [&](Attempt& attempt) {
      for (size_t row = 0; row < kK; ++row)
        multiply(attempt.w[row], key_of(state, attempt).a + row * kL, attempt.z, kL);
    });
  }
  /// Transforms A^ y^ back, which gives w. [FIPS204, Alg 7, L12]
  static void inverse_w(State& state) {
    each_attempt(state, [](Attempt& attempt) {
      for (Poly& w : attempt.w)
        inverse_ntt(w);
    });
  }

  /// Splits w into w1 and LowBits(w), and packs w1 behind mu. [FIPS204, Alg 7, L13, L15, L21]
  static void high_bits(State& state) {
    each_attempt(state, [&](Attempt& attempt) {
      for (size_t row = 0; row < kK; ++row) {
        for (size_t j = 0; j < kN; ++j) {
          const HighLow split = decompose<P.gamma2_part>(canonical(attempt.w[row].c[j]));
          attempt.w1[row].c[j] = split.high;
          attempt.w[row].c[j] = split.low;
        }
      }
      std::memcpy(attempt.mu_w1, state.item_of(attempt).mu, kDigestBytes);
      Common::pack_w1(attempt.mu_w1 + kDigestBytes, attempt.w1);
    });
  }

  /// Computes c~ of each attempt. [FIPS204, Alg 7, L15]
  static void hash_challenge(State& state) {
    Common::hash_challenges(*state.rows, state.attempt_count, [&](size_t i) -> Attempt& { return state.attempts[i]; });
    for (size_t i = 0; i < state.attempt_count; ++i)  // c~ is uniform, and so says nothing about w1
      ct::declassify(state.attempts[i].challenge, P.challenge_bytes());
  }

  /// Samples c of each attempt, and transforms it mod 3329. [FIPS204, Alg 7, L16-17]
  static void sample_challenge(State& state) {
    Common::sample_challenges(
        *state.rows, state.attempt_count, [&](size_t i) { return state.attempts[i].challenge; },
        [&](size_t i) -> Attempt& { return state.attempts[i]; });
    each_attempt(state, [](Attempt& attempt) {
      small_of(attempt.small_c, attempt.c);
      Isa::small_ntt().forward(attempt.small_c.c);
    });
  }

  /// Computes r0 and z, polynomial by polynomial, until one is too large. r0 comes first, since it fails more often.
  /// [FIPS204, Alg 7, L18-23]
  static void respond(State& state) {
    const Attempt* passed = nullptr;
    each_attempt(state, [&](Attempt& attempt) {
      if (passed != nullptr && passed->slot == attempt.slot) {
        attempt.status = AttemptStatus::kUnneeded;
        return;
      }
      for (size_t row = 0; row < kK && attempt.status == AttemptStatus::kOpen; ++row)
        subtract_c_s2(attempt, key_of(state, attempt).s2[row], attempt.w[row]);
      for (size_t j = 0; j < kL && attempt.status == AttemptStatus::kOpen; ++j)
        add_c_s1(attempt, key_of(state, attempt).s1[j], attempt.y[j], attempt.z[j]);
      if (attempt.status == AttemptStatus::kOpen) passed = &attempt;
    });
  }

  /// Computes c t0 and the hint. An attempt fails if c t0 is too large or the hint has too many ones.
  /// [FIPS204, Alg 7, L25-28]
  static void find_hint(State& state) {
    each_attempt(state, [&](Attempt& attempt) {
      int32_t too_large = 0, ones = 0;
      ntt(attempt.c);
      for (size_t row = 0; row < kK; ++row) {
        Poly product;
        multiply(product, &attempt.c, &key_of(state, attempt).t0[row]);
        inverse_ntt(product);
        for (size_t n = 0; n < kN; ++n)
          product.c[n] = centred_once(product.c[n]);
        too_large |= Common::mask_too_large(product, P.gamma2());
        for (size_t n = 0; n < kN; ++n) {
          attempt.hint[row].c[n] = make_hint<P.gamma2_part>(attempt.w1[row].c[n], attempt.w[row].c[n] + product.c[n]);
          ones += attempt.hint[row].c[n];
        }
      }
      reject_if(attempt, too_large | mask_negative(static_cast<int32_t>(P.omega) - ones));
    });
  }

  /// Packs the signatures of the attempts that have passed. [FIPS204, Alg 7, L33; Alg 26]
  static void store_signature(State& state) {
    each_attempt(state, [&](Attempt& attempt) {
      uint8_t* const out = state.io.sig_out + state.slot_of(attempt).item * P.signature_bytes();
      ct::declassify(attempt.z, sizeof attempt.z);
      ct::declassify(attempt.hint, sizeof attempt.hint);
      std::memcpy(out, attempt.challenge, P.challenge_bytes());
      for (size_t j = 0; j < kL; ++j)
        pack_below<P.z_bits()>(out + P.z_offset() + j * P.z_bytes(), attempt.z[j], P.gamma1());
      pack_hint<P>(out + P.hint_offset(), attempt.hint);
    });
  }

 private:
  static const uint8_t* sk_of(const State& state, size_t item) {
    return key_at(state.io, state.io.sk, item, P.secret_key_bytes());
  }
  static const SecretKey<P>& key_of(const State& state, const Attempt& attempt) { return *state.slot_of(attempt).key; }

  static void make_rnd(State& state, size_t i) {
    if (state.io.message.deterministic) {
      std::memset(state.items[i].rnd, 0, kSeedBytes);
    } else if (state.io.coins != nullptr) {
      std::memcpy(state.items[i].rnd, state.io.coins + i * kSeedBytes, kSeedBytes);
    } else {
      state.io.drbg->fill(state.items[i].rnd);
    }
  }

  static void multiply(Poly& out, const Poly* a, const Poly* b, size_t terms = 1) { mldsa::multiply(out, a, b, terms); }

  /// Calls f(key, record) for each key that is to be expanded.
  template <class F>
  static void each_new_key(State& state, F&& f) {
    for (size_t i = 0; i < state.new_key_count; ++i)
      f(state.keys[state.new_keys[i]], sk_of(state, state.slots[state.new_keys[i]].item));
  }

  /// Calls f(attempt) for each attempt that is still open.
  template <class F>
  static void each_attempt(State& state, F&& f) {
    for (size_t i = 0; i < state.attempt_count; ++i)
      if (state.attempts[i].status == AttemptStatus::kOpen) f(state.attempts[i]);
  }

  /// Converts coefficients in (-3329, 3329) to [0, 3329), which is what prim/ntt takes.
  static void small_of(SmallPoly& out, const Poly& a) {
    for (size_t n = 0; n < kN; ++n)
      out.c[n] = static_cast<uint16_t>(a.c[n] + (mask_negative(a.c[n]) & static_cast<int32_t>(ntt::kQ)));
  }
  static void load_small(SmallPoly& out, const uint8_t* in) {
    Poly s;
    unpack_below<Common::kEtaBits>(s, in, P.eta);
    small_of(out, s);
  }

  /// Computes the coefficients of c s, where s is a polynomial of s1 or s2.
  static void small_product(int32_t (&out)[kN], const Attempt& attempt, const SmallPoly& s) {
    SmallPoly product;
    Isa::small_ntt().multiply(product.c, attempt.small_c.c, s.c, 1);
    Isa::small_ntt().inverse(product.c);
    constexpr auto kHalf = static_cast<int32_t>(ntt::kQ / 2);
    for (size_t n = 0; n < kN; ++n)
      out[n] = product.c[n] - (mask_negative(kHalf - product.c[n]) & static_cast<int32_t>(ntt::kQ));
  }

  /// Turns LowBits(w) into r0 = LowBits(w) - c s2, which is LowBits(w - c s2) wherever both are in range.
  static void subtract_c_s2(Attempt& attempt, const SmallPoly& s2, Poly& w) {
    int32_t product[kN];
    small_product(product, attempt, s2);
    for (size_t n = 0; n < kN; ++n)
      w.c[n] -= product[n];
    reject_if(attempt, Common::mask_too_large(w, P.gamma2() - P.beta()));
  }

  /// Computes z = y + c s1.
  static void add_c_s1(Attempt& attempt, const SmallPoly& s1, const Poly& y, Poly& z) {
    int32_t product[kN];
    small_product(product, attempt, s1);
    for (size_t n = 0; n < kN; ++n)
      z.c[n] = y.c[n] + product[n];
    reject_if(attempt, Common::mask_too_large(z, P.gamma1() - P.beta()));
  }

  /// Rejects an attempt if `mask` is not 0. That an attempt fails, at which check and at which polynomial, is public.
  /// [DILITHIUM21, 5.5]
  static void reject_if(Attempt& attempt, int32_t mask) {
    ct::declassify(&mask, sizeof mask);
    if (mask != 0) attempt.status = AttemptStatus::kRejected;
  }
};

template <MldsaParams P, InstructionSet Isa>
struct VerifySteps : CommonSteps<P, Isa> {
  using Common = CommonSteps<P, Isa>;
  using State = VerifyState<P, Isa>;
  using Item = typename State::Item;
  using Common::kK, Common::kL;

  static void load_key(PublicKey<P>& key, const uint8_t* pk) {
    for (size_t row = 0; row < kK; ++row) {
      unpack<kT1Bits>(key.t1[row].c, pk + kSeedBytes + row * P.t1_bytes());
      for (int32_t& x : key.t1[row].c)
        x <<= kD;
    }
  }
  static void transform_key(PublicKey<P>& key) {
    for (Poly& t1 : key.t1)
      ntt(t1);
  }

  /// Loads z, the hint, and t1 of new keys, and notes whether z and the hint are well-formed.
  /// [FIPS204, Alg 8, L1-4; Alg 23, Alg 27]
  static void load(State& state) {
    for (size_t i = 0; i < state.new_keys(); ++i)
      load_key(state.items[i].key, pk_of(state, i));
    for (size_t i = 0; i < state.count; ++i) {
      Item& item = state.items[i];
      const uint8_t* const in = signature(state, i);
      int32_t too_large = 0;
      for (size_t j = 0; j < kL; ++j) {
        unpack_below<P.z_bits()>(item.z[j], in + P.z_offset() + j * P.z_bytes(), P.gamma1());
        too_large |= Common::mask_too_large(item.z[j], P.gamma1() - P.beta());
      }
      item.well_formed = unpack_hint<P>(item.hint, in + P.hint_offset()) && too_large == 0;
    }
  }

  /// Samples A^ of new keys from rho. [FIPS204, Alg 8, L5]
  static void expand_a(State& state) {
    Common::expand_matrices(
        *state.rows, state.new_keys(), [&](size_t i) { return state.items[i].key.a; },
        [&](size_t i) { return pk_of(state, i); });
  }

  /// Computes tr of new keys, unless the messages are mu. [FIPS204, Alg 8, L6]
  static void hash_pk(State& state) {
    if (state.new_keys() == 0 || state.io.message.kind == MessageKind::kMu) return;
    Common::hash_public_keys({state.items[0].key.tr, sizeof(Item)}, {state.io.pk, P.public_key_bytes()},
                             state.new_keys());
  }

  /// Computes mu. [FIPS204, Alg 8, L7]
  static void hash_message(State& state) {
    Common::hash_messages(
        state.io, [&](size_t i) { return state.key(i).tr; }, [&](size_t i) { return state.items[i].mu_w1; });
  }

  /// Samples c from c~ of the signature. [FIPS204, Alg 8, L8]
  static void sample_challenge(State& state) {
    Common::sample_challenges(
        *state.rows, state.count, [&](size_t i) { return signature(state, i); },
        [&](size_t i) -> Item& { return state.items[i]; });
  }

  /// Transforms c, z, and t1 of new keys. [FIPS204, Alg 8, L9]
  static void ntt_z_t1(State& state) {
    for (size_t i = 0; i < state.new_keys(); ++i)
      transform_key(state.items[i].key);
    for (size_t i = 0; i < state.count; ++i) {
      ntt(state.items[i].c);
      for (Poly& z : state.items[i].z)
        ntt(z);
    }
  }
  /// Computes A^ z^ - c^ t1^. [FIPS204, Alg 8, L9]
  static void multiply_a_z(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      for (size_t row = 0; row < kK; ++row) {
        Poly product;
        multiply(state.items[i].w[row], state.key(i).a + row * kL, state.items[i].z, kL);
        multiply(product, &state.items[i].c, &state.key(i).t1[row], 1);
        for (size_t n = 0; n < kN; ++n)
          state.items[i].w[row].c[n] = reduced(state.items[i].w[row].c[n] - product.c[n]);
      }
    }
  }
  /// Transforms A^ z^ - c^ t1^ back, which gives w'. [FIPS204, Alg 8, L9]
  static void inverse_w(State& state) {
    for (size_t i = 0; i < state.count; ++i)
      for (Poly& w : state.items[i].w)
        inverse_ntt(w);
  }

  /// Computes w1' from w' and the hint, and packs it behind mu. [FIPS204, Alg 8, L10]
  static void use_hints(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      Item& item = state.items[i];
      for (size_t row = 0; row < kK; ++row)
        for (size_t n = 0; n < kN; ++n)
          item.w[row].c[n] = use_hint<P.gamma2_part>(canonical(item.w[row].c[n]), item.hint[row].c[n]);
      Common::pack_w1(item.mu_w1 + kDigestBytes, item.w);
    }
  }

  /// Computes c~' from mu and w1'. [FIPS204, Alg 8, L12]
  static void hash_challenge(State& state) {
    Common::hash_challenges(*state.rows, state.count, [&](size_t i) -> Item& { return state.items[i]; });
  }

  /// Sets the status of items whose signature is malformed or whose c~' is not c~. [FIPS204, Alg 8, L13]
  static void compare(State& state) {
    for (size_t i = 0; i < state.count; ++i) {
      const bool equal = std::memcmp(state.items[i].challenge, signature(state, i), P.challenge_bytes()) == 0;
      if (!equal || !state.items[i].well_formed) state.io.item_status[i] = Status::kSignature;
    }
  }

 private:
  static const uint8_t* pk_of(const State& state, size_t key) { return state.io.pk + key * P.public_key_bytes(); }
  static const uint8_t* signature(const State& state, size_t i) { return state.io.sig + i * P.signature_bytes(); }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mldsa
