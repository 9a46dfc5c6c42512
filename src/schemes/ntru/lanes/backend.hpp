// SPDX-License-Identifier: Apache-2.0
// Operations of a vector backend: whole blocks run across the lanes, the few items of a small batch one by one.
#pragma once

#include <string_view>

#include "schemes/ntru/backend.hpp"
#include "schemes/ntru/lanes/ops.hpp"
#include "schemes/ntru/ref/ops.hpp"

namespace polykem::ntru::lanes {
inline namespace POLYKEM_ISA {

template <NtruParams P, class Isa>
struct Backend {
  using Blocks = Operations<Kem<Ops<P, Isa>>, Chunk<P, Isa>>;
  using Singles = Operations<Kem<ref::Ops<P, Isa>>, ref::Chunk<P, Isa>>;

  static size_t workspace_bytes(size_t items) {
    return items < Isa::kFewestForLanes ? ref::Chunk<P, Isa>::workspace_bytes(items) : Chunk<P, Isa>::workspace_bytes();
  }

  template <Op kOp>
  static Status run(const Batch& batch, std::byte* workspace, StepTimes* times) {
    return batch.count < Isa::kFewestForLanes ? Singles::template run<kOp>(batch, workspace, times)
                                              : Blocks::template run<kOp>(batch, workspace, times);
  }

  template <Op kOp>
  static constexpr Operation operation(std::span<const Stage> stages) {
    static_assert(same_steps(Blocks::template kInfos<kOp>, Singles::template kInfos<kOp>));
    return {stages, Blocks::template kInfos<kOp>, kLanes, kLanes, workspace_bytes, run<kOp>};
  }

  static constexpr SchemeBackend backend() {
    return {Isa::kBackend,
            {operation<Op::keygen>(kKeygenStages), operation<Op::encaps>(kEncapsStages),
             operation<Op::decaps>(kDecapsStages)}};
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

/// In the order in which schemes() of ntru.cpp numbers the sets.
template <class Isa>
inline constexpr SchemeBackend kBackends[] = {
    Backend<kHps2048509, Isa>::backend(), Backend<kHps2048677, Isa>::backend(),  Backend<kHps4096821, Isa>::backend(),
    Backend<kHrss701, Isa>::backend(),    Backend<kHps40961229, Isa>::backend(), Backend<kHrss1373, Isa>::backend(),
};

}  // namespace POLYKEM_ISA
}  // namespace polykem::ntru::lanes
