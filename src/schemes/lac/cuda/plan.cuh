// SPDX-License-Identifier: Apache-2.0
// The launch lists of LAC: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <array>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/batch_records.cuh"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/lac/cuda/code.cuh"
#include "schemes/lac/cuda/gen_a.cuh"
#include "schemes/lac/cuda/hash.cuh"
#include "schemes/lac/cuda/products.cuh"
#include "schemes/lac/stages.hpp"

namespace polykem::lac::cuda {

/// The largest batch that every operation can run at once: blocks and groups of the PRG are counted in 32 bits.
inline constexpr size_t kMaxItems = size_t{1} << 27;

inline constexpr int kATableBytes = static_cast<int>(polykem::cuda::kAesPairBytes);

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class S>
struct LaunchContext : polykem::cuda::BatchContext {
  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream) {
    polykem::cuda::take_records<S>(work, work.pk, io, S::kN);
    allocate(workspace, op);
  }

  /// Makes kBlocks blocks of the PRG for each of `streams` seeds of each item.
  template <int kBlocks, class Keys, class Out>
  void expand(Keys keys, Out out, size_t items, uint32_t streams) {
    to.launch(prg_kernel<kBlocks, Keys, Out>,
              polykem::cuda::blocks_for(groups_of(items) * streams, kPrgGroups<kBlocks>), 32, keys, out, items,
              streams);
  }

  /// Launches a kernel that makes a of `keys` keys by tables.
  template <class Kernel, class Keys>
  void stream_a(Kernel kernel, Keys keys, size_t count) {
    to.launch_with_shared_memory(kATableBytes, kernel, polykem::cuda::blocks_for(count * kAThreadsOfKey, kAThreads),
                                 kAThreads, work.a, keys, count);
  }

  Work work{};

 private:
  /// Allocates the intermediates. a is public; a single key takes as many of its rows as the keys of all items would.
  void allocate(std::byte* workspace, Op op) {
    const size_t secrets = allocate_secrets(workspace, op);
    work.a = {take_public<uint8_t>(workspace, secrets, groups_of(io.count), kGroup * S::kN), S::kN};
    if (op != Op::kKeygen && io.shared_key) work.a.stride = 0;
  }

  /// Returns the number of bytes.
  size_t allocate_secrets(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, groups_of(io.count));
    const auto blocks = [&](ItemBlocks& out, int each) {
      out = {arena.take<uint4>(kGroup * sizeof(uint4) * static_cast<size_t>(each)), static_cast<uint32_t>(each)};
    };
    const auto rows = [&](Rows& out, int bytes) {
      out = {arena.take<uint8_t>(kGroup * static_cast<size_t>(bytes)), static_cast<uint32_t>(bytes)};
    };
    blocks(work.seed, 2);
    blocks(work.seeds, S::kSeedBlocks);
    blocks(work.positions, 2 * S::kPositionBlocks);
    constexpr uint32_t kMasks = S::kN / 64;
    blocks(work.secret, 2 * kMasks);  // and the noise behind the secrets
    work.secret.blocks = kMasks;
    work.noise = {work.secret.base + kGroup * arena.items() * kMasks, kMasks};
    if (op == Op::kKeygen) return arena.used();
    blocks(work.m, 2);
    blocks(work.stream, S::kNoise2Blocks);
    blocks(work.noise2, S::kC2Words);
    if (op == Op::kDecaps) {
      blocks(work.rejected, 2);
      rows(work.code, 64);
      work.fail = arena.take<uint32_t>(kGroup * sizeof(uint32_t));
    }
    return arena.used();
  }
};

/// kIndex: the set's index in kSets. S: the set's shape, or that of the set with the same kernels but for the noise e2.
template <class S, size_t kIndex>
struct Plan {
  static constexpr const char* kName = kSets[kIndex].name;
  static constexpr bool kMisplacesTail = kSets[kIndex].misplaces_tail;
  using Context = LaunchContext<S>;
  static constexpr int kSeedS = 1, kSeedR = 0, kSeedE2 = 2;  ///< indices among an item's seeds

  // ---- shared

  static void expand_seeds(Context& context) {
    using Out = ToBlocks<S::kSeedBlocks>;
    context.template expand<S::kSeedBlocks>(BlockKeys{context.work.seed, 0}, Out{context.work.seeds}, context.count(),
                                            1);
  }
  template <class Keys>
  static void gen_a_of(Context& context, Keys keys, size_t count) {
    context.stream_a(stream_a_kernel<S::kN, Keys>, keys, count);
    context.to.by_lane(reject_a_kernel<S::kN, Keys>, count, context.work.a, keys, count);
  }
  template <int kFirstSeed>
  static void sample_fixed(Context& context) {
    using Out = ToBlocks<S::kPositionBlocks>;
    context.template expand<S::kPositionBlocks>(BlockKeys{context.work.seeds, 2 * kFirstSeed},
                                                Out{context.work.positions}, context.count(), 2);
    context.to.launch(sample_fixed_kernel<S>, 2 * groups_of(context.count()), 32, context.work, kFirstSeed);
  }

  // ---- keygen

  static void make_seed(Context& context) { context.to.by_lane(make_seed_kernel<S>, context.count(), context.work); }
  static void gen_a_of_seeds(Context& context) { gen_a_of(context, BlockKeys{context.work.seeds, 0}, context.count()); }
  static void multiply_keys(Context& context) {
    context.to.launch(keygen_kernel<S>, context.count(), 32, context.work);
  }

  // ---- encaps

  static void make_m(Context& context) { context.to.by_lane(make_m_kernel<S>, context.count(), context.work); }
  static void gen_a(Context& context) { gen_a_of(context, RecordKeys{context.work.pk}, context.keys()); }
  static void sample_e2(Context& context) {
    using Out = ToBlocks<S::kNoise2Blocks>;
    context.template expand<S::kNoise2Blocks>(BlockKeys{context.work.seeds, 2 * kSeedE2}, Out{context.work.stream},
                                              context.count(), 1);
  }
  template <bool kCompare>
  static void encrypt(Context& context) {
    context.to.by_lane(encode_kernel<S, kMisplacesTail>, context.count(), context.work);
    context.to.launch(encrypt_kernel<S, kCompare>, context.count(), 32, context.work);
  }
  static void hash_ss(Context& context) {
    context.to.by_lane(hash_ss_kernel<S::kCiphertextBytes, false>, context.count(), context.work,
                       Records{context.work.ct_out, S::kCiphertextBytes}, false);
  }

  // ---- decaps

  static void decrypt(Context& context) { context.to.launch(decrypt_kernel<S>, context.count(), 32, context.work); }
  static void decode(Context& context) { context.to.by_lane(decode_kernel<S>, context.count(), context.work); }
  static void hash_m(Context& context) { context.to.by_lane(hash_m_kernel<S>, context.count(), context.work); }
  static void hash_reject_ss(Context& context) {
    context.to.by_lane(hash_secret_kernel<S::kN>, context.keys(), context.work.rejected, context.work.sk,
                       context.keys());
    context.to.by_lane(hash_ss_kernel<S::kCiphertextBytes, true>, context.count(), context.work, context.work.ct,
                       context.io.shared_key);
  }

  // ---- the lists

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_seed},
      {"prg", 0, 0, expand_seeds},
      {"gen_a", 0, 0, gen_a_of_seeds},
      {"gen_psi_fix", 0, 0, sample_fixed<kSeedS>},
      {{"poly_aff_tobytes", "poly_aff", "tobytes"}, 0, field::kPkOut | field::kSkOut, multiply_keys},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, Context>({
      {{"coins_sha256", "randombytes", "sha256.m"}, field::kCoins, 0, make_m},
      {"prg", 0, 0, expand_seeds},
      {"gen_a", field::kPk, 0, gen_a},
      {"gen_psi_fix", 0, 0, sample_fixed<kSeedR>},
      {"gen_psi", 0, 0, sample_e2},
      {{"encrypt", "poly_aff.c1", "compress"}, field::kPk, field::kCtOut, encrypt<false>},
      {"sha256.ss", 0, field::kSsOut, hash_ss},
  });
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, Context>({
      {{"decrypt", "decompress", "demodulate"}, field::kSk | field::kCt, 0, decrypt},
      {"ecc_dec", 0, 0, decode},
      {"sha256.m", 0, 0, hash_m},
      {"prg", 0, 0, expand_seeds},
      {"gen_a", field::kSk, 0, gen_a},
      {"gen_psi_fix", 0, 0, sample_fixed<kSeedR>},
      {"gen_psi", 0, 0, sample_e2},
      {{"encrypt_compare", "poly_aff.c1", "compress_compare"}, field::kSk | field::kCt, 0, encrypt<true>},
      {{"sha256.reject_ss", "sha256.reject", "sha256.ss"}, field::kSk | field::kCt, field::kSsOut, hash_reject_ss},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  /// The number of items that keeps a device busy in steps with a warp for 32 items: eight warps for each
  /// multiprocessor.
  static constexpr size_t kItemsToFillDevice = polykem::cuda::kMeasuredMultiprocessors * 8 * kGroup;

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr size_t kCoins = kOp == Op::kDecaps ? 0 : kSeedBytes;
    return {.scheme = kName,
            .op = kOp,
            .record_bytes = {S::kPublicKeyBytes, S::kSecretKeyBytes, S::kCiphertextBytes, kSeedBytes, kCoins},
            .steps = Operations::template kSteps<kOp>,
            .part_items = kItemsToFillDevice,
            .staged_bytes = size_t{4} << 20,
            .min_items = 1024,
            .max_items = kMaxItems,
            .workspace_bytes = Operations::template workspace_bytes<kOp>,
            .secret_bytes = Operations::template secret_bytes<kOp>,
            .tiles = nullptr,
            .run_step = Operations::template run_step<kOp>};
  }
};

/// Returns the scheme of a set. kIndex: the set's index in kSets. A set and the one whose generator is mended have
/// their kernels in common, but for the noise e2.
template <size_t kIndex>
constexpr DeviceScheme device_scheme() {
  constexpr size_t kCommon = kIndex % 3;
  static_assert(kSets[kIndex].n == kSets[kCommon].n && kSets[kIndex].weight == kSets[kCommon].weight &&
                kSets[kIndex].errors == kSets[kCommon].errors && kSets[kIndex].d2 == kSets[kCommon].d2);
  using P = Plan<Shape<kCommon>, kIndex>;
  return {.name = P::kName,
          .operations = {P::template operation<Op::kKeygen>(), P::template operation<Op::kEncaps>(),
                         P::template operation<Op::kDecaps>()},
          .shared_bytes = kATableBytes};
}

}  // namespace polykem::lac::cuda
