// SPDX-License-Identifier: Apache-2.0
// NTRU's launch lists: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/ntru/cuda/dpke.cuh"
#include "schemes/ntru/cuda/inverse.cuh"
#include "schemes/ntru/cuda/kernels.cuh"
#include "schemes/ntru/cuda/quotient.cuh"
#include "schemes/ntru/polyinv/cuda/inverse_tree.cuh"
#include "schemes/ntru/stages.hpp"

namespace polykem::ntru::cuda {

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class Set>
struct LaunchContext : polykem::cuda::BatchContext {
  using S = Shape<Set>;
  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream), tree(batch.count) {
    use_secret(allocate(workspace, op));
  }

  Records pk() const { return {io.pk, io.shared_key ? 0u : static_cast<uint32_t>(S::kPublicKeyBytes)}; }
  Records sk() const { return {io.sk, io.shared_key ? 0u : static_cast<uint32_t>(S::kSecretKeyBytes)}; }
  Records ct() const { return {io.ct, static_cast<uint32_t>(S::kCiphertextBytes)}; }
  /// Returns the number of blocks for a kernel in which each warp computes an item.
  static size_t blocks(size_t items) { return polykem::cuda::blocks_for(items, kWarps); }
  size_t blocks() const { return blocks(io.count); }
  static size_t sample_blocks(size_t items) { return polykem::cuda::blocks_for(items, kSampleItems<Set>); }

  const polykem::cuda::InverseTree<S::kRow> tree;  ///< for key generation
  uint8_t *coins = nullptr, *rm = nullptr, *r = nullptr, *m = nullptr;
  uint32_t* fail = nullptr;
  ZeroMasks* zero = nullptr;
  uint8_t *a = nullptr, *b = nullptr, *x = nullptr, *nodes = nullptr, *v = nullptr;
  uint8_t *inverse_f = nullptr, *nodes_f = nullptr;

 private:
  /// Allocates the intermediates and returns how many bytes they take. Buffers that are no longer needed are reused,
  /// which keeps the workspace, and what is zeroized after it, small.
  size_t allocate(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, op == Op::kKeygen ? tree.rows() : io.count);
    if (op == Op::kEncaps) {
      r = arena.take<uint8_t>(S::kRow);
      m = arena.take<uint8_t>(S::kRow);
    }
    if (op != Op::kKeygen) rm = arena.take<uint8_t>(S::kRmStride);
    if (op == Op::kDecaps) {
      fail = arena.take<uint32_t>(sizeof(uint32_t));
      return arena.used();
    }
    coins = arena.take<uint8_t>(op == Op::kEncaps ? S::kCoinStride : std::max(S::kCoinStride, 5 * S::kRow));
    if (op == Op::kEncaps) return arena.used();
    uint8_t* row = coins;
    for (uint8_t** array : {&x, &nodes, &v, &inverse_f, &nodes_f})
      *array = std::exchange(row, row + arena.items() * S::kRow);
    a = arena.take<uint8_t>(S::kRow);
    b = arena.take<uint8_t>(S::kRow);
    zero = arena.take<ZeroMasks>(sizeof(ZeroMasks));
    return arena.used();
  }
};

template <class Set>
struct Plan {
  using S = Shape<Set>;
  using Context = LaunchContext<Set>;
  using MulKind = polykem::cuda::MulKind;
  // The largest grids: a product has a block for each item or row of the tree, the generator has one block for 32
  // blocks of bytes.
  static_assert(polykem::cuda::InverseTree<S::kRow>(kMaxItems).rows() <= polykem::cuda::kMaxBlocks);
  static_assert(kMaxItems * polykem::cuda::coin_blocks(S::kKeygenCoinBytes) / 32 < polykem::cuda::kMaxBlocks);

  /// Computes c = a b mod (2^8, x^n - 1), or mod (3, Phi_n) for products of kind kS3.
  static void multiply(Context& context, MulKind kind, uint8_t* c, const uint8_t* a, const uint8_t* b, size_t rows) {
    context.to.keep(polykem::cuda::launch_byte_mul(kind, S::kParams.n, a, b, c, rows, context.to.stream));
  }
  /// Computes the inverses of `a` by the tree, with products of `kind`. nodes: overwritten.
  template <class Invert>
  static void invert_all(Context& context, MulKind kind, uint8_t* inverses, const uint8_t* a, uint8_t* nodes,
                         Invert invert) {
    context.tree.run(
        inverses, a, nodes,
        [&context, kind](uint8_t* c, const uint8_t* x, const uint8_t* y, size_t rows) {
          multiply(context, kind, c, x, y, rows);
        },
        [&context, kind](uint8_t* c, const uint8_t* x, const uint8_t* y, size_t rows) {
          context.to.keep(
              polykem::cuda::launch_byte_mul_crosswise(kind, S::kParams.n, x, y, c, rows, context.to.stream));
        },
        invert);
  }

  // ---- keygen. The arrays hold a = f, b = G / 3, x = G f / 3 mod 2^8 and v = 3 / (G f) mod 2^8; all but a and b
  // overwrite the coins. The computation of 1/f shares no row with that of v, so that both may run at once. The
  // quotients h = G / f and 1/h = f / G follow from v.

  template <int kBytes>
  static void make_coins(Context& context, polykem::cuda::CoinDomain domain) {
    if (context.io.coins != nullptr) {
      context.to.keep(cudaMemcpy2DAsync(context.coins, S::kCoinStride, context.io.coins, kBytes, kBytes,
                                        context.count(), cudaMemcpyDeviceToDevice, context.to.stream));
    } else {
      const size_t blocks = context.count() * polykem::cuda::coin_blocks(kBytes);
      context.to.launch(coin_kernel<Set, kBytes>, polykem::cuda::blocks_for(blocks, 32), 32, context.coins,
                        context.io.seed, domain, context.count());
    }
  }
  static void make_keygen_coins(Context& context) {
    make_coins<S::kKeygenCoinBytes>(context, polykem::cuda::CoinDomain::kKeygen);
  }

  static void sample_fg(Context& context) {
    const size_t rows = context.tree.rows();
    context.to.launch(sample_fg_kernel<Set>, Context::sample_blocks(rows), kThreads, context.a, context.b, context.zero,
                      context.io.sk_out, context.coins, context.count(), rows);
  }
  static void invert_f(Context& context) {
    const polykem::cuda::GraphBranch branch;
    invert_all(context, MulKind::kS3, context.inverse_f, context.a, context.nodes_f,
               [&context](uint8_t* v, const uint8_t* a, size_t rows) {
                 context.to.launch(invert_mod3_kernel<Set>, Context::blocks(rows), kThreads, v, a, rows);
               });
  }
  static void store_f(Context& context) {
    const polykem::cuda::GraphBranch branch;
    context.to.launch(store_f_kernel<Set>, context.blocks(), kThreads, context.io.sk_out, context.a, context.inverse_f,
                      context.zero, context.count());
  }
  static void mul_Gf(Context& context) {
    multiply(context, MulKind::kBytes, context.x, context.b, context.a, context.tree.rows());
  }
  static void invert_Gf(Context& context) {
    invert_all(context, MulKind::kBytes, context.v, context.x, context.nodes,
               [&context](uint8_t* v, const uint8_t* x, size_t rows) {
                 context.to.launch(invert_bytes_kernel<Set>, polykem::cuda::blocks_for(rows, kByteWarps),
                                   32 * kByteWarps, v, x, rows);
               });
  }
  static void store_invh(Context& context) {
    context.to.launch(pack_invh_kernel<Set>, context.count(), 32, context.io.sk_out, context.a, context.v, context.b,
                      context.zero);
  }
  static void store_h(Context& context) {
    context.to.launch(pack_h_kernel<Set>, context.count(), 32, context.io.pk_out, context.a, context.v, context.b,
                      context.zero);
  }

  // ---- encaps

  static void make_encaps_coins(Context& context) {
    make_coins<S::kEncapsCoinBytes>(context, polykem::cuda::CoinDomain::kEncaps);
  }
  static void sample_rm(Context& context) {
    context.to.launch(sample_rm_kernel<Set>, Context::sample_blocks(context.count()), kThreads, context.r, context.m,
                      context.rm, context.coins, context.count());
  }
  static void hash_rm(Context& context) {
    context.to.by_lane(hash_rm_kernel<Set>, context.count(), context.io.ss_out, context.rm, context.count());
  }
  static void encrypt(Context& context) {
    context.to.launch(encrypt_kernel<Set>, context.count(), 32, context.io.ct_out, context.pk(), context.r, context.m);
  }

  // ---- decaps

  static void decrypt_m(Context& context) {
    context.to.launch(decrypt_m_kernel<Set>, context.count(), 32, context.rm, context.fail, context.ct(), context.sk());
  }
  static void decrypt_r(Context& context) {
    context.to.launch(decrypt_r_kernel<Set>, context.count(), 32, context.rm, context.fail, context.ct(), context.sk());
  }
  static void hash_select(Context& context) {
    context.to.by_lane(hash_select_kernel<Set>, context.count(), context.io.ss_out, context.rm, context.fail,
                       context.sk(), context.io.ct, context.count());
  }

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_keygen_coins},
      {"sample_fg", 0, field::kSkOut, sample_fg},
      {{"invert_mod3", "poly_S3_inv"}, 0, 0, invert_f},
      {{"pack_f_lift", "poly_S3_tobytes", "poly_Z3_to_Zq"}, 0, field::kSkOut, store_f},
      {{"mul_Gf", "poly_Rq_mul.Gf"}, 0, 0, mul_Gf},
      {{"invert_mod_q", "poly_Rq_inv"}, 0, 0, invert_Gf},
      {{"mul_invh_pack", "poly_Rq_mul.vf", "poly_Sq_tobytes"}, 0, field::kSkOut, store_invh},
      {{"mul_h_pack", "poly_Rq_mul.vG", "poly_Rq_sum_zero_tobytes"}, 0, field::kPkOut, store_h},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, Context>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_encaps_coins},
      {{"sample_rm_pack", "sample_rm", "poly_S3_tobytes"}, 0, 0, sample_rm},
      {"sha3_256", 0, field::kSsOut, hash_rm},
      {{"dpke_encrypt", "poly_Rq_sum_zero_frombytes", "poly_Rq_sum_zero_tobytes"}, field::kPk, field::kCtOut, encrypt},
  });
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, Context>({
      {{"dpke_decrypt_m", "frombytes", "poly_S3_mul"}, field::kSk | field::kCt, 0, decrypt_m},
      {{"dpke_decrypt_r", "poly_lift_sub", "poly_S3_tobytes"}, field::kSk | field::kCt, 0, decrypt_r},
      {{"sha3_256_select", "sha3_256", "cmov"}, field::kSk | field::kCt, field::kSsOut, hash_select},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  /// kPartItems items fill an H200; key generation's kernels need more of them. At most kStagedBytes of pageable
  /// records are copied at a time, which suits a host with 16 threads. docs/adr/0006 and 0009 have the measurements.
  template <Op kOp>
  static constexpr size_t kPartItems = kOp == Op::kKeygen   ? 20480
                                       : kOp == Op::kEncaps ? 7168
                                                            : 12288;
  template <Op kOp>
  static constexpr size_t kStagedBytes = (kOp == Op::kKeygen ? size_t{8} : size_t{4}) << 20;
  static constexpr size_t kMinItems = 1024;

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr NtruParams kP = S::kParams;
    constexpr size_t kCoins = kOp == Op::kKeygen   ? kP.keygen_coin_bytes()
                              : kOp == Op::kEncaps ? kP.encaps_coin_bytes()
                                                   : 0;
    return {.scheme = Set::kName,
            .op = kOp,
            .record_bytes = {kP.public_key_bytes(), kP.secret_key_bytes(), kP.ciphertext_bytes(), kP.kSharedSecretBytes,
                             kCoins},
            .steps = Operations::template kSteps<kOp>,
            .part_items = kPartItems<kOp>,
            .staged_bytes = kStagedBytes<kOp>,
            .min_items = kMinItems,
            .max_items = kMaxItems,
            .workspace_bytes = Operations::template workspace_bytes<kOp>,
            .tiles = nullptr,
            .run_step = Operations::template run_step<kOp>};
  }
};

template <class Set>
constexpr DeviceScheme device_scheme() {
  using P = Plan<Set>;
  return {.name = Set::kName,
          .operations = {P::template operation<Op::kKeygen>(), P::template operation<Op::kEncaps>(),
                         P::template operation<Op::kDecaps>()}};
}

}  // namespace polykem::ntru::cuda
