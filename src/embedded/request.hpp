// SPDX-License-Identifier: Apache-2.0
// One operation on one item, from the caller's function for random bytes to the steps of a plan.
#pragma once

#include <polykem/embedded.h>

#include <array>
#include <type_traits>

#include "core/operations.hpp"

namespace polykem::embedded {

/// A batch of one item with its source of random bytes, in the place of the generator that the engine has.
struct Request : Batch {
  polykem_embedded_random random = nullptr;
  void* random_context = nullptr;
  mutable bool random_failed = false;

  void random_bytes(uint8_t* out, size_t bytes) const { random_failed = random(random_context, out, bytes) != 0; }
};

/// Fills `bytes` coins of the item; the first step of a plan calls it.
template <class State>
void random_bytes(const State& state, uint8_t* out, size_t bytes) {
  static_cast<const Request&>(state.io).random_bytes(out, bytes);
}

/// Runs the steps of a plan, with tiled steps repeated as in run_plan of core/plan.hpp, but ends when the first one got
/// no random bytes. Each step stays a function of its own, which a profile can show.
template <class State, size_t N>
Status run_steps(const std::array<Step<State>, N>& steps, std::type_identity_t<State>& state) {
#pragma GCC unroll 1
  for (size_t begin = 0; begin < N;) {
    const size_t end = group_end(steps, begin);
#pragma GCC unroll 1
    for (size_t i = begin; i < end; ++i) {
      steps[i].run(state);
      if (static_cast<const Request&>(state.io).random_failed) return Status::kRandom;
    }
    if (!next_round(steps[begin], state)) begin = end;
  }
  return Status::kOk;
}

}  // namespace polykem::embedded

/// An operation of a set: computes one item in a workspace that is aligned and large enough.
using polykem_embedded_operation = polykem::Status (*)(const polykem::embedded::Request& request, std::byte* workspace);

/// The code of a set.
struct polykem_embedded_code {
  polykem_embedded_operation keygen, encaps, decaps;
};

namespace polykem::embedded {

/// The types of state of a `Kem` that has only one.
template <class State>
struct SameState {
  using KeygenState = State;
  using EncapsState = State;
  using DecapsState = State;
};

/// The operations of a `Kem` whose states are made of a batch and a workspace.
template <class Kem>
constexpr polykem_embedded_code code() {
  return {[](const Request& request, std::byte* workspace) {
            typename Kem::KeygenState state(request, workspace);
            return run_steps(Kem::keygen, state);
          },
          [](const Request& request, std::byte* workspace) {
            typename Kem::EncapsState state(request, workspace);
            return run_steps(Kem::encaps, state);
          },
          [](const Request& request, std::byte* workspace) {
            typename Kem::DecapsState state(request, workspace);
            return run_steps(Kem::decaps, state);
          }};
}

}  // namespace polykem::embedded
