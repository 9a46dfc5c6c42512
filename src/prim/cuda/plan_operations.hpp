// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device.hpp"
#include "prim/cuda/launch.hpp"

namespace polykem::cuda {

/// The functions that a set's DeviceOperation takes from its plan. Plan has the steps of each operation as constexpr
/// arrays of KernelStep: keygen, encaps and decaps, or keygen, sign and verify. A step works on a Context(batch,
/// workspace, stream, op), a BatchContext, which has a member `tile` if steps are tiled.
template <class Plan, class Context>
struct PlanOperations {
  template <Op kOp>
  static constexpr const auto& steps() {
    if constexpr (kOp == Op::kKeygen) {
      return Plan::keygen;
    } else if constexpr (kOp == Op::kEncaps) {
      return Plan::encaps;
    } else if constexpr (kOp == Op::kDecaps) {
      return Plan::decaps;
    } else if constexpr (kOp == Op::kSign) {
      return Plan::sign;
    } else {
      return Plan::verify;
    }
  }

  template <Op kOp>
  static constexpr auto kSteps = device_steps(steps<kOp>());

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    DeviceBatch batch;
    batch.count = items;
    return Context(batch, nullptr, nullptr, kOp).workspace_bytes;
  }
  template <Op kOp>
  static size_t secret_bytes(size_t items) {
    DeviceBatch batch;
    batch.count = items;
    return Context(batch, nullptr, nullptr, kOp).secret_bytes;
  }

  template <Op kOp>
  static int run_step(size_t step, size_t tile, const DeviceBatch& batch, std::byte* workspace, void* stream) {
    Context context(batch, workspace, static_cast<cudaStream_t>(stream), kOp);
    if constexpr (requires { context.tile; }) context.tile = tile;
    steps<kOp>()[step].run(context);
    return static_cast<int>(context.to.error);
  }
};

}  // namespace polykem::cuda
