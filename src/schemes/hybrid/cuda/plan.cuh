// SPDX-License-Identifier: Apache-2.0
// The launch lists of the hybrids: the steps of ML-KEM on rows of its own records, X25519 and what joins them.
#pragma once

#include <algorithm>
#include <array>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "prim/ecdh/cuda/x25519.cuh"
#include "schemes/hybrid/cuda/kernels.cuh"
#include "schemes/hybrid/stages.hpp"
#include "schemes/mlkem/cuda/mlkem_cuda.hpp"

namespace polykem::hybrid::cuda {

inline const DeviceOperation& kem_operation(Op op) {
  return mlkem::cuda::kMlkem768Device.operation(op);
}

/// Rows of the items of a batch, in the workspace; nullptr where the operation has none. A shared key has one row.
struct Rows {
  SeedRows seed;           ///< d and z, or m; the scalar
  uint32_t *ek, *dk, *ct;  ///< ML-KEM's records
  uint32_t* points;        ///< the points of new keys or of ciphertexts; in decapsulation, those of the keys
  uint32_t *kem_secrets, *curve_secrets, *masks;
  int* kem_status;
  std::byte* kem_workspace;
};

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class S>
struct LaunchContext : polykem::cuda::BatchContext {
  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream) {
    allocate(workspace, op);
  }

  /// Returns the array of keys that are rows or records of `bytes` bytes.
  Records key_records(const void* base, int bytes) const {
    return {static_cast<const uint8_t*>(base), io.shared_key ? 0u : static_cast<uint32_t>(bytes)};
  }

  /// Runs all steps of an operation of ML-KEM. Only the records of its batch have been set.
  void run_kem(Op op, DeviceBatch kem) {
    const DeviceOperation& operation = kem_operation(op);
    kem.overlapped = io.overlapped;
    for (size_t step = 0; step < operation.steps.size() && to.error == cudaSuccess; ++step)
      to.error = static_cast<cudaError_t>(operation.run_step(step, 0, kem, rows.kem_workspace, to.stream));
  }
  /// Multiplies points by scalars, or the base point if points.base is nullptr.
  void run_curve(uint32_t* out, Records scalars, Records points, size_t items) {
    constexpr int kThreads = polykem::cuda::kX25519Threads;
    to.launch(points.base == nullptr ? polykem::cuda::x25519_kernel<false> : polykem::cuda::x25519_kernel<true>,
              polykem::cuda::blocks_for(items, kThreads), kThreads, out, scalars, points, items);
  }
  template <int kBytes>
  void take(uint32_t* to_rows, Records from, size_t items) {
    to.launch(take_rows_kernel<kBytes>, polykem::cuda::blocks_for(items, kCopyItems), kCopyThreads, to_rows, from,
              items);
  }
  template <int kFirst>
  void join(uint8_t* out, const uint32_t* first, const uint32_t* second, const uint32_t* masks) {
    to.launch(join_rows_kernel<kFirst>, polykem::cuda::blocks_for(count(), kCopyItems), kCopyThreads, out, first,
              second, masks, count());
  }

  Rows rows{};

 private:
  /// Allocates the intermediates, those of ML-KEM last, and of them what is public.
  void allocate(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, io.count);
    const auto take = [&](uint32_t*& row, size_t bytes) { row = arena.take<uint32_t>(bytes); };
    const bool makes_keys = op == Op::kKeygen || (S::kHpke && op == Op::kDecaps);
    if (makes_keys || op == Op::kEncaps) {
      take(rows.seed.kem, makes_keys ? kKemCoinBytes : kKemEncapsCoinBytes);
      take(rows.seed.scalars, kCurveBytes);
      take(rows.ek, S::kEkBytes);
      take(rows.points, kCurveBytes);
    }
    if (op != Op::kEncaps) take(rows.dk, S::kDkBytes);
    if (op != Op::kKeygen) {
      take(rows.ct, S::kCtBytes);
      take(rows.kem_secrets, kSymBytes);
      take(rows.curve_secrets, kCurveBytes);
      take(rows.masks, sizeof(uint32_t));
      rows.kem_status = arena.take<int>(sizeof(int));
    }
    rows.kem_workspace = workspace + arena.used();
    use_secret(arena.used());
    for (const Op kem : {op, makes_keys ? Op::kKeygen : op}) {
      secret_bytes = std::max(secret_bytes, arena.used() + kem_operation(kem).zeroized_bytes(io.count));
      workspace_bytes = std::max(workspace_bytes, arena.used() + kem_operation(kem).workspace_bytes(io.count));
    }
  }
};

template <size_t kIndex>
struct Plan {
  using S = Shape<kIndex>;
  using Context = LaunchContext<S>;

  static const uint8_t* bytes_of(const uint32_t* rows) { return reinterpret_cast<const uint8_t*>(rows); }
  static uint8_t* bytes_of(uint32_t* rows) { return reinterpret_cast<uint8_t*>(rows); }

  // ---- keys

  static void make_kem_keys(Context& context) {
    DeviceBatch kem;
    kem.count = context.keys();
    kem.coins = bytes_of(context.rows.seed.kem);
    kem.pk_out = bytes_of(context.rows.ek);
    kem.sk_out = bytes_of(context.rows.dk);
    context.run_kem(Op::kKeygen, kem);
  }
  /// Makes a point from each scalar.
  static void make_points(Context& context, size_t items) {
    context.run_curve(context.rows.points, {bytes_of(context.rows.seed.scalars), kCurveBytes}, {nullptr, 0}, items);
  }

  // ---- keygen

  static void make_keygen_coins(Context& context) {
    context.to.by_lane(keygen_coin_kernel<S>, context.count(), context.rows.seed, context.io.sk_out, context.io.coins,
                       context.io.seed, context.count());
  }
  static void join_keys(Context& context) {
    make_points(context, context.count());
    context.template join<S::kEkBytes>(context.io.pk_out, context.rows.ek, context.rows.points, nullptr);
    if constexpr (!S::kHpke)
      context.template join<S::kDkBytes>(context.io.sk_out, context.rows.dk, context.rows.seed.scalars, nullptr);
  }

  // ---- encaps

  static void make_encaps_coins(Context& context) {
    context.to.by_lane(encaps_coin_kernel<S>, context.count(), context.rows.seed, context.io.coins, context.io.seed,
                       context.count());
  }
  static void kem_encaps(Context& context) {
    context.template take<S::kEkBytes>(context.rows.ek, context.key_records(context.io.pk, S::kPublicKeyBytes),
                                       context.keys());
    DeviceBatch kem;
    kem.count = context.count();
    kem.shared_key = context.io.shared_key;
    kem.coins = bytes_of(context.rows.seed.kem);
    kem.pk = bytes_of(context.rows.ek);
    kem.ct_out = bytes_of(context.rows.ct);
    kem.ss_out = bytes_of(context.rows.kem_secrets);
    kem.item_status = reinterpret_cast<Status*>(context.rows.kem_status);
    context.run_kem(Op::kEncaps, kem);
  }
  static void make_ephemerals(Context& context) { make_points(context, context.count()); }
  static Records recipients(const Context& context) {
    return context.key_records(context.io.pk + S::kEkBytes, S::kPublicKeyBytes);
  }
  static void derive_encaps(Context& context) {
    context.run_curve(context.rows.curve_secrets, {bytes_of(context.rows.seed.scalars), kCurveBytes},
                      recipients(context), context.count());
  }
  static void combine_encaps(Context& context) {
    combine<Status::kPublicKey>(context, {bytes_of(context.rows.points), kCurveBytes}, recipients(context));
    context.template join<S::kCtBytes>(context.io.ct_out, context.rows.ct, context.rows.points, context.rows.masks);
  }

  // ---- decaps

  static void expand_keys(Context& context) {
    const Records keys = context.key_records(context.io.sk, S::kSecretKeyBytes);
    if constexpr (S::kHpke) {
      context.to.by_lane(expand_seed_kernel<S>, context.keys(), context.rows.seed, keys, context.keys());
      make_kem_keys(context);
      make_points(context, context.keys());
    } else {
      context.template take<S::kDkBytes>(context.rows.dk, keys, context.keys());
    }
  }
  static void kem_decaps(Context& context) {
    context.template take<S::kCtBytes>(context.rows.ct, {context.io.ct, S::kCiphertextBytes}, context.count());
    DeviceBatch kem;
    kem.count = context.count();
    kem.shared_key = context.io.shared_key;
    kem.sk = bytes_of(context.rows.dk);
    kem.ct = bytes_of(context.rows.ct);
    kem.ss_out = bytes_of(context.rows.kem_secrets);
    kem.item_status = reinterpret_cast<Status*>(context.rows.kem_status);
    context.run_kem(Op::kDecaps, kem);
  }
  static Records ephemerals(const Context& context) { return {context.io.ct + S::kCtBytes, S::kCiphertextBytes}; }
  static void derive_decaps(Context& context) {
    const Records scalars = S::kHpke ? context.key_records(context.rows.seed.scalars, kCurveBytes)
                                     : context.key_records(context.io.sk + S::kDkBytes, S::kSecretKeyBytes);
    context.run_curve(context.rows.curve_secrets, scalars, ephemerals(context), context.count());
  }
  static void combine_decaps(Context& context) {
    combine<Status::kCiphertext>(context, ephemerals(context), context.key_records(context.rows.points, kCurveBytes));
  }

  template <Status kInvalid>
  static void combine(Context& context, Records ephemeral, Records recipient) {
    const Secrets secrets{context.rows.kem_secrets,
                          context.rows.curve_secrets,
                          context.rows.kem_status,
                          ephemeral,
                          recipient,
                          context.io.ss_out,
                          reinterpret_cast<int*>(context.io.item_status),
                          context.rows.masks};
    context.to.by_lane(combine_kernel<S, kInvalid>, context.count(), secrets, context.count());
  }

  // ---- the lists

  static constexpr Fields kCoinsKept = S::kHpke ? field::kSkOut : 0;
  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins_expand", "randombytes", "expand_seed"}, field::kCoins, kCoinsKept, make_keygen_coins},
      {"kem_keygen", 0, 0, make_kem_keys},
      {"ecdh_keygen", 0, S::kHpke ? field::kPkOut : field::kPkOut | field::kSkOut, join_keys},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, Context>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_encaps_coins},
      {"kem_encaps", field::kPk, 0, kem_encaps},
      {"ecdh_keygen", 0, 0, make_ephemerals},
      {"ecdh_derive", field::kPk, 0, derive_encaps},
      {"combine", field::kPk, field::kCtOut | field::kSsOut | field::kItemStatus, combine_encaps},
  });
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, Context>({
      {"expand_seed", field::kSk, 0, expand_keys},
      {"kem_decaps", field::kCt, 0, kem_decaps},
      {"ecdh_derive", field::kSk | field::kCt, 0, derive_decaps},
      {"combine", field::kCt, field::kSsOut | field::kItemStatus, combine_decaps},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr HybridParams kP = S::kParams;
    constexpr size_t kCoins = kOp == Op::kKeygen   ? kP.keygen_coin_bytes()
                              : kOp == Op::kEncaps ? kP.encaps_coin_bytes()
                                                   : 0;
    return {
        .scheme = kP.name,
        .op = kOp,
        .record_bytes = {S::kPublicKeyBytes, S::kSecretKeyBytes, S::kCiphertextBytes, S::kSharedSecretBytes, kCoins},
        .steps = Operations::template kSteps<kOp>,
        .part_items = polykem::cuda::kMeasuredMultiprocessors * polykem::cuda::kX25519Wave,
        .staged_bytes = size_t{4} << 20,
        .min_items = 1024,
        .max_items = mlkem::cuda::kMaxItems,
        .workspace_bytes = Operations::template workspace_bytes<kOp>,
        .secret_bytes = Operations::template secret_bytes<kOp>,
        .tiles = nullptr,
        .run_step = Operations::template run_step<kOp>};
  }
};

template <size_t kIndex>
constexpr DeviceScheme device_scheme() {
  using P = Plan<kIndex>;
  return {.name = kSets[kIndex].name,
          .operations = {P::template operation<Op::kKeygen>(), P::template operation<Op::kEncaps>(),
                         P::template operation<Op::kDecaps>()}};
}

}  // namespace polykem::hybrid::cuda
