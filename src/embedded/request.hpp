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

/// Fills `bytes` coins of the chunk's item; the first step of a plan calls it.
template <class Chunk>
void random_bytes(const Chunk& chunk, uint8_t* out, size_t bytes) {
  static_cast<const Request&>(chunk.io).random_bytes(out, bytes);
}

/// Runs the steps of a plan, with tiled steps repeated as in run_plan of core/plan.hpp, but ends when the first one got
/// no random bytes. Each step stays a function of its own, which a profile can show.
template <class Chunk, size_t N>
Status run_steps(const std::array<Step<Chunk>, N>& steps, std::type_identity_t<Chunk>& chunk) {
#pragma GCC unroll 1
  for (size_t i = 0; i < N;) {
    steps[i].run(chunk);
    if (static_cast<const Request&>(chunk.io).random_failed) return Status::kRandom;
    if constexpr (requires { chunk.next_tile(); }) {
      if (steps[i].info.tiled && (i + 1 == N || !steps[i + 1].info.tiled)) {
        i = chunk.next_tile() ? round_begin(steps, i) : i + 1;
        continue;
      }
    }
    ++i;
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

/// The chunks of a `Kem` that has one kind of them.
template <class Chunk>
struct SameChunk {
  using KeygenChunk = Chunk;
  using EncapsChunk = Chunk;
  using DecapsChunk = Chunk;
};

/// The operations of a `Kem` whose chunks are made of a batch and a workspace.
template <class Kem>
constexpr polykem_embedded_code code() {
  return {[](const Request& request, std::byte* workspace) {
            typename Kem::KeygenChunk chunk(request, workspace);
            return run_steps(Kem::keygen, chunk);
          },
          [](const Request& request, std::byte* workspace) {
            typename Kem::EncapsChunk chunk(request, workspace);
            return run_steps(Kem::encaps, chunk);
          },
          [](const Request& request, std::byte* workspace) {
            typename Kem::DecapsChunk chunk(request, workspace);
            return run_steps(Kem::decaps, chunk);
          }};
}

}  // namespace polykem::embedded
