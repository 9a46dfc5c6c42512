// SPDX-License-Identifier: Apache-2.0
// The launches of FrodoKEM's kernels over one batch, implemented in a file for each group of kernels.
#pragma once

#include "core/device.hpp"
#include "core/round.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/choice.hpp"
#include "prim/cuda/device_arena.hpp"
#include "schemes/frodo/cuda/sizes.hpp"

namespace polykem::frodo::cuda {

/// A is kept if at least this many items have one key: this many blocks of mul_s_a_* are computed at once anyway.
inline constexpr size_t kMinForKeptA = 128;

/// The records, the intermediates and the stream of one batch, on which its launches work.
struct LaunchContext : polykem::cuda::BatchContext {
  LaunchContext(const Set& set, const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op);

  /// Returns true if the one key of all items comes in its expanded form.
  bool has_expanded_key() const { return io.expanded.data != nullptr; }
  /// Returns true if one A serves all items: it is in the expanded form of the key, or there are so many items that it
  /// is generated once and kept. If there are only a few, each makes its own.
  bool keeps_a() const { return has_expanded_key() || (io.shared_key && is_kept(io.count)); }
  static bool is_kept(size_t count) { return !polykem::cuda::is_few(count, kMinForKeptA - 1); }

  const Set& set;
  const Sizes sizes;
  const Op op;
  /// The rows of sizes.hpp: each item has kCoinStride, twice kSecretStride, and noise_stride bytes.
  uint8_t *coins = nullptr, *pkh = nullptr, *k = nullptr, *noise = nullptr;
  uint32_t* fail = nullptr;
  uint16_t* v = nullptr;     ///< S' B, 64 words for each item; used if keeps_a()
  uint8_t* limbs = nullptr;  ///< A and B of the one key

 private:
  size_t allocate(std::byte* workspace);
};

/// The shape of A as limbs, with B behind it, for one key that serves the whole batch.
inline constexpr uint32_t kLimbColumns = 64, kLimbRows = 128;
constexpr uint32_t limb_columns(uint32_t n) {
  return (n + static_cast<uint32_t>(kBar) + kLimbColumns - 1) / kLimbColumns * kLimbColumns;
}
constexpr uint32_t limb_rows(uint32_t n) {
  return (n + kLimbRows - 1) / kLimbRows * kLimbRows;
}

/// Sizes of A and B as limbs, and of the expanded form of a key: A and B as limbs, then pkh.
constexpr size_t limb_bytes(uint32_t n) {
  return size_t{2} * limb_columns(n) * limb_rows(n);
}
constexpr size_t expanded_key_bytes(uint32_t n) {
  return rounded_up(limb_bytes(n) + kSecretStride, 256);
}

// hash.cu
void make_coins(LaunchContext& context);
void expand_keygen(LaunchContext& context);
void hash_new_pk(LaunchContext& context);
void hash_pk(LaunchContext& context);
void expand_encaps(LaunchContext& context);
void hash_ss(LaunchContext& context);
// product_shake.cu
void mul_a_s_shake(LaunchContext& context);
void mul_s_a_shake(LaunchContext& context);
// product_aes.cu
void mul_a_s_aes(LaunchContext& context);
void mul_s_a_aes(LaunchContext& context);
// product_shared.cu
void expand_key(LaunchContext& context);
void mul_s_a_shared(LaunchContext& context);
// small_products.cu
void encrypt_mu(LaunchContext& context);
void decrypt_mu(LaunchContext& context);
void store_s(LaunchContext& context);

}  // namespace polykem::frodo::cuda
