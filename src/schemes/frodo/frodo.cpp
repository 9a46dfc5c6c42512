// SPDX-License-Identifier: Apache-2.0
#include "schemes/frodo/frodo.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "core/operations.hpp"
#include "schemes/built_backends.hpp"
#include "schemes/frodo/kem.hpp"

namespace polykem::frodo {

namespace {

constexpr RecordBytes record_bytes(const Set& set, Op op) {
  return {set.public_key_bytes(), set.secret_key_bytes(), set.ciphertext_bytes(), set.p.secret_bytes,
          op == Op::kKeygen ? set.keygen_coin_bytes() : set.encaps_coin_bytes()};
}

template <size_t kSet, class Backend>
using PlansOf =
    std::conditional_t<(kSets[kSet].gen_a == GenA::kAes ? Backend::kFusesAes : Backend::kFusesShake), FusedKem, Kem>;

/// One set on one backend, in the form that the engine runs.
template <size_t kSet, class Backend>
struct SetOperations : Operations<PlansOf<kSet, Backend>, State> {
  static constexpr size_t kItemsPerVector = Backend::kItemsPerVector;
  template <Op kOp>
  static constexpr size_t kItems = Backend::kItems;

  template <Op kOp>
  static size_t workspace_bytes(size_t items) {
    return State::workspace_bytes(kSets[kSet], Backend::kernels(), std::min(items, Backend::kItemsWithOneKey),
                                  std::min(items, Backend::kItemsWithOwnKeys));
  }

  /// Runs a batch. Items with their own keys share no rows of A, so only a few are computed at a time, which stay in
  /// the cache.
  template <Op kOp>
  static Status run(const void*, const Batch& batch, std::byte* workspace, StepTimes* times) {
    constexpr RecordBytes kBytes = record_bytes(kSets[kSet], kOp);
    const size_t most = batch.shared_key ? Backend::kItemsWithOneKey : Backend::kItemsWithOwnKeys;
    assert((Backend::kernels().shake_products != nullptr) == Backend::kFusesShake);
    assert((Backend::kernels().aes_products != nullptr || Backend::kernels().tiles != nullptr) == Backend::kFusesAes);
    const bool packs_a = batch.shared_key && State::may_pack(kSets[kSet], Backend::kernels(), batch.count);
    for (size_t first = 0; first < batch.count; first += most) {
      const Batch part{batch.slice(kBytes, first, std::min(most, batch.count - first)), batch.drbg};
      State state(kSets[kSet], Backend::kernels(), part, workspace, packs_a);
      state.key_is_prepared = batch.shared_key && first > 0;
      run_plan(SetOperations::template plan<kOp>(), state, part.count, times);
    }
    return Status::kOk;
  }
};

struct Ref {
  static constexpr const char* kName = cpu::kRef;
  static constexpr size_t kItemsPerVector = 1, kItems = 8, kItemsWithOwnKeys = 1, kItemsWithOneKey = kItems;
  static constexpr bool kFusesAes = false, kFusesShake = false;
  static const Kernels& kernels() { return kKernelsRef; }
};

/// A chunk has enough items with a shared key for the time of generating A to be small, and as many items with their
/// own keys as the hashes have lanes.
struct Avx2 {
  static constexpr const char* kName = cpu::kAvx2;
  static constexpr size_t kItemsPerVector = 4, kItems = 32, kItemsWithOwnKeys = 8, kItemsWithOneKey = kItems;
  static constexpr bool kFusesAes = false, kFusesShake = false;
  static const Kernels& kernels() { return cpu_features().has(CpuFeatures::kVaes) ? kKernelsAvx2Vaes : kKernelsAvx2; }
};
struct Avx512 {
  static constexpr const char* kName = cpu::kAvx512;
  static constexpr size_t kItemsPerVector = 8, kItems = 32, kItemsWithOwnKeys = 8, kItemsWithOneKey = kItems;
  static constexpr bool kFusesAes = false, kFusesShake = false;
  static const Kernels& kernels() { return kKernelsAvx512; }
};
struct Avx512Intel : Avx512 {
  static constexpr bool kFusesShake = true;
  static const Kernels& kernels() { return kKernelsAvx512Intel; }
};
struct Avx512Zen5 : Avx512 {
  static constexpr bool kFusesAes = true, kFusesShake = true;
  static const Kernels& kernels() { return kKernelsAvx512Zen5; }
};
/// All of A is kept for the items of a chunk that have one key.
struct Amx {
  static constexpr const char* kName = cpu::kAmx;
  static constexpr size_t kItemsPerVector = 8, kItems = 256, kItemsWithOwnKeys = 8, kItemsWithOneKey = 32;
  static constexpr bool kFusesAes = true, kFusesShake = true;
  static const Kernels& kernels() { return kKernelsAmx; }
};

// Newer Clang warns that an x86-64 build does not use their constants.
struct Neon {
  [[maybe_unused]] static constexpr const char* kName = cpu::kNeon;
  [[maybe_unused]] static constexpr size_t kItemsPerVector = 4, kItems = 32, kItemsWithOwnKeys = 8,
                                           kItemsWithOneKey = kItems;
  [[maybe_unused]] static constexpr bool kFusesAes = false, kFusesShake = false;
  static const Kernels& kernels() {
    return cpu_features().has(CpuFeatures::kAes) ? kKernelsNeon : kKernelsNeonWithoutAes;
  }
};
struct NeonSha3 : Neon {
  [[maybe_unused]] static constexpr const char* kName = cpu::kNeonSha3;
  static const Kernels& kernels() { return kKernelsNeonSha3; }
};

template <size_t kSet>
struct SetBackends {
  static SchemeBackend amx() { return on<Amx>(); }
  static SchemeBackend avx512() {
    return kCpuIsZen5 ? on<Avx512Zen5>() : kCpuByIntel ? on<Avx512Intel>() : on<Avx512>();
  }
  static SchemeBackend avx2() { return on<Avx2>(); }
  static SchemeBackend neon_sha3() { return on<NeonSha3>(); }
  static SchemeBackend neon() { return on<Neon>(); }
  static SchemeBackend ref() { return on<Ref>(); }

 private:
  template <class Backend>
  static SchemeBackend on() {
    return scheme_backend<SetOperations<kSet, Backend>>(Backend::kName);
  }
};

template <size_t kSet>
Scheme scheme() {
  const Set& set = kSets[kSet];
  return {.name = set.name,
          .family = "frodokem",
          .title = set.title,
          .aliases = {},
          .security_category = set.p.category,
          .public_key_bytes = set.public_key_bytes(),
          .secret_key_bytes = set.secret_key_bytes(),
          .ciphertext_bytes = set.ciphertext_bytes(),
          .shared_secret_bytes = set.p.secret_bytes,
          .keygen_coin_bytes = set.keygen_coin_bytes(),
          .encaps_coin_bytes = set.encaps_coin_bytes(),
          .public_key_at = set.p.secret_bytes,
          .stages = kStages,
          .backends = built_backends<SetBackends<kSet>>()};
}

template <size_t... kSet>
std::span<const Scheme> all_schemes(std::index_sequence<kSet...>) {
  static const Scheme all[] = {scheme<kSet>()...};
  return all;
}

}  // namespace

std::span<const Scheme> schemes() {
  return all_schemes(std::make_index_sequence<kSetCount>());
}

}  // namespace polykem::frodo
