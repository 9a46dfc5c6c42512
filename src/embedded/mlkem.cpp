// SPDX-License-Identifier: Apache-2.0
// ML-KEM's sets: steps that need little memory, over the primitives that are best here.
#include <algorithm>

#include "embedded/prims.hpp"
#include "embedded/request.hpp"
#include "embedded/sizes.hpp"
#include "schemes/mlkem/low_memory/steps.hpp"

namespace polykem::embedded {

namespace {

using mlkem::MlkemParams;

/// The steps of ML-KEM, with coins from the caller's random bytes.
template <MlkemParams P>
struct MlkemSteps : mlkem::low_memory::Steps<P, MlkemPrims> {
  using State = mlkem::low_memory::State<P, MlkemPrims>;
  static void make_keygen_coins(State& state) { random_bytes(state, state.work.inputs, mlkem::kKeygenCoinBytes); }
  static void make_encaps_coins(State& state) { random_bytes(state, state.work.m(), mlkem::kEncapsCoinBytes); }
};

template <MlkemParams P>
struct MlkemKem : mlkem::low_memory::Kem<MlkemSteps<P>>, SameState<typename MlkemSteps<P>::State> {};

template <MlkemParams P>
inline constexpr polykem_embedded_code kMlkemCode = code<MlkemKem<P>>();

template <MlkemParams P>
constexpr polykem_embedded_set mlkem_set(const char* name, size_t stack) {
  static_assert(!P.kyber());
  constexpr size_t kWorkspace = MlkemSteps<P>::State::workspace_bytes();
  return {.name = name,
          .public_key_bytes = P.public_key_bytes(),
          .secret_key_bytes = P.secret_key_bytes(),
          .ciphertext_bytes = P.ciphertext_bytes(),
          .shared_secret_bytes = mlkem::kSymBytes,
          .keygen_coin_bytes = mlkem::kKeygenCoinBytes,
          .encaps_coin_bytes = mlkem::kEncapsCoinBytes,
          .keygen_workspace_bytes = kWorkspace,
          .encaps_workspace_bytes = kWorkspace,
          .decaps_workspace_bytes = kWorkspace,
          .workspace_bytes = kWorkspace,
          .stack_bytes = std::max(stack, MlkemPrims::kMinStack),
          .code = &kMlkemCode<P>};
}

}  // namespace
}  // namespace polykem::embedded

using namespace polykem;
using embedded::mlkem_set;
POLYKEM_EMBEDDED_DEFINE(mlkem512, MLKEM512, mlkem_set<mlkem::kMlkem512>);
POLYKEM_EMBEDDED_DEFINE(mlkem768, MLKEM768, mlkem_set<mlkem::kMlkem768>);
POLYKEM_EMBEDDED_DEFINE(mlkem1024, MLKEM1024, mlkem_set<mlkem::kMlkem1024>);
