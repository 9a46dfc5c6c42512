// SPDX-License-Identifier: Apache-2.0
// NTRU's launch lists: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <algorithm>
#include <array>

#include "core/device.hpp"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/launch.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/ntru/cuda/dpke.cuh"
#include "schemes/ntru/cuda/inverse.cuh"
#include "schemes/ntru/cuda/kernels.cuh"
#include "schemes/ntru/polyinv/cuda/inverse_tree.cuh"
#include "schemes/ntru/stages.hpp"

namespace polykem::ntru::cuda {

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class Set>
struct LaunchContext {
  using S = Shape<Set>;
  static constexpr size_t kRowBytes = sizeof(uint16_t) * S::kRow;

  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t s, Op op)
      : io(batch), stream(s), tree(batch.count) {
    allocate(workspace, op);
  }

  static size_t workspace_bytes(size_t items, Op op) {
    DeviceBatch batch;
    batch.count = items;
    LaunchContext context(batch);
    return context.allocate(nullptr, op);
  }

  cudaError_t failure() const { return error; }
  size_t count() const { return io.count; }
  Records pk() const { return {io.pk, io.shared_key ? 0u : static_cast<uint32_t>(S::kPublicKeyBytes)}; }
  Records sk() const { return {io.sk, io.shared_key ? 0u : static_cast<uint32_t>(S::kSecretKeyBytes)}; }
  Records ct() const { return {io.ct, static_cast<uint32_t>(S::kCiphertextBytes)}; }
  /// Returns the number of blocks of one warp for a kernel in which each lane computes an item.
  size_t lane_blocks() const { return polykem::cuda::blocks_for(io.count, 32); }
  /// Returns the number of blocks for a kernel in which each warp computes an item.
  static size_t blocks(size_t items) { return polykem::cuda::blocks_for(items, kWarps); }
  size_t blocks() const { return blocks(io.count); }

  template <class Kernel, class... Arguments>
  void launch(Kernel kernel, size_t blocks, unsigned threads, Arguments... arguments) {
    keep(polykem::cuda::launch(kernel, blocks, threads, 0, stream, arguments...));
  }
  /// Keeps the first error.
  void keep(cudaError_t status) {
    if (error == cudaSuccess) error = status;
  }

  const DeviceBatch& io;
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaSuccess;
  const polykem::cuda::InverseTree<S::kRow> tree;  ///< for key generation
  uint8_t *coins = nullptr, *rm = nullptr, *r = nullptr, *m = nullptr;
  uint32_t* fail = nullptr;
  ZeroMasks* zero = nullptr;
  uint16_t *a = nullptr, *b = nullptr, *x = nullptr, *u = nullptr, *v = nullptr;
  uint16_t *inverse_f = nullptr, *nodes_f = nullptr;

 private:
  explicit LaunchContext(const DeviceBatch& batch) : io(batch), tree(batch.count) {}

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
    coins = arena.take<uint8_t>(op == Op::kEncaps ? S::kCoinStride : std::max(size_t{S::kCoinStride}, 2 * kRowBytes));
    if (op == Op::kEncaps) return arena.used();
    x = reinterpret_cast<uint16_t*>(coins);
    nodes_f = x + arena.items() * S::kRow;
    for (uint16_t** row : {&a, &b, &u, &v, &inverse_f})
      *row = arena.take<uint16_t>(kRowBytes);
    zero = arena.take<ZeroMasks>(sizeof(ZeroMasks));
    return arena.used();
  }
};

template <class Set>
struct Plan {
  using S = Shape<Set>;
  using F = LaunchContext<Set>;
  using MulKind = polykem::cuda::MulKind;
  static_assert(sizeof(uint16_t) * S::kRow <= S::kCoinStride);
  // The largest grids: a product has a block for each item or row of the tree, the generator has one block for 32
  // blocks of bytes.
  static_assert(polykem::cuda::InverseTree<S::kRow>(kMaxItems).rows() <= polykem::cuda::kMaxBlocks);
  static_assert(kMaxItems * polykem::cuda::coin_blocks(S::kKeygenCoinBytes) / 32 < polykem::cuda::kMaxBlocks);

  /// Computes c = a b mod (2^logq, x^n - 1), or mod (3, Phi_n) for products of kind kS3.
  static void multiply(F& t, MulKind kind, uint16_t* c, const uint16_t* a, const uint16_t* b, size_t rows) {
    const unsigned logq = kind == MulKind::kBytes ? 8 : S::kLogQ;
    t.keep(polykem::cuda::launch_mul(kind, S::kParams.n, logq, a, b, c, rows, t.stream));
  }
  static void multiply(F& t, MulKind kind, uint16_t* c, const uint16_t* a, const uint16_t* b) {
    multiply(t, kind, c, a, b, t.count());
  }
  /// Computes the inverses of `a` by the tree, with products of `kind`. nodes: overwritten.
  template <class Invert>
  static void invert_all(F& t, MulKind kind, uint16_t* inverses, const uint16_t* a, uint16_t* nodes, Invert invert) {
    t.tree.run(
        inverses, a, nodes,
        [&t, kind](uint16_t* c, const uint16_t* x, const uint16_t* y, size_t rows) {
          multiply(t, kind, c, x, y, rows);
        },
        [&t, kind](uint16_t* c, const uint16_t* x, const uint16_t* y, size_t rows) {
          t.keep(polykem::cuda::launch_mul_crosswise(kind, S::kParams.n, x, y, c, rows, t.stream));
        },
        invert);
  }

  // ---- keygen. The arrays hold a = f, b = g, x = G f / 3, which overwrites the coins, and v = 3 / (G f). The
  // computation of 1/f shares no row with that of v, so that both may run at once. G = 3 g or 3 (x - 1) g; its constant
  // factor is left to the packing, so that most products have a ternary operand: 1/h = v f f / 3 and h = 3 v g g, or 3
  // (x - 1)^2 v g g.

  template <int kBytes>
  static void make_coins(F& t, polykem::cuda::CoinDomain domain) {
    if (t.io.coins != nullptr) {
      t.error = cudaMemcpy2DAsync(t.coins, S::kCoinStride, t.io.coins, kBytes, kBytes, t.count(),
                                  cudaMemcpyDeviceToDevice, t.stream);
    } else {
      const size_t blocks = t.count() * polykem::cuda::coin_blocks(kBytes);
      t.launch(coin_kernel<Set, kBytes>, polykem::cuda::blocks_for(blocks, 32), 32, t.coins, t.io.seed, domain,
               t.count());
    }
  }
  static void make_keygen_coins(F& t) { make_coins<S::kKeygenCoinBytes>(t, polykem::cuda::CoinDomain::kKeygen); }

  static void sample_fg(F& t) {
    const size_t rows = t.tree.rows();
    t.launch(sample_fg_kernel<Set>, F::blocks(rows), kThreads, t.a, t.b, t.zero, t.io.sk_out, t.coins, t.count(), rows);
  }
  static void invert_f(F& t) {
    const polykem::cuda::GraphBranch branch;
    invert_all(t, MulKind::kS3, t.inverse_f, t.a, t.nodes_f, [&t](uint16_t* v, const uint16_t* a, size_t rows) {
      t.launch(invert_mod3_kernel<Set>, F::blocks(rows), kThreads, v, a, rows);
    });
  }
  static void store_f(F& t) {
    const polykem::cuda::GraphBranch branch;
    t.launch(store_f_kernel<Set>, t.blocks(), kThreads, t.io.sk_out, t.a, t.inverse_f, t.zero, t.count());
  }
  static void mul_Gf(F& t) {
    const size_t rows = t.tree.rows();
    multiply(t, MulKind::kTernary, t.x, t.b, t.a, rows);
    if constexpr (!S::kHps) t.launch(times_x_minus_1_kernel<Set>, F::blocks(rows), kThreads, t.x, rows);
  }

  /// Inverts mod 2^8 by the tree. Newton's last step follows: v <- v + 2^8 v e with 2^8 e = 1 - x v, where v is taken
  /// as signed bytes. [NTRU20, S2_inverse, Rq_inverse]
  static void invert_Gf(F& t) {
    static_assert(S::kLogQ > 8 && S::kLogQ <= 16);
    invert_all(t, MulKind::kBytes, t.v, t.x, t.u, [&t](uint16_t* v, const uint16_t* x, size_t rows) {
      t.launch(invert_bytes_kernel<Set>, polykem::cuda::blocks_for(rows, kByteWarps), 32 * kByteWarps, v, x, rows);
    });
    multiply(t, MulKind::kTernary, t.u, t.x, t.v);
    t.launch(newton_error_kernel<Set>, t.blocks(), kThreads, t.u, t.count());
    multiply(t, MulKind::kBytes, t.u, t.u, t.v);
    t.launch(newton_correct_kernel<Set>, t.blocks(), kThreads, t.v, t.u, t.count());
  }
  static void mul_vf(F& t) { multiply(t, MulKind::kTernary, t.u, t.v, t.a); }
  static void mul_invh(F& t) { multiply(t, MulKind::kTernary, t.x, t.u, t.a); }
  static void store_invh(F& t) {
    t.launch(pack_third_kernel<Set>, t.blocks(), kThreads, t.io.sk_out + S::kInverseHOffset, S::kSecretKeyBytes, t.x,
             t.zero, t.count());
  }
  static void mul_vG(F& t) { multiply(t, MulKind::kTernary, t.u, t.v, t.b); }
  static void mul_h(F& t) { multiply(t, MulKind::kTernary, t.x, t.u, t.b); }
  static void store_h(F& t) { t.launch(pack_h_kernel<Set>, t.blocks(), kThreads, t.io.pk_out, t.x, t.zero, t.count()); }

  // ---- encaps

  static void make_encaps_coins(F& t) { make_coins<S::kEncapsCoinBytes>(t, polykem::cuda::CoinDomain::kEncaps); }
  static void sample_rm(F& t) {
    t.launch(sample_rm_kernel<Set>, t.blocks(), kThreads, t.r, t.m, t.rm, t.coins, t.count());
  }
  static void hash_rm(F& t) { t.launch(hash_rm_kernel<Set>, t.lane_blocks(), 32, t.io.ss_out, t.rm, t.count()); }
  static void encrypt(F& t) { t.launch(encrypt_kernel<Set>, t.count(), 32, t.io.ct_out, t.pk(), t.r, t.m); }

  // ---- decaps

  static void decrypt_m(F& t) { t.launch(decrypt_m_kernel<Set>, t.count(), 32, t.rm, t.fail, t.ct(), t.sk()); }
  static void decrypt_r(F& t) { t.launch(decrypt_r_kernel<Set>, t.count(), 32, t.rm, t.fail, t.ct(), t.sk()); }
  static void hash_select(F& t) {
    t.launch(hash_select_kernel<Set>, t.lane_blocks(), 32, t.io.ss_out, t.rm, t.fail, t.sk(), t.ct(), t.count());
  }

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, F>({
      {{"shake_coins", "randombytes"}, field::kCoins, 0, make_keygen_coins},
      {"sample_fg", 0, field::kSkOut, sample_fg},
      {{"invert_mod3", "poly_S3_inv"}, 0, 0, invert_f},
      {{"pack_f_lift", "poly_S3_tobytes", "poly_Z3_to_Zq"}, 0, field::kSkOut, store_f},
      {{"mul_Gf", "poly_Rq_mul.Gf"}, 0, 0, mul_Gf},
      {{"invert_mod_q", "poly_Rq_inv"}, 0, 0, invert_Gf},
      {{"mul_vf", "poly_Rq_mul.vf"}, 0, 0, mul_vf},
      {{"mul_invh", "poly_Sq_mul.invh"}, 0, 0, mul_invh},
      {{"pack_invh", "poly_Sq_tobytes"}, 0, field::kSkOut, store_invh},
      {{"mul_vG", "poly_Rq_mul.vG"}, 0, 0, mul_vG},
      {{"mul_h", "poly_Rq_mul.h"}, 0, 0, mul_h},
      {{"pack_h", "poly_Rq_sum_zero_tobytes"}, 0, field::kPkOut, store_h},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, F>({
      {{"shake_coins", "randombytes"}, field::kCoins, 0, make_encaps_coins},
      {{"sample_rm_pack", "sample_rm", "poly_S3_tobytes"}, 0, 0, sample_rm},
      {"sha3_256", 0, field::kSsOut, hash_rm},
      {{"dpke_encrypt", "poly_Rq_sum_zero_frombytes", "poly_Rq_sum_zero_tobytes"}, field::kPk, field::kCtOut, encrypt},
  });
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, F>({
      {{"dpke_decrypt_m", "frombytes", "poly_S3_mul"}, field::kSk | field::kCt, 0, decrypt_m},
      {{"dpke_decrypt_r", "poly_lift_sub", "poly_S3_tobytes"}, field::kSk | field::kCt, 0, decrypt_r},
      {{"sha3_256_select", "sha3_256", "cmov"}, field::kSk | field::kCt, field::kSsOut, hash_select},
  });

  using Operations = polykem::cuda::PlanOperations<Plan, F>;

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
