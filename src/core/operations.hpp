// SPDX-License-Identifier: Apache-2.0
// Turns a scheme's plans over a backend's chunk type into the Operations that the engine runs.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/isa.hpp"
#include "core/scheme.hpp"

namespace polykem {
inline namespace POLYKEM_ISA {

/// `Plans` has constexpr arrays keygen of Step<KeygenChunk>, encaps and decaps of Step<Chunk>. A chunk type has:
/// Chunk(const Batch&, std::byte*), static size_t workspace_bytes(size_t items), and constants kGranule and kItems.
template <class Plans, class Chunk, class KeygenChunk = Chunk>
struct Operations {
  template <Op kOp>
  using ChunkOf = std::conditional_t<kOp == Op::keygen, KeygenChunk, Chunk>;

  static constexpr size_t kGranule = Chunk::kGranule;
  template <Op kOp>
  static constexpr size_t kItems = ChunkOf<kOp>::kItems;

  template <Op kOp>
  static constexpr const auto& plan() {
    if constexpr (kOp == Op::keygen) {
      return Plans::keygen;
    } else if constexpr (kOp == Op::encaps) {
      return Plans::encaps;
    } else {
      return Plans::decaps;
    }
  }

  template <Op kOp>
  static constexpr auto kInfos = step_infos(plan<kOp>());

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return ChunkOf<kOp>::workspace_bytes(items);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    ChunkOf<kOp> chunk(batch, workspace);
    run_plan(plan<kOp>(), chunk, batch.count, times);
    return Status::ok;
  }
};

/// How many items of each operation take less time as a block than one by one.
struct FewestForBlocks {
  size_t keygen, encaps, decaps;

  constexpr FewestForBlocks(size_t all) : FewestForBlocks(all, all, all) {}
  constexpr FewestForBlocks(size_t for_keygen, size_t for_encaps, size_t for_decaps)
      : keygen(for_keygen), encaps(for_encaps), decaps(for_decaps) {}

  constexpr size_t of(Op op) const { return op == Op::keygen ? keygen : op == Op::encaps ? encaps : decaps; }
};

/// Runs whole blocks of items by `Blocks`, and fewer items than kFewest by `Singles`. Both are Operations with the same
/// steps.
template <class Blocks, class Singles, FewestForBlocks kFewest>
struct SplitOperations {
  static constexpr size_t kGranule = Blocks::kGranule;
  template <Op kOp>
  static constexpr size_t kItems = Blocks::template kItems<kOp>;

  template <Op kOp>
  static constexpr auto kInfos = Blocks::template kInfos<kOp>;

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return items < kFewest.of(kOp) ? Singles::template workspace_bytes<kOp>(items)
                                   : Blocks::template workspace_bytes<kOp>(items);
  }

  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    static_assert(same_steps(Blocks::template kInfos<kOp>, Singles::template kInfos<kOp>));
    return batch.count < kFewest.of(kOp) ? Singles::template run<kOp>(nullptr, batch, workspace, times)
                                         : Blocks::template run<kOp>(nullptr, batch, workspace, times);
  }

 private:
  template <size_t N>
  static consteval bool same_steps(const std::array<StepInfo, N>& a, const std::array<StepInfo, N>& b) {
    for (size_t i = 0; i < N; ++i) {
      if (std::string_view(a[i].name) != b[i].name || a[i].first != b[i].first || a[i].count != b[i].count)
        return false;
    }
    return true;
  }
};

template <class Ops, Op kOp>
constexpr Operation operation() {
  return {Ops::template kInfos<kOp>, Ops::kGranule, Ops::template kItems<kOp>, Ops::template workspace_bytes<kOp>,
          Ops::template run<kOp>};
}

/// `Ops`: Operations or SplitOperations. name: the backend's, see core/backend.hpp.
template <class Ops>
constexpr SchemeBackend scheme_backend(const char* name) {
  return {name, {operation<Ops, Op::keygen>(), operation<Ops, Op::encaps>(), operation<Ops, Op::decaps>()}};
}

}  // namespace POLYKEM_ISA
}  // namespace polykem
