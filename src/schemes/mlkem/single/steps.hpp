// SPDX-License-Identifier: Apache-2.0
// The steps of one item that differ from mlkem/steps.hpp: what needs only the item's inputs is hashed in the same
// permutations as its matrix.
#pragma once

#include "core/operations.hpp"
#include "schemes/mlkem/record_bytes.hpp"
#include "schemes/mlkem/single/arithmetic.hpp"
#include "schemes/mlkem/single/kem.hpp"

namespace polykem::mlkem::single {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InstructionSet Isa>
struct Steps : mlkem::Steps<P, Arithmetic<P, Isa>> {
  using Arithmetic = single::Arithmetic<P, Isa>;
  static_assert(mlkem::Arithmetic<Arithmetic>);
  static constexpr Dims kDims = P;
  static constexpr size_t kK = P.k;
  static constexpr size_t kPkBlocks = decltype(HashSpace<kDims>::pk)::kBlocks;
  static constexpr size_t kRejectBlocks = decltype(HashSpace<kDims>::reject)::kBlocks;
  static constexpr size_t kRound3Blocks = decltype(HashSpace<kDims>::round3)::kBlocks;
  using State = typename Arithmetic::State;

  /// True if the last entries of the matrix leave states for the noise beside them.
  static constexpr bool kNoiseOverlapsMatrix = MatrixSampler<kK>::kRest > 0;

  static void sample_a_se(State& state) {
    static_assert(sizeof(Polys<kDims>) >= sizeof(Squeezed));  // prf, which follows Polys, is in use too
    auto& work = state.work;
    MatrixSampler<kK> sampler(work.own.pk.rows, work.fo.seeds[0], false, work.hash.squeezed);
    sampler.template sample_with_noise<2 * kK, P.eta1 - 1>(work.states, work.poly.prf[0], sizeof work.poly.prf[0],
                                                           work.fo.seeds[0] + kSymBytes);
    Arithmetic::template sample_from_rows<P.eta1, kK>(state);
  }

  static void hash_pk_sample_a(State& state) {
    if (state.expanded()) return;
    auto& work = state.work;
    const uint8_t* const pk = state.pk_in().data;
    ct::declassify(pk, P.public_key_bytes());
    Arithmetic::hash_sample_a(work.own.pk, pk, work.hash, work.states);
  }

  /// Samples A^T and, beside it, computes the hash of z and c or, for round 3, of c. For ML-KEM, also compares the hash
  /// of pk with the stored one; both are public. [FIPS203, 7.3]
  static void hash_inputs_sample_a(State& state) {
    auto& work = state.work;
    if (state.expanded()) return Steps::hash_c(state);
    const uint8_t *const sk = state.io.sk, *const pk = state.pk_in().data;
    ct::declassify(pk, P.public_key_bytes() + kSymBytes);
    MatrixSampler<kK> sampler(work.own.pk.rows, pk + P.vector_bytes(), true, work.hash.squeezed);
    if constexpr (P.kyber()) {
      work.hash.round3.set(state.io.ct, 0, state.io.ct, polykem::keccak::kSha3Suffix);
      sampler.template sample_overlapped<kRound3Blocks, 1>(work.states, {work.hash.round3.bytes});
      store_digest(work.fo.kdf[0] + kSymBytes, work.states, 0);
    } else {
      static_assert(kRejectBlocks == kPkBlocks);
      work.hash.pk.set(pk, 0, pk, polykem::keccak::kSha3Suffix);
      work.hash.reject.set(sk + P.z_offset(), kSymBytes, state.io.ct, polykem::keccak::kShakeSuffix);
      sampler.template sample_overlapped<kPkBlocks, 2>(work.states, {work.hash.pk.bytes, work.hash.reject.bytes});
      store_digest(work.own.pk.hash, work.states, 0);
      store_digest(work.fo.kdf[0], work.states, 1);
    }
    Steps::check_hashes(state);
  }
};

/// Runs the plans of the items one after the other, so that their working memory stays in the nearest cache. Only the
/// hashes that end keygen and round 3's encaps are computed for several items side by side.
template <MlkemParams P, InstructionSet Isa, size_t kMinTogether>
struct SingleOperations {
  using ItemSteps = Steps<P, Isa>;
  using State = typename ItemSteps::State;
  using Single = Operations<Kem<ItemSteps>, State>;
  static constexpr size_t kItemsPerVector = 1;
  template <Op kOp>
  static constexpr size_t kItems = 1;
  template <Op kOp>
  static constexpr auto kInfos = Single::template kInfos<kOp>;

  /// The number of bytes that each item of round 3's encaps keeps for its last step: K, H(c).
  template <Op kOp>
  static constexpr size_t kKeptBytes = P.kyber() && kOp == Op::kEncaps ? 2 * kSymBytes : 0;
  /// True if the last step is computed for all items at once when there are kMinTogether or more.
  template <Op kOp>
  static constexpr bool kEndsTogether = kOp == Op::kKeygen || kKeptBytes<kOp> != 0;

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return Single::template workspace_bytes<kOp>(1) + Arena::bytes<uint8_t>(items * kKeptBytes<kOp>);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    const auto item = [&](size_t i) { return Batch{batch.slice(record_bytes<P>(kOp), i, 1), batch.drbg}; };
    if constexpr (kEndsTogether<kOp>) {
      if (batch.count >= kMinTogether) return run_together<kOp>(batch, item, workspace, times);
    }
    for (size_t i = 0; i < batch.count; ++i) {
      const Status status = Single::template run<kOp>(nullptr, item(i), workspace, times);
      if (status != Status::kOk) return status;
    }
    return Status::kOk;
  }

 private:
  template <Op kOp, class Item>
  static Status run_together(const Batch& batch, Item&& item, std::byte* workspace, StepTimes* times) {
    constexpr const auto& plan = Single::template plan<kOp>();
    Arena arena(workspace);
    auto* const single_workspace = arena.take<std::byte>(Single::template workspace_bytes<kOp>(1));
    auto* const kept = arena.take<uint8_t>(batch.count * kKeptBytes<kOp>);
    for (size_t i = 0; i < batch.count; ++i) {
      const Batch alone = item(i);
      State state(alone, single_workspace);
      run_all_but_last(plan, state, times);
      if constexpr (kKeptBytes<kOp> != 0) std::memcpy(kept + i * kKeptBytes<kOp>, state.fo().seeds[0], kSymBytes);
    }
    StepClock clock(times);
    end_together<kOp>(batch, kept);
    clock.stop(plan.size() - 1, batch.count);
    return Status::kOk;
  }

  /// Computes the last step for all items: hash_new_pk, or store_ss of round 3.
  template <Op kOp>
  static void end_together(const Batch& batch, uint8_t* kept) {
    static_assert(Single::template plan<kOp>().back().run ==
                  (kOp == Op::kKeygen ? ItemSteps::hash_new_pk : ItemSteps::store_ss));
    const KeccakFunctions& keccak = Isa::keccak();
    if constexpr (kOp == Op::kKeygen) {
      keccak.sha3_256({batch.sk_out + P.hash_offset(), P.secret_key_bytes()}, {batch.pk_out, P.public_key_bytes()},
                      P.public_key_bytes(), batch.count);
    } else {
      constexpr size_t kBytes = kKeptBytes<kOp>;
      keccak.sha3_256({kept + kSymBytes, kBytes}, {batch.ct_out, P.ciphertext_bytes()}, P.ciphertext_bytes(),
                      batch.count);
      keccak.shake256({batch.ss_out, kSymBytes}, kSymBytes, {kept, kBytes}, kBytes, batch.count);
    }
  }
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::single
