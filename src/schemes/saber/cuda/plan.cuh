// SPDX-License-Identifier: Apache-2.0
// The launch lists of Saber: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <array>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/batch_records.cuh"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/saber/cuda/hash_warp.cuh"
#include "schemes/saber/cuda/product.cuh"
#include "schemes/saber/stages.hpp"

namespace polykem::saber::cuda {

using polykem::cuda::Launcher;

/// The blocks of a kernel of several tasks (A, hashes, noise): a task has a block for 32 items or, in the kernels for
/// small batches of hash_warp.cuh, for one.
struct BlockCounts {
  bool small_batch;
  size_t each;
  explicit BlockCounts(size_t items)
      : small_batch(polykem::cuda::has_few_messages(items)),
        each(small_batch ? items : polykem::cuda::blocks_for(items, 32)) {}
};

/// Expands keys. pk and sk are their records; for public keys, sk has no base.
template <class Set, bool kSecret>
void launch_expand(Launcher& to, uint8_t* expanded, Records pk, Records sk, size_t keys) {
  using ExpandedKey = typename Shape<Set>::ExpandedKey;
  constexpr size_t kBytes = kSecret ? ExpandedKey::kSecretBytes : ExpandedKey::kPublicBytes;
  Work work{};
  work.count = keys;
  work.pk = pk;
  work.sk = sk;
  to.hash(expand_a_kernel<Set>, warp_expand_a_kernel<Set>, keys, expanded, kBytes, work);
  if constexpr (!kSecret) to.hash(expand_hash_kernel<Set>, warp_expand_hash_kernel<Set>, keys, expanded, kBytes, work);
  to.launch(copy_parts_kernel<Set, kSecret>, keys, 32, expanded, kBytes, work);
}

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class Set>
struct LaunchContext : polykem::cuda::BatchContext {
  using S = Shape<Set>;
  using ExpandedKey = typename S::ExpandedKey;

  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream) {
    allocate(workspace, op);
  }

  /// True if the one key of all items is a record, to be expanded before its use.
  bool expands_key() const { return io.shared_key && io.expanded.data == nullptr; }
  /// Returns how many blocks make A: none if the keys are expanded.
  uint32_t blocks_of_a(const BlockCounts& blocks) const {
    return work.keys.data != nullptr ? 0 : static_cast<uint32_t>(blocks.each);
  }

  Work work{};
  uint8_t* expanded_key = nullptr;  ///< the expanded form of the one key

 private:
  /// Allocates the intermediates. A is public.
  void allocate(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, io.count);
    const auto words = [&](ItemWords& out, size_t each) {
      out = {arena.take<uint32_t>(each * sizeof(uint32_t)), io.count};
    };
    work.noise = arena.take<uint8_t>(S::kNoiseBytes);
    if (op == Op::kKeygen) {
      words(work.seed_a, 8);
      words(work.seed_s, 8);
      words(work.z, 8);
    } else {
      words(work.m, 8);
      words(work.secret, 8);
    }
    if (op == Op::kDecaps) {
      words(work.ct_hash, 8);
      words(work.fail, 1);
    }
    polykem::cuda::DeviceArena one(workspace + arena.used(), 1);
    if (op != Op::kKeygen)
      expanded_key = one.take<uint8_t>(op == Op::kEncaps ? ExpandedKey::kPublicBytes : ExpandedKey::kSecretBytes);
    polykem::cuda::take_records<S>(work, work.pk, io, S::kPkOffset);
    work.keys = polykem::cuda::expanded_keys(io, reinterpret_cast<const std::byte*>(expanded_key));
    work.a = take_public<uint8_t>(workspace, arena.used() + one.used(), io.count, S::kMatrixBytes);
  }
};

template <class Set>
struct Plan {
  using S = Shape<Set>;
  using Context = LaunchContext<Set>;

  template <bool kSecret>
  static void expand_shared(Context& context) {
    if (context.expands_key())
      launch_expand<Set, kSecret>(context.to, context.expanded_key, context.work.pk, context.work.sk, 1);
  }
  /// Launches a kernel in which a warp computes an item.
  static void by_warp(Context& context, void (*kernel)(Work)) {
    context.to.launch(kernel, context.count(), 32, context.work);
  }

  // ---- keygen

  static void make_seeds(Context& context) {
    context.to.hash(make_seeds_kernel<Set>, warp_make_seeds_kernel<Set>, context.count(), context.work);
  }
  static void expand_seeds(Context& context) {
    const BlockCounts blocks(context.count());
    context.to.launch(blocks.small_batch ? warp_expand_seeds_kernel<Set> : expand_seeds_kernel<Set>, 2 * blocks.each,
                      32, context.work, static_cast<uint32_t>(blocks.each));
  }
  static void multiply_keys(Context& context) { by_warp(context, keygen_kernel<Set>); }
  static void hash_new_pk(Context& context) {
    context.to.hash(hash_new_pk_kernel<Set>, warp_hash_new_pk_kernel<Set>, context.count(), context.work);
  }

  // ---- encaps

  static void hash_encaps(Context& context) {
    expand_shared<false>(context);
    const BlockCounts blocks(context.count());
    const uint32_t of_a = context.blocks_of_a(blocks);
    context.to.launch(blocks.small_batch ? warp_hash_encaps_kernel<Set> : hash_encaps_kernel<Set>, of_a + blocks.each,
                      32, context.work, of_a);
  }
  static void encrypt(Context& context) { by_warp(context, encrypt_kernel<Set>); }
  static void derive_encaps(Context& context) {
    context.to.hash(derive_encaps_kernel<Set>, warp_derive_encaps_kernel<Set>, context.count(), context.work);
  }

  // ---- decaps

  static void decrypt(Context& context) {
    expand_shared<true>(context);
    by_warp(context, decrypt_kernel<Set>);
  }
  static void hash_decaps(Context& context) {
    const BlockCounts blocks(context.count());
    const uint32_t of_a = context.blocks_of_a(blocks);
    context.to.launch(blocks.small_batch ? warp_hash_decaps_kernel<Set> : hash_decaps_kernel<Set>,
                      of_a + 2 * blocks.each, 32, context.work, of_a, static_cast<uint32_t>(blocks.each));
  }
  static void compare(Context& context) { by_warp(context, compare_kernel<Set>); }
  static void derive_decaps(Context& context) {
    context.to.hash(derive_decaps_kernel<Set>, warp_derive_decaps_kernel<Set>, context.count(), context.work);
  }

  // ---- the lists

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins_shake128", "randombytes", "shake128"}, field::kCoins, 0, make_seeds},
      {{"gen_matrix_gen_secret", "gen_matrix", "gen_secret"}, 0, 0, expand_seeds},
      {{"matrix_vector_mul_round_tobytes", "matrix_vector_mul", "round_tobytes"},
       0,
       field::kPkOut | field::kSkOut,
       multiply_keys},
      {"sha3_256.pk", 0, field::kSkOut, hash_new_pk},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, Context>({
      {{"coins_sha3_gen", "randombytes", "gen_secret"}, field::kCoins | field::kPk, 0, hash_encaps},
      {{"matrix_vector_mul_round_tobytes", "matrix_vector_mul", "round_tobytes"}, field::kPk, field::kCtOut, encrypt},
      {"sha3_256.c", 0, field::kSsOut, derive_encaps},
  });
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, Context>({
      {{"frombytes_inner_prod_tomsg", "frombytes", "tomsg"}, field::kSk | field::kCt, 0, decrypt},
      {with_ahead({"sha3_gen", "sha3_512", "gen_secret"}, "sha3_256.c"), field::kSk | field::kCt, 0, hash_decaps},
      {{"matrix_vector_mul_round_compare", "matrix_vector_mul", "round_compare"}, field::kSk | field::kCt, 0, compare},
      {"cmov", field::kSk, field::kSsOut, derive_decaps},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  /// The number of items whose hashes, a thread each, keep a device busy: four warps for each multiprocessor.
  static constexpr size_t kItemsToFillDevice = polykem::cuda::kMeasuredMultiprocessors * 128;

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr SaberParams kP = S::kParams;
    constexpr size_t kCoins = kOp == Op::kKeygen ? kKeygenCoinBytes : kOp == Op::kEncaps ? kEncapsCoinBytes : 0;
    return {.scheme = Set::kName,
            .op = kOp,
            .record_bytes = {kP.public_key_bytes(), kP.secret_key_bytes(), kP.ciphertext_bytes(), kSymBytes, kCoins},
            .steps = Operations::template kSteps<kOp>,
            .part_items = kItemsToFillDevice,
            .busy_part_items = 0,
            .staged_bytes = size_t{4} << 20,
            .min_items = 1024,
            .max_items = kMaxItems,
            .workspace_bytes = Operations::template workspace_bytes<kOp>,
            .secret_bytes = Operations::template secret_bytes<kOp>,
            .tiles = nullptr,
            .run_step = Operations::template run_step<kOp>};
  }

  // ---- key sets

  static size_t expand_workspace_bytes(size_t) { return 0; }
  template <bool kSecret>
  static int expand(std::byte* out, const uint8_t* keys, size_t count, std::byte*, void* stream) {
    Launcher to{static_cast<cudaStream_t>(stream)};
    const Records records{keys, static_cast<uint32_t>(kSecret ? S::kSecretKeyBytes : S::kPublicKeyBytes)};
    const Records pk = kSecret ? Records{keys + S::kPkOffset, records.stride} : records;
    launch_expand<Set, kSecret>(to, reinterpret_cast<uint8_t*>(out), pk, kSecret ? records : Records{nullptr, 0},
                                count);
    return static_cast<int>(to.error);
  }
};

template <class Set>
constexpr DeviceScheme device_scheme() {
  using P = Plan<Set>;
  using ExpandedKey = typename Shape<Set>::ExpandedKey;
  return {.name = Set::kName,
          .operations = {P::template operation<Op::kKeygen>(), P::template operation<Op::kEncaps>(),
                         P::template operation<Op::kDecaps>()},
          .expanded_public_key = {ExpandedKey::kPublicBytes, P::expand_workspace_bytes, P::template expand<false>},
          .expanded_secret_key = {ExpandedKey::kSecretBytes, P::expand_workspace_bytes, P::template expand<true>}};
}

}  // namespace polykem::saber::cuda
