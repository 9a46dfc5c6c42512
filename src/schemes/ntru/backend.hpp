// SPDX-License-Identifier: Apache-2.0
// Turns plans over a chunk type into the Operations that the engine runs.
#pragma once

#include "core/scheme.hpp"
#include "schemes/ntru/kem.hpp"

namespace polykem::ntru {

/// `Plans` has constexpr arrays keygen, encaps, decaps of Step<Chunk>. `Chunk` has: Chunk(const Batch&, Op,
/// std::byte*), static size_t workspace_bytes(size_t items), and constants kGranule and kItems.
template <class Plans, class Chunk>
struct Operations {
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
  static Status run(const Batch& batch, std::byte* workspace, StepTimes* times) {
    Chunk chunk(batch, workspace);
    run_plan(plan<kOp>(), chunk, batch.count, times);
    return Status::ok;
  }

  template <Op kOp>
  static constexpr auto kInfos = step_infos(plan<kOp>());

  template <Op kOp>
  static constexpr Operation operation(std::span<const Stage> stages) {
    return {stages, kInfos<kOp>, Chunk::kGranule, Chunk::kItems, Chunk::workspace_bytes, run<kOp>};
  }

  static constexpr SchemeBackend backend(BackendId id) {
    return {id,
            {operation<Op::keygen>(kKeygenStages), operation<Op::encaps>(kEncapsStages),
             operation<Op::decaps>(kDecapsStages)}};
  }
};

}  // namespace polykem::ntru
