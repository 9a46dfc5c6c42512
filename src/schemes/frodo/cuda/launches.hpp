// SPDX-License-Identifier: Apache-2.0
// The launches of FrodoKEM's kernels over one batch, implemented in a file for each group of kernels.
#pragma once

#include "core/device.hpp"
#include "prim/arena/cuda/device_arena.hpp"
#include "prim/launch/cuda/launch.hpp"
#include "schemes/frodo/cuda/sizes.hpp"

namespace polykem::frodo::cuda {

/// What the launches of one batch work on: its records, its intermediates and its stream.
struct LaunchContext {
  LaunchContext(const Set& set, const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op);

  static size_t workspace_bytes(const Set& set, size_t items, Op op);

  /// Keeps the first error.
  void keep(cudaError_t status) {
    if (error == cudaSuccess) error = status;
  }
  template <class Kernel, class... Arguments>
  void launch(Kernel kernel, size_t blocks, unsigned threads, size_t shared_bytes, Arguments... arguments) {
    constexpr size_t kWithoutRequest = 48 * 1024;
    if (shared_bytes > kWithoutRequest) {
      keep(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared_bytes)));
    }
    if (error == cudaSuccess)
      error = polykem::cuda::launch(kernel, blocks, threads, shared_bytes, stream, arguments...);
  }
  /// Blocks of one warp for a kernel in which each lane computes an item.
  size_t lane_blocks() const { return polykem::cuda::blocks_for(io.count, 32); }
  size_t count() const { return io.count; }

  const Set& set;
  const DeviceBatch& io;
  const Sizes sizes;
  const Op op;
  cudaStream_t stream;
  cudaError_t error = cudaSuccess;
  /// Rows of sizes.hpp: kDrawStride, kSecretStride twice, noise_stride bytes for each item.
  uint8_t *draws = nullptr, *pkh = nullptr, *k = nullptr, *noise = nullptr;
  uint32_t* fail = nullptr;

 private:
  size_t layout(std::byte* workspace);
};

// hash.cu
void draw(LaunchContext& t);
void expand_keygen(LaunchContext& t);
void hash_new_pk(LaunchContext& t);
void hash_pk(LaunchContext& t);
void expand_encaps(LaunchContext& t);
void hash_ss(LaunchContext& t);
// product_shake.cu
void mul_as_shake(LaunchContext& t);
void mul_sa_shake(LaunchContext& t);
// product_aes.cu
void mul_as_aes(LaunchContext& t);
void mul_sa_aes(LaunchContext& t);
// small_products.cu
void encrypt_mu(LaunchContext& t);
void decrypt_mu(LaunchContext& t);
void store_s(LaunchContext& t);

}  // namespace polykem::frodo::cuda
