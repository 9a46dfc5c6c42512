// SPDX-License-Identifier: Apache-2.0
// The launch lists of ML-KEM and Kyber: which kernels an operation runs, in which order, over which buffers.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/device.hpp"
#include "prim/cuda/batch_context.hpp"
#include "prim/cuda/batch_records.cuh"
#include "prim/cuda/device_arena.hpp"
#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/mlkem/cuda/arithmetic.cuh"
#include "schemes/mlkem/cuda/hash_warp.cuh"
#include "schemes/mlkem/stages.hpp"

namespace polykem::mlkem::cuda {

using polykem::cuda::Launcher;

/// The records, the intermediates and the stream of one batch, on which its launches work.
template <class Set>
struct LaunchContext : polykem::cuda::BatchContext {
  using S = Shape<Set>;
  using ExpandedKey = typename S::ExpandedKey;

  LaunchContext(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : BatchContext(batch, stream) {
    allocate(workspace, op);
  }

  bool has_few_items() const { return polykem::cuda::has_few_messages(io.count); }
  bool has_expanded_keys() const { return work.keys.data != nullptr; }
  /// True if the one key of all items is a record, to be expanded before its use.
  bool expands_key() const { return io.shared_key && io.expanded.data == nullptr; }

  Work work{};
  std::byte* expanded_key = nullptr;  ///< the expanded form of the one key

 private:
  /// Allocates the intermediates. A is public.
  void allocate(std::byte* workspace, Op op) {
    polykem::cuda::DeviceArena arena(workspace, io.count);
    const auto words = [&](ItemWords& out, size_t each) {
      out = {arena.take<uint32_t>(each * sizeof(uint32_t)), io.count};
    };
    work.noise = arena.take<uint32_t>((op == Op::kKeygen ? 2 * S::kK : 2 * S::kK + 1) * kNoiseBytes);
    work.retries = arena.take<uint32_t>((S::kEntries + 1) * sizeof(uint32_t));
    words(work.prf_seed, 8);
    if (op == Op::kKeygen) {
      words(work.rho, 8);
      words(work.z, 8);
    } else {
      words(work.m, 8);
      words(work.secret, 8);
    }
    if (op == Op::kDecaps) {
      words(work.rejection_or_ct_hash, 8);
      words(work.valid, 1);
      words(work.fail, 1);
    }
    polykem::cuda::DeviceArena one(workspace + arena.used(), 1);
    if (op != Op::kKeygen)
      expanded_key = one.take<std::byte>(op == Op::kEncaps ? ExpandedKey::kPublicBytes : ExpandedKey::kSecretBytes);
    polykem::cuda::take_records<S>(work, work.pk, io, S::kPkOffset);
    work.keys = polykem::cuda::expanded_keys(io, expanded_key);
    static_assert(sizeof(Status) == sizeof(int));
    work.status = reinterpret_cast<int*>(io.item_status);
    work.a = take_public<uint16_t>(workspace, arena.used() + one.used(), io.count, S::kEntries * kRowBytes);
  }
};

/// The matrix whose entries are sampled.
enum class Matrix { kA, kTransposedA };

/// The entries of A of `keys` keys: their destination, their seeds, and the list of entries that are left.
struct Entries {
  EntryArray to;
  SeedArray rho;
  uint32_t* retries;
  size_t keys;
};

/// Samples the entries of A, except for those that it puts on the list a.retries, which an earlier launch has cleared.
template <class Set, Matrix kMatrix>
void launch_sample_a(Launcher& to, const Entries& a) {
  constexpr bool kTransposed = kMatrix == Matrix::kTransposedA;
  const size_t entries = a.keys * Shape<Set>::kEntries;
  to.by_lane(sample_ntt_kernel<typename Set::Same, kTransposed>, entries, a.to, a.rho, a.retries,
             static_cast<uint32_t>(entries));
}

/// Samples the polynomials of noise that Noise describes, and the entries of A that launch_sample_a() has left: one in
/// 140. They are polynomials kFirst to kFirst + kPolys - 1 of the kAll of every item, with kEta.
template <class Set, Matrix kMatrix, class Noise>
void launch_noise(Launcher& to, uint32_t* noise, ItemWords seeds, const Entries& a) {
  constexpr bool kTransposed = kMatrix == Matrix::kTransposedA;
  const size_t left = polykem::cuda::blocks_for(a.keys * Shape<Set>::kEntries, 128 * 32);
  const size_t blocks = left + polykem::cuda::blocks_for(seeds.count * Noise::kPolys, 32);
  to.launch(
      sample_noise_kernel<typename Set::Same, kTransposed, Noise::kEta, Noise::kFirst, Noise::kPolys, Noise::kAll>,
      blocks, 32, noise, seeds, a.to, a.rho, a.retries, static_cast<uint32_t>(left));
}

/// The noise of launch_noise() where there are no seeds, so that only entries of A are sampled.
template <class Set>
struct NoNoise {
  static constexpr unsigned kEta = Shape<Set>::kEta2;
  static constexpr uint32_t kFirst = 0, kPolys = 1, kAll = 1;
};

/// Expands keys. pk and sk are their records; for public keys, sk has no base.
template <class Set, bool kSecret>
void launch_expand(Launcher& to, std::byte* out, Records pk, Records sk, size_t keys, uint32_t* retries) {
  using S = Shape<Set>;
  using ExpandedKey = typename S::ExpandedKey;
  constexpr size_t kBytes = kSecret ? ExpandedKey::kSecretBytes : ExpandedKey::kPublicBytes;
  Work work{};
  work.count = keys;
  work.pk = pk;
  work.sk = sk;
  work.retries = retries;
  using Hashes = std::conditional_t<kSecret, Set, typename Set::Same>;
  to.hash(expand_hashes_kernel<Hashes, kSecret>, warp_expand_hashes_kernel<Hashes, kSecret>, keys, out, kBytes, work);
  to.by_block(expand_vector_kernel<Set>, keys, kBlockItems, kThreads, out + ExpandedKey::kT, kBytes,
              reinterpret_cast<uint32_t*>(out + ExpandedKey::kPublicValid), pk, keys);
  if constexpr (kSecret)
    to.by_block(expand_vector_kernel<Set>, keys, kBlockItems, kThreads, out + ExpandedKey::kS, kBytes, nullptr, sk,
                keys);
  const Entries a{{out, kBytes}, {pk.base + S::kVectorBytes, pk.stride, 4}, retries, keys};
  launch_sample_a<Set, Matrix::kTransposedA>(to, a);
  launch_noise<Set, Matrix::kTransposedA, NoNoise<Set>>(to, nullptr, {}, a);
}

template <class Set>
struct Plan {
  using S = Shape<Set>;
  using Same = typename Set::Same;
  using Context = LaunchContext<Set>;
  using Step = polykem::KernelStep<Context, StepStages>;
  static_assert(kMaxItems * S::kEntries <= size_t{1} << 31);

  // ---- shared

  /// Returns the entries of A^T of all keys if they are records, or no entries if they are expanded.
  static Entries transposed(const Context& context) {
    return {{reinterpret_cast<std::byte*>(context.work.a), S::kEntries * kRowBytes},
            {context.work.pk.base + S::kVectorBytes, context.work.pk.stride, 4},
            context.work.retries,
            context.has_expanded_keys() ? 0 : context.count()};
  }
  static void sample_a_transposed(Context& context) {
    if (!context.has_expanded_keys()) launch_sample_a<Set, Matrix::kTransposedA>(context.to, transposed(context));
  }
  template <bool kSecret>
  static void expand_shared(Context& context) {
    if (context.expands_key())
      launch_expand<Set, kSecret>(context.to, context.expanded_key, context.work.pk, context.work.sk, 1,
                                  context.work.retries);
  }

  /// The noise of an encryption: y, e1 and e2 at once if eta1 and eta2 are equal, else y, then e1 and e2.
  struct EncryptionNoise {
    static constexpr unsigned kEta = S::kEta1;
    static constexpr uint32_t kFirst = 0, kAll = 2 * S::kK + 1, kPolys = S::kEta1 == S::kEta2 ? kAll : uint32_t{S::kK};
  };
  struct EncryptionErrors {
    static constexpr unsigned kEta = S::kEta2;
    static constexpr uint32_t kFirst = S::kK, kAll = 2 * S::kK + 1, kPolys = S::kK + 1;
  };
  static void sample_noise(Context& context) {
    launch_noise<Set, Matrix::kTransposedA, EncryptionNoise>(context.to, context.work.noise, context.work.prf_seed,
                                                             transposed(context));
    if constexpr (S::kEta1 != S::kEta2)
      launch_noise<Set, Matrix::kTransposedA, EncryptionErrors>(context.to, context.work.noise, context.work.prf_seed,
                                                                {});
  }

  /// Returns the form of a kernel for the keys' form: records or expanded.
  template <class Kernel>
  static Kernel choose(const Context& context, Kernel for_records, Kernel for_expanded) {
    return context.has_expanded_keys() ? for_expanded : for_records;
  }

  // ---- keygen

  static void make_seeds(Context& context) {
    context.to.hash(make_seeds_kernel<Set>, warp_make_seeds_kernel<Set>, context.count(), context.work);
  }
  static Entries entries(const Context& context) {
    return {{reinterpret_cast<std::byte*>(context.work.a), S::kEntries * kRowBytes},
            {reinterpret_cast<const uint8_t*>(context.work.rho.base), 4, 4 * context.count()},
            context.work.retries,
            context.count()};
  }
  static void sample_a(Context& context) { launch_sample_a<Set, Matrix::kA>(context.to, entries(context)); }
  /// The noise of key generation: s and e.
  struct KeygenNoise {
    static constexpr unsigned kEta = S::kEta1;
    static constexpr uint32_t kFirst = 0, kAll = 2 * S::kK, kPolys = kAll;
  };
  static void sample_se(Context& context) {
    launch_noise<Set, Matrix::kA, KeygenNoise>(context.to, context.work.noise, context.work.prf_seed, entries(context));
  }
  static void multiply_keys(Context& context) {
    context.to.by_block(keygen_kernel<Same>, context.count(), kBlockItems, kThreads, context.work);
  }
  static void hash_new_pk(Context& context) {
    context.to.hash(hash_new_pk_kernel<Same>, warp_hash_new_pk_kernel<Same>, context.count(), context.work);
  }

  // ---- encaps

  static void hash_encaps(Context& context) {
    expand_shared<false>(context);
    context.to.hash(choose(context, hash_encaps_kernel<Set, false>, hash_encaps_kernel<Set, true>),
                    choose(context, warp_hash_encaps_kernel<Set, false>, warp_hash_encaps_kernel<Set, true>),
                    context.count(), context.work);
  }
  static void encrypt(Context& context) {
    context.to.by_block(choose(context, encrypt_kernel<Set, false>, encrypt_kernel<Set, true>), context.count(),
                        kBlockItems, kThreads, context.work);
  }
  static void derive_encaps(Context& context) {
    context.to.hash(derive_encaps_kernel<Set>, warp_derive_encaps_kernel<Set>, context.count(), context.work);
  }

  // ---- decaps

  /// Checks the stored H(pk) of each key. If items are few, hash_decaps() does so beside its other hashes.
  static void check_sk(Context& context) {
    expand_shared<true>(context);
    if (!context.has_expanded_keys() && !context.has_few_items())
      context.to.by_lane(check_sk_kernel<Set>, context.count(), context.work);
  }
  static void decrypt(Context& context) {
    if constexpr (S::kKyber) expand_shared<true>(context);
    context.to.by_block(choose(context, decrypt_kernel<Same, false>, decrypt_kernel<Same, true>), context.count(),
                        kBlockItems, kThreads, context.work);
  }
  static void hash_decaps(Context& context) {
    if (context.has_few_items()) {
      const unsigned warps = context.has_expanded_keys() ? kDecapsHashes<Set, true> : kDecapsHashes<Set, false>;
      context.to.launch(choose(context, warp_hash_decaps_kernel<Set, false>, warp_hash_decaps_kernel<Set, true>),
                        context.count(), 32 * warps, context.work);
    } else {
      context.to.by_lane(choose(context, hash_decaps_kernel<Set, false>, hash_decaps_kernel<Set, true>),
                         context.count(), context.work);
    }
  }
  static void compare(Context& context) {
    context.to.by_block(choose(context, compare_kernel<Set, false>, compare_kernel<Set, true>), context.count(),
                        kBlockItems, kThreads, context.work);
  }
  static void derive_decaps(Context& context) {
    context.to.hash(choose(context, derive_decaps_kernel<Set, false>, derive_decaps_kernel<Set, true>),
                    choose(context, warp_derive_decaps_kernel<Set, false>, warp_derive_decaps_kernel<Set, true>),
                    context.count(), context.work);
  }

  // ---- the lists. Each stage is listed where the reference has it; t of a record is unpacked in the kernel that
  // multiplies by it.

  static constexpr auto keygen = kernel_plan_of<kKeygenStages, Context>({
      {{"coins_sha3_512", "randombytes", "sha3_512.G"}, field::kCoins, 0, make_seeds},
      {"sample_ntt", 0, 0, sample_a},
      {"sample_poly_cbd", 0, 0, sample_se},
      {{"ntt_multiply_encode", "ntt", "byte_encode"}, 0, field::kPkOut | field::kSkOut, multiply_keys},
      {"sha3_256.H", 0, field::kSkOut, hash_new_pk},
  });

  static consteval auto encaps_plan() {
    const Step hash{{"coins_sha3", "randombytes", "sha3_512.G"}, field::kCoins | field::kPk, 0, hash_encaps};
    const Step matrix{{"sample_ntt", "byte_decode", "sample_ntt"}, field::kPk, 0, sample_a_transposed};
    const Step noise{"sample_poly_cbd", 0, 0, sample_noise};
    constexpr Fields kWritten = field::kCtOut | field::kSsOut | field::kItemStatus;
    if constexpr (S::kKyber) {
      return kernel_plan_of<kEncapsStages, Context>({
          hash,
          matrix,
          noise,
          {{"encrypt", "ntt", "compress_byte_encode"}, field::kPk, field::kCtOut, encrypt},
          {"shared_secret", 0, field::kSsOut, derive_encaps},
      });
    } else {
      return kernel_plan_of<kEncapsStages, Context>({
          hash,
          matrix,
          noise,
          {{"encrypt", "ntt", "shared_secret"}, field::kPk, kWritten, encrypt},
      });
    }
  }

  static consteval auto decaps_plan() {
    constexpr Fields kInputs = field::kSk | field::kCt;
    const Step hash{{"sha3_512_shake256", "sha3_512.G", "shake256.J"}, kInputs, 0, hash_decaps};
    const Step matrix{"sample_ntt", field::kSk, 0, sample_a_transposed};
    const Step noise{"sample_poly_cbd", 0, 0, sample_noise};
    if constexpr (S::kKyber) {
      return kernel_plan_of<kDecapsStages, Context>({
          {{"decrypt", "sha3_256.H", "compress.m"}, kInputs, 0, decrypt},
          hash,
          matrix,
          noise,
          {{"encrypt_compare", "ntt", "compress_compare"}, kInputs, 0, compare},
          {"cmov", field::kSk, field::kSsOut, derive_decaps},
      });
    } else {
      return kernel_plan_of<kDecapsStages, Context>({
          {"sha3_256.H", field::kSk, 0, check_sk},
          {{"decrypt", "byte_decode", "compress.m"}, kInputs, 0, decrypt},
          hash,
          matrix,
          noise,
          {{"encrypt_compare_cmov", "ntt", "cmov"}, kInputs, field::kSsOut | field::kItemStatus, compare},
      });
    }
  }

  static constexpr auto encaps = encaps_plan();
  static constexpr auto decaps = decaps_plan();

  using Operations = polykem::cuda::PlanOperations<Plan, Context>;

  /// The number of items whose hashes, a thread each, keep a device busy: four warps for each multiprocessor. In
  /// encaps, where kernels take as long as the copies, parts have two or three times as many if another batch covers
  /// the first and last copies.
  static constexpr size_t kItemsToFillDevice = polykem::cuda::kMeasuredMultiprocessors * 128;

  template <Op kOp>
  static constexpr DeviceOperation operation() {
    constexpr MlkemParams kP = S::kParams;
    constexpr size_t kCoins = kOp == Op::kKeygen ? kKeygenCoinBytes : kOp == Op::kEncaps ? kEncapsCoinBytes : 0;
    return {.scheme = Set::kName,
            .op = kOp,
            .record_bytes = {kP.public_key_bytes(), kP.secret_key_bytes(), kP.ciphertext_bytes(), kSymBytes, kCoins},
            .steps = Operations::template kSteps<kOp>,
            .part_items = kItemsToFillDevice,
            .busy_part_items = kOp == Op::kEncaps ? (kP.k == 4 ? 3 : 2) * kItemsToFillDevice : 0,
            .staged_bytes = size_t{4} << 20,
            .min_items = 1024,
            .max_items = kMaxItems,
            .workspace_bytes = Operations::template workspace_bytes<kOp>,
            .secret_bytes = Operations::template secret_bytes<kOp>,
            .tiles = nullptr,
            .run_step = Operations::template run_step<kOp>};
  }

  // ---- key sets

  static size_t expand_workspace_bytes(size_t count) {
    polykem::cuda::DeviceArena arena(nullptr, count);
    arena.take<uint32_t>((S::kEntries + 1) * sizeof(uint32_t));
    return arena.used();
  }
  template <bool kSecret>
  static int expand(std::byte* out, const uint8_t* keys, size_t count, std::byte* workspace, void* stream) {
    Launcher to{static_cast<cudaStream_t>(stream)};
    const Records records{keys, static_cast<uint32_t>(kSecret ? S::kSecretKeyBytes : S::kPublicKeyBytes)};
    const Records pk = kSecret ? Records{keys + S::kPkOffset, records.stride} : records;
    launch_expand<Set, kSecret>(to, out, pk, kSecret ? records : Records{nullptr, 0}, count,
                                reinterpret_cast<uint32_t*>(workspace));
    return static_cast<int>(to.error);
  }
};

template <class Set>
constexpr DeviceScheme device_scheme() {
  using P = Plan<Set>;
  using ExpandedKey = typename Shape<Set>::ExpandedKey;
  return {.name = Set::kName,
          .operations = {P::template operation<Op::kKeygen>(), P::template operation<Op::kEncaps>(),
                         P::template operation<Op::kDecaps>()},
          .expanded_public_key = {ExpandedKey::kPublicBytes, P::expand_workspace_bytes, P::template expand<false>},
          .expanded_secret_key = {ExpandedKey::kSecretBytes, P::expand_workspace_bytes, P::template expand<true>}};
}

}  // namespace polykem::mlkem::cuda
