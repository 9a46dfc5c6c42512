// SPDX-License-Identifier: Apache-2.0
// The launch lists of ML-DSA: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <algorithm>
#include <array>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/batch_records.cuh"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/mldsa/cuda/finish.cuh"
#include "schemes/mldsa/stages.hpp"

namespace polykem::mldsa::cuda {

/// Up to this number of items, a block signs each one from the first attempt on.
inline constexpr size_t kFewSigned = 2048;
/// The approximate number of items that rounds of attempts leave to finish_kernel: more would take longer there than
/// another round.
inline constexpr double kLeftToFinish = 1024;
inline constexpr uint32_t kMaxRounds = 64;
/// The largest number of blocks of finish_kernel: 16 for each multiprocessor.
inline constexpr size_t kFinishBlocks = 16 * polykem::cuda::kMeasuredMultiprocessors;

using polykem::cuda::Launcher;

inline DeviceStrings device_strings(const Strings& strings) {
  return {strings.data, reinterpret_cast<const uint64_t*>(strings.offsets), strings.width, strings.shared};
}

inline DeviceMessages device_messages(const Messages& messages) {
  DeviceMessages result{.strings = device_strings(messages.strings),
                        .contexts = device_strings(messages.contexts),
                        .is_mu = messages.kind == MessageKind::kMu,
                        .is_digest = messages.kind == MessageKind::kDigest,
                        .deterministic = messages.deterministic,
                        .oid_bytes = static_cast<uint32_t>(messages.digest_oid.size()),
                        .oid = {}};
  for (size_t i = 0; i < messages.digest_oid.size(); ++i)
    result.oid[i / 8] |= uint64_t{messages.digest_oid[i]} << (8 * (i % 8));
  return result;
}

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class Set>
struct LaunchContext : polykem::cuda::BatchContext {
  using S = Shape<Set>;
  static constexpr size_t kMatrixBytes = S::kEntries * kN * sizeof(uint32_t);

  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream) {
    allocate(workspace, op);
    work.count = io.count;
    work.coin_seed = io.seed;
    work.coins = io.coins;
    work.one_key = io.shared_key;
    work.pk = {io.pk, io.shared_key ? 0u : static_cast<uint32_t>(S::kPublicKeyBytes)};
    work.sk = {io.sk, io.shared_key ? 0u : static_cast<uint32_t>(S::kSecretKeyBytes)};
    work.signature = {io.sig, static_cast<uint32_t>(S::kSignatureBytes)};
    work.messages = device_messages(io.message);
    work.pk_out = io.pk_out, work.sk_out = io.sk_out, work.signature_out = io.sig_out;
    static_assert(sizeof(Status) == sizeof(int));
    work.status = reinterpret_cast<int*>(io.item_status);
  }

  static bool is_few(size_t items) { return polykem::cuda::is_few(items, kFewSigned); }
  /// Returns the number of rounds, in each of which all items that have no signature yet make an attempt.
  static uint32_t rounds(size_t items) {
    if (is_few(items)) return 0;
    uint32_t rounds = 1;
    for (auto left = static_cast<double>(items); left > kLeftToFinish && rounds < kMaxRounds; ++rounds)
      left *= 1 - 1 / S::kAttempts;
    return rounds;
  }
  static size_t finish_blocks(size_t items) { return std::min(items, kFinishBlocks); }

  bool is_round() const { return tile < rounds(io.count); }
  bool is_last_tile() const { return tile + 1 >= rounds(io.count); }
  uint32_t round() const { return static_cast<uint32_t>(tile); }

  Work work{};
  size_t tile = 0;

 private:
  /// Allocates the intermediates. A is public, and so is all that a verification computes.
  void allocate(std::byte* workspace, Op op) {
    work.a = take_public<uint32_t>(workspace, allocate_secrets(workspace, op), io.count, kMatrixBytes);
    if (op == Op::kVerify) secret_bytes = 0;
  }

  size_t allocate_secrets(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, io.count);
    const auto words = [&](ItemWords& out, size_t each) {
      out = {arena.take<uint32_t>(each * sizeof(uint32_t)), io.count};
    };
    if (op == Op::kKeygen) {
      work.s = arena.take<uint8_t>((S::kK + S::kL) * kN);
      words(work.rho, kSeedWords);
      words(work.secret_seed, kDigestWords);
      words(work.k, kSeedWords);
      return arena.used();
    }
    words(work.mu, kDigestWords);
    if (op == Op::kVerify) {
      work.valid = arena.take<uint32_t>(sizeof(uint32_t));
      return arena.used() + allocate_attempts(workspace + arena.used(), io.count, op);
    }
    words(work.mask_seed, kDigestWords);
    for (uint32_t*& items : work.unsigned_items)
      items = arena.take<uint32_t>(sizeof(uint32_t));
    polykem::cuda::DeviceArena one(workspace + arena.used(), 1);
    work.unsigned_counts = one.take<uint32_t>((kMaxRounds + 1) * sizeof(uint32_t));
    const size_t used = arena.used() + one.used();
    // This is enough for any choice of kernels, so that a test's choice does not change what is reserved.
    const size_t attempts = std::max(io.count, kBlockItems * finish_blocks(io.count));
    return used + allocate_attempts(workspace + used, attempts, op);
  }

  size_t allocate_attempts(std::byte* workspace, size_t attempts, Op op) {
    polykem::cuda::DeviceArena arena(workspace, attempts);
    work.mu_w1 = arena.take<uint8_t>(S::kMuW1Bytes);
    work.challenge_poly = arena.take<uint32_t>(kChallengePolyWords * sizeof(uint32_t));
    if (op == Op::kVerify) return arena.used();
    work.challenge = arena.take<uint32_t>(kDigestBytes);
    work.y = arena.take<uint32_t>(S::kL * S::kMaskWords * sizeof(uint32_t));
    work.w = arena.take<int32_t>(S::kK * kN * sizeof(int32_t));
    return arena.used();
  }
};

template <class Set>
struct Plan {
  using S = Shape<Set>;
  using Context = LaunchContext<Set>;
  static_assert(kMaxItems * S::kEntries <= size_t{1} << 31);

  static void expand_a(Context& context, const SeedArray& rho) {
    const size_t entries = context.keys() * S::kEntries;
    context.to.by_lane(expand_a_kernel<Set>, entries, context.work.a, rho, static_cast<uint32_t>(entries));
  }

  // ---- keygen

  static void make_seeds(Context& context) {
    context.to.by_lane(make_seeds_kernel<Set>, context.count(), context.work);
  }
  static void expand_new_a(Context& context) {
    expand_a(context, {reinterpret_cast<const uint8_t*>(context.work.rho.base), 4, 4 * context.count()});
  }
  static void expand_s(Context& context) {
    context.to.by_lane(expand_s_kernel<Set>, context.count() * (S::kK + S::kL), context.work);
  }
  static void multiply(Context& context) {
    context.to.by_block(keygen_kernel<Set>, context.count(), kBlockItems, kThreads, context.work);
  }
  static void hash_new_pk(Context& context) {
    context.to.by_lane(hash_new_pk_kernel<Set>, context.count(), context.work);
  }

  // ---- sign

  static void prepare_sign(Context& context) {
    context.to.by_lane(prepare_sign_kernel<Set>, context.count(), context.work, Context::rounds(context.count()));
  }
  static void expand_sk_a(Context& context) { expand_a(context, {context.work.sk.base, context.work.sk.stride, 4}); }
  static void expand_mask(Context& context) {
    if (context.is_round())
      context.to.by_lane(expand_mask_kernel<Set>, context.count() * S::kL, context.work, context.round());
  }
  static void commitment(Context& context) {
    if (context.is_round())
      context.to.by_block(commitment_kernel<Set>, context.count(), kBlockItems, kThreads, context.work,
                          context.round());
  }
  static void challenge(Context& context) {
    if (context.is_round()) context.to.by_lane(challenge_kernel<Set>, context.count(), context.work, context.round());
  }
  static void response(Context& context) {
    if (context.is_round()) context.to.launch(response_kernel<Set>, context.count(), 32, context.work, context.round());
    if (context.is_last_tile())
      context.to.launch(finish_kernel<Set>, Context::finish_blocks(context.count()), kThreads, context.work,
                        Context::rounds(context.count()));
  }

  // ---- verify

  static void expand_pk_a(Context& context) { expand_a(context, {context.work.pk.base, context.work.pk.stride, 4}); }
  static void prepare_verify(Context& context) {
    context.to.by_lane(prepare_verify_kernel<Set>, context.count(), context.work);
  }
  static void multiply_and_hint(Context& context) {
    context.to.by_block(verify_kernel<Set>, context.count(), kBlockItems, kThreads, context.work);
  }
  static void compare(Context& context) { context.to.by_lane(compare_kernel<Set>, context.count(), context.work); }

  // ---- the lists. Keys are unpacked and transformed in the kernels that multiply by them.

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins_seed", "randombytes", "shake256.seed"}, field::kCoins, 0, make_seeds},
      {"expand_a", 0, 0, expand_new_a},
      {"expand_s", 0, 0, expand_s},
      {with_ahead({"ntt_multiply_pack", "ntt", "power2round_pack"}, "pack_sk"), 0, field::kPkOut | field::kSkOut,
       multiply},
      {"shake256.tr", field::kPkOut, field::kSkOut, hash_new_pk},
  });

  static constexpr auto sign = kernel_plan_of<kSignStages, Context>({
      {with_ahead({"coins_mu_seed", "randombytes"}, "shake256.mu", "shake256.seed"), field::kCoins | field::kSk, 0,
       prepare_sign},
      {{"expand_a", "unpack_sk", "expand_a"}, field::kSk, 0, expand_sk_a},
      {tiled("expand_mask"), 0, 0, expand_mask},
      {tiled({"ntt_multiply_decompose", "ntt.y", "high_bits"}), field::kSk, 0, commitment},
      {tiled({"shake256_sample_in_ball", "shake256.c", "sample_in_ball"}), 0, 0, challenge},
      {tiled({"response_hint_pack", "response", "pack_signature"}), field::kSk, field::kSigOut | field::kItemStatus,
       response},
  });

  static constexpr auto verify = kernel_plan_of<kVerifyStages, Context>({
      {{"expand_a", "unpack", "expand_a"}, field::kPk, 0, expand_pk_a},
      {{"shake256_sample_in_ball", "shake256.tr", "sample_in_ball"}, field::kPk | field::kSig, 0, prepare_verify},
      {{"ntt_multiply_hint", "ntt", "use_hint"}, field::kPk | field::kSig, 0, multiply_and_hint},
      {{"shake256_compare", "shake256.c", "compare"}, field::kSig, field::kItemStatus, compare},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  /// The number of items whose hashes, a thread each, keep a device busy: four warps for each multiprocessor. Parts
  /// that are signed have four times as many, since few are left in their last rounds.
  static constexpr size_t kItemsToFillDevice = polykem::cuda::kMeasuredMultiprocessors * 128;

  static size_t tiles(const DeviceBatch& batch) { return std::max(1u, Context::rounds(batch.count)); }

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr MldsaParams kP = S::kParams;
    return {.scheme = Set::kName,
            .op = kOp,
            .record_bytes = {kP.public_key_bytes(), kP.secret_key_bytes(), 0, 0, kOp == Op::kVerify ? 0 : kSeedBytes,
                             kP.signature_bytes()},
            .steps = Operations::template kSteps<kOp>,
            .part_items = kOp == Op::kSign ? 4 * kItemsToFillDevice : kItemsToFillDevice,
            .part_bytes = kOp == Op::kSign ? size_t{1} << 30 : 0,
            .staged_bytes = size_t{kOp == Op::kSign ? 256 : 8} << 20,
            .min_items = kOp == Op::kSign ? kItemsToFillDevice : 1024,
            .max_items = kMaxItems,
            .workspace_bytes = Operations::template workspace_bytes<kOp>,
            .secret_bytes = Operations::template secret_bytes<kOp>,
            .tiles = kOp == Op::kSign ? tiles : nullptr,
            .run_step = Operations::template run_step<kOp>};
  }
};

template <class Set>
constexpr DeviceScheme device_scheme() {
  using P = Plan<Set>;
  DeviceScheme scheme{.name = Set::kName, .operations = {}};
  scheme.operations[static_cast<size_t>(Op::kKeygen)] = P::template operation<Op::kKeygen>();
  scheme.operations[static_cast<size_t>(Op::kSign)] = P::template operation<Op::kSign>();
  scheme.operations[static_cast<size_t>(Op::kVerify)] = P::template operation<Op::kVerify>();
  scheme.hash_of_key_at = Shape<Set>::kTrOffset;
  return scheme;
}

}  // namespace polykem::mldsa::cuda
