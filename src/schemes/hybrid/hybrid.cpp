// SPDX-License-Identifier: Apache-2.0
#include "schemes/hybrid/hybrid.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/backend.hpp"
#include "schemes/hybrid/kem.hpp"
#include "schemes/hybrid/stages.hpp"
#include "schemes/mlkem/mlkem.hpp"

namespace polykem::hybrid {
namespace {

constexpr size_t kMaxBackends = 4;

const Scheme& kem_of(const HybridParams& params) {
  const auto all = mlkem::schemes();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Scheme& each) { return std::string_view(each.name) == params.kem; });
}

Parts parts_of(const HybridParams& params, const SchemeBackend& backend) {
  [[maybe_unused]] const std::string_view name = backend.name;
  Parts parts{params, kem_of(params), backend, ecdh::InstructionSet::kPortable, {nullptr}};
#if defined(POLYKEM_HAVE_X86)
  if (name == cpu::kAvx2) {
    parts.curve_isa = ecdh::InstructionSet::kAvx2;
    parts.hashes = {&kKeccakAvx2};
  }
#ifdef POLYKEM_HAVE_AVX512
  if (name == cpu::kAvx512) {
    parts.curve_isa = ecdh::InstructionSet::kAvx512;
    parts.hashes = {&kKeccakAvx512};
  }
#endif
#elif defined(POLYKEM_HAVE_NEON)
  if (name == cpu::kNeon) parts.hashes = {&kKeccakNeon};
  if (name == cpu::kNeonSha3) parts.hashes = {&kKeccakNeonSha3};
#endif
  return parts;
}

/// The operations of set kSet on backend number kBackend of its ML-KEM set, as functions without an object.
template <size_t kSet, size_t kBackend>
struct BackendOf {
  static const Parts& parts() {
    static const Parts all = parts_of(kSets[kSet], kem_of(kSets[kSet]).backends[kBackend]);
    return all;
  }

  template <Op kOp>
  static Operation operation() {
    const Operation& kem = parts().backend.op(kOp);
    return {step_infos(kOp), kem.items_per_vector, kem.chunk,
            [](size_t items) { return workspace_bytes(parts(), kOp, items); },
            [](const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
              return hybrid::run(parts(), kOp, batch, workspace, times);
            }};
  }
  template <Op kOp>
  static ExpandedKeyFormat format() {
    const size_t bytes = expanded_key_bytes(parts(), kOp);
    if (bytes == 0) return {};
    return {bytes, [](size_t count) { return expansion_workspace_bytes(parts(), kOp, count); },
            [](std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace) {
              expand_keys(parts(), kOp, out, keys, count, workspace);
            }};
  }

  static SchemeBackend backend() {
    return {parts().backend.name,
            {operation<Op::kKeygen>(), operation<Op::kEncaps>(), operation<Op::kDecaps>()},
            format<Op::kEncaps>(),
            format<Op::kDecaps>()};
  }
};

template <size_t kSet>
std::span<const SchemeBackend> backends() {
  static const size_t count = kem_of(kSets[kSet]).backends.size();
  static const auto all = []<size_t... kBackend>(std::index_sequence<kBackend...>) {
    return std::array{kBackend < count ? BackendOf<kSet, kBackend>::backend() : SchemeBackend{}...};
  }
  (std::make_index_sequence<kMaxBackends>());
  return std::span(all).first(count);
}

template <size_t kSet>
Scheme scheme() {
  constexpr const HybridParams& params = kSets[kSet];
  const Scheme& kem = kem_of(params);
  const RecordBytes bytes = BackendOf<kSet, 0>::parts().record_bytes();
  return {.name = params.name,
          .family = "hybrid",
          .title = params.title,
          .aliases = params.aliases,
          .security_category = kem.security_category,
          .public_key_bytes = bytes.pk,
          .secret_key_bytes = bytes.sk,
          .ciphertext_bytes = bytes.ct,
          .shared_secret_bytes = bytes.ss,
          .keygen_coin_bytes = params.keygen_coin_bytes(),
          .encaps_coin_bytes = params.encaps_coin_bytes(),
          .stages = kStages,
          .secret_seeds = !params.hpke(),
          .backends = backends<kSet>()};
}

}  // namespace

std::span<const Scheme> schemes() {
  static const auto all = []<size_t... kSet>(std::index_sequence<kSet...>) {
    return std::array{scheme<kSet>()...};
  }
  (std::make_index_sequence<std::size(kSets)>());
  return all;
}

}  // namespace polykem::hybrid
