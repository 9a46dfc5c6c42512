// SPDX-License-Identifier: Apache-2.0
// Loops over the items of a batch, and their sizes.
#pragma once

#include "hpke/hpke.hpp"
#include "hpke/openssl_call.hpp"
#include "hpke/parallel.hpp"

namespace polykem::hpke {

/// The number of items that are computed together, which limits the memory beside the caller's arrays to 20 MB.
inline constexpr std::size_t kBatchItems = 8192;

inline void require(bool condition, const char* what) {
  if (!condition) throw Error(POLYKEM_ERR_ARGUMENT, what);
}

/// Throws Error if `count` records would be larger than any object. Returns `count`.
inline std::size_t check_count(std::size_t count, std::size_t record_bytes) {
  require(record_bytes == 0 || count <= PTRDIFF_MAX / record_bytes, "more items than memory holds");
  return count;
}

/// The same for the sum of the records that HPKE reads and writes for an item, without messages.
std::size_t check_count(std::size_t count, const Suite& suite);

inline void put_status(ItemStatus* all, std::size_t i, ItemStatus status, std::atomic<std::size_t>& failed) {
  if (all) all[i] = status;
  if (status != ItemStatus::kOk) failed.fetch_add(1, std::memory_order_relaxed);
}

/// Calls item(worker, i) for all i < items, on at most `threads` threads. make() makes the state that a thread needs.
template <class Make, class Item>
void for_items(unsigned threads, std::size_t items, const Make& make, const Item& item) {
  over_threads(threads, items, [&](const auto& claim) {
    auto worker = make();
    for (std::size_t first = 0, last = 0; claim(first, last);) {
      for (std::size_t i = first; i < last; ++i) {
        OpensslCall::throw_if_exiting();
        item(worker, i);
      }
    }
  });
}

}  // namespace polykem::hpke
