// SPDX-License-Identifier: Apache-2.0
// Operations on eight items at a time; the last group of a chunk may be smaller.
#pragma once

#include <algorithm>
#include <span>

#include "prim/drbg/drbg.hpp"
#include "schemes/mlkem/record_bytes.hpp"
#include "schemes/mlkem/x8/steps.hpp"

namespace polykem::mlkem::x8 {
inline namespace POLYKEM_ISA {

template <MlkemParams P, InstructionSet Isa>
struct X8Operations {
  using EightItems = Operations<Kem<Steps<P, Isa>>, State<P>>;
  static constexpr size_t kItemsPerVector = x8::kItems;
  /// The number of items in a chunk: few enough to leave work for other threads, and enough for the expansion of a
  /// shared key to take little of the time.
  template <Op kOp>
  static constexpr size_t kItems = 8 * kItemsPerVector;
  template <Op kOp>
  static constexpr auto kInfos = EightItems::template kInfos<kOp>;

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return EightItems::template workspace_bytes<kOp>(kItemsPerVector) + Arena::bytes<uint8_t>(items * kCoinBytes<kOp>);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    Arena arena(workspace);
    auto* const eight_items_workspace =
        arena.take<std::byte>(EightItems::template workspace_bytes<kOp>(kItemsPerVector));
    Batch items = batch;
    if (kCoinBytes<kOp> != 0 && items.coins == nullptr) {
      StepClock clock(times);
      const std::span coins(arena.take<uint8_t>(items.count * kCoinBytes<kOp>), items.count * kCoinBytes<kOp>);
      items.drbg->fill(coins);
      items.coins = coins.data();
      clock.stop(kCoinStep, 0);
    }
    for (size_t first = 0; first < items.count; first += kItemsPerVector) {
      const size_t count = std::min(kItemsPerVector, items.count - first);
      const Batch eight{items.slice(record_bytes<P>(kOp), first, count), items.drbg};
      const Status status = EightItems::template run<kOp>(nullptr, eight, eight_items_workspace, times);
      if (status != Status::kOk) return status;
    }
    return Status::kOk;
  }

 private:
  /// Bytes of coins for each item. Coins are made for all items of a chunk at once, because the generator takes longer
  /// to replace its key than to make the coins of eight items.
  template <Op kOp>
  static constexpr size_t kCoinBytes = record_bytes<P>(kOp).coins;
  static constexpr size_t kCoinStep = 0;  ///< the index of the step that makes coins
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::mlkem::x8
