// SPDX-License-Identifier: Apache-2.0
// The records and keys of a batch, as the kernels of a scheme take them.
#pragma once

#include "core/device.hpp"
#include "prim/records/cuda/items.cuh"

namespace polykem::cuda {

/// Points `work` at the records of the batch. S has the lengths of the set's records, `pk` is the member of `work` for
/// public keys, and `pk_offset` is the offset of the public key in a secret key.
template <class S, class Work>
void take_records(Work& work, Records& pk, const DeviceBatch& io, size_t pk_offset) {
  const auto stride = [&io](int bytes) { return io.shared_key ? 0u : static_cast<uint32_t>(bytes); };
  work.count = io.count;
  work.coin_seed = io.seed;
  work.coins = io.coins;
  work.sk = {io.sk, stride(S::kSecretKeyBytes)};
  pk = io.sk != nullptr ? Records{io.sk + pk_offset, stride(S::kSecretKeyBytes)}
                        : Records{io.pk, stride(S::kPublicKeyBytes)};
  work.ct = {io.ct, S::kCiphertextBytes};
  work.pk_out = io.pk_out, work.sk_out = io.sk_out, work.ct_out = io.ct_out, work.ss_out = io.ss_out;
}

/// Returns the expanded keys of the batch if it comes with them. If instead all items share one key, returns `own`,
/// into which a step expands it; otherwise no keys.
inline DeviceExpandedKeys expanded_keys(const DeviceBatch& io, const std::byte* own) {
  static_assert(sizeof(size_t) == sizeof(uint64_t));
  if (io.expanded.data != nullptr)
    return {io.expanded.data, io.expanded.shared ? 0 : io.expanded.bytes,
            reinterpret_cast<const uint64_t*>(io.expanded.index)};
  return {io.shared_key ? own : nullptr, 0, nullptr};
}

}  // namespace polykem::cuda
