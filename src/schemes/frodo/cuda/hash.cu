// SPDX-License-Identifier: Apache-2.0
// The kernels that hash, make coins and sample. Each thread computes one item, in blocks of one warp; small batches use
// the kernels of hash_warp.cuh. Records have any alignment; sizes.hpp says how rows of the workspace are aligned.
// kRate: 21 for SHAKE128, 17 for SHAKE256.
#include <type_traits>

#include "prim/cuda/warp.cuh"
#include "prim/drbg/cuda/drbg.cuh"
#include "prim/keccak/cuda/shake.cuh"
#include "schemes/frodo/cuda/hash_warp.cuh"

namespace polykem::frodo::cuda {

namespace {

using polykem::cuda::keccak_f1600;
using polykem::cuda::kShakeScratchWords;
using polykem::cuda::LaneItem;
using polykem::cuda::warp_lane;

/// The number of one-warp blocks for which a multiprocessor must have registers, on compute capability 9.0: twenty, 24
/// in kernels that sample errors. Elsewhere the compiler chooses.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr int kLaneBlocks = 20, kNoiseBlocks = 24;
#else
constexpr int kLaneBlocks = 1, kNoiseBlocks = 1;
#endif

/// Returns the warp's records as messages of `words` 64-bit words.
__device__ __forceinline__ polykem::cuda::LaneMessages messages(const LaneItem& item, const Records& records,
                                                                uint32_t words) {
  return {records[item.first], records.stride, item.valid_lanes(), words};
}

/// Stores the first `words` of up to kWords words of the state at any alignment.
template <int kWords>
__device__ __forceinline__ void store_state(uint8_t* to, const uint64_t (&state)[25], uint32_t words) {
#pragma unroll
  for (int j = 0; j < kWords; ++j) {
    if (static_cast<uint32_t>(j) >= words) break;
    store_word64(to, j, state[j]);
  }
}

__device__ __forceinline__ uint64_t load_word(const uint8_t* from) {
  uint64_t word = 0;
#pragma unroll
  for (int b = 0; b < 8; ++b)
    word |= static_cast<uint64_t>(from[b]) << (8 * b);
  return word;
}

/// Computes randombytes. Each lane makes a block.
__global__ void __launch_bounds__(32, kLaneBlocks)
    coin_kernel(uint8_t* rows, const uint32_t* seed, polykem::cuda::CoinDomain domain, uint64_t count) {
  __shared__ uint4 scratch[polykem::cuda::kCoinScratchPieces];
  polykem::cuda::warp_make_coins<kCoinBlocks, kCoinStride>(rows, seed, domain, blockIdx.x, count, scratch, warp_lane());
}

/// Computes shake.pkh: hashes each record of `bytes` bytes, a multiple of 8.
template <int kRate>
__global__ void __launch_bounds__(32, kLaneBlocks)
    hash_pk_kernel(Rows out, Records pk, uint32_t bytes, uint32_t secret_words, size_t count) {
  __shared__ uint32_t scratch[kShakeScratchWords<kRate>];
  const LaneItem item(count);
  uint64_t state[25];
  polykem::cuda::warp_absorb<kRate>(state, scratch, item.lane, messages(item, pk, bytes / 8), 0,
                                    [](uint32_t) { return uint64_t{0}; });
  if (item.valid()) store_state<4>(out[item.index()], state, secret_words);
}

/// Shared memory of squeeze_noise: random words, one row for each index, and errors, one row for each lane.
template <int kRate>
struct NoiseScratch {
  uint64_t words[kRate][32];
  uint32_t errors[32][kRate];
};

/// Stores a block of errors, kRate words for each item, at `to` and at the same index of the following rows. kWhole:
/// all lanes have an item, so that no store needs a condition.
template <int kRate, bool kWhole>
__device__ __forceinline__ void store_errors(uint32_t* to, uint32_t stride, const NoiseScratch<kRate>& scratch,
                                             unsigned lane, unsigned valid) {
  constexpr unsigned kHalf = 16;  // half a warp stores this many words of an item, each lane the others of its own item
  stride /= sizeof(uint32_t);
  uint32_t* half = to + lane / kHalf * stride + lane % kHalf;
  const uint32_t* const from = scratch.errors[lane / kHalf] + lane % kHalf;
#pragma unroll(kWhole ? 16 : 4)
  for (unsigned m = 0; m < 32; m += 2, half += 2 * stride) {
    if (kWhole || m + lane / kHalf < valid) *half = from[m * kRate];
  }
  if (!kWhole && lane >= valid) return;
#pragma unroll
  for (unsigned j = kHalf; j < kRate; ++j)
    to[lane * stride + j] = scratch.errors[lane][j];
}

/// Squeezes r and stores the errors. state: the message 0x5f or 0x96, seedSE is absorbed but not yet permuted. The
/// words of a block are sampled, one in each round, while the state is permuted for the next block: samples take other
/// units than rounds, and warps that sampled all words at once would wait for those units.
template <int kRate, int kThresholds>
__device__ __forceinline__ void squeeze_noise(uint64_t (&state)[25], NoiseScratch<kRate>& scratch, const LaneItem& item,
                                              Rows noise, uint32_t samples, const Thresholds& t) {
  const uint32_t blocks = (samples + 4 * kRate - 1) / (4 * kRate);
  const unsigned valid = item.valid_lanes();
#pragma unroll 1
  for (uint32_t block = 0; block <= blocks; ++block) {
#pragma unroll
    for (int j = 0; j < kRate; ++j)
      scratch.words[j][item.lane] = state[j];
    polykem::cuda::keccak_f1600<kRate>(
        state, [&](int j) { scratch.errors[item.lane][j] = sample4<kThresholds>(scratch.words[j][item.lane], t); });
    if (block == 0) continue;  // what was sampled is the state before the first block
    __syncwarp();
    auto* const to = reinterpret_cast<uint32_t*>(noise[item.first]) + (block - 1) * kRate;
    if (valid == 32) {
      store_errors<kRate, true>(to, noise.stride, scratch, item.lane, valid);
    } else {
      store_errors<kRate, false>(to, noise.stride, scratch, item.lane, valid);
    }
    __syncwarp();
  }
}

/// Absorbs the message domain, seedSE and its suffix. seedSE: the first `words` words of the state, at most 8.
template <int kRate>
__device__ __forceinline__ void absorb_seed_se(uint64_t (&state)[25], uint8_t domain, uint32_t words) {
  uint64_t before = static_cast<uint64_t>(domain) << 56;
  uint64_t seed[9];
#pragma unroll
  for (int j = 0; j < 9; ++j) {
    const uint64_t own = static_cast<uint32_t>(j) < words ? state[j] : kShakeSuffix;
    seed[j] = static_cast<uint32_t>(j) <= words ? (before >> 56) | (own << 8) : 0;
    before = own;
  }
  polykem::cuda::absorb_words<kRate, 9>(state, [&](int j) { return seed[j < 9 ? j : 0]; });
}

/// Computes shake.seed_a, shake.r and sample_matrix of keygen. s goes into sk, seedA into pk and sk.
template <int kRate, int kThresholds>
__global__ void __launch_bounds__(32, kNoiseBlocks)
    expand_keygen_kernel(uint8_t* pk, uint8_t* sk, Rows noise, Rows coins, Sizes sizes, Thresholds t, size_t count) {
  __shared__ NoiseScratch<kRate> scratch;
  const LaneItem item(count);
  const uint64_t* const row = coins.words(item.index());
  uint64_t state[25];
  const uint64_t* const z = row + sizes.secret_words + sizes.seed_words;
  polykem::cuda::absorb_words<kRate, 3>(state, [&](int j) { return j < 2 ? z[j] : kShakeSuffix; });
  keccak_f1600(state);
  if (item.valid()) {
    uint8_t* const own = sk + item.index() * sizes.sk_bytes;
    store_state<2>(pk + item.index() * sizes.pk_bytes, state, 2);
    store_state<2>(own + sizes.pk_offset, state, 2);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      state[j] = row[j];
    store_state<4>(own, state, sizes.secret_words);
  }
#pragma unroll
  for (int j = 0; j < 8; ++j)
    state[j] = row[sizes.secret_words + j];  // beyond seedSE there are other words, which absorb_seed_se leaves out
  absorb_seed_se<kRate>(state, kSeedDomainKeygen, sizes.seed_words);
  squeeze_noise<kRate, kThresholds>(state, scratch, item, noise, 16 * sizes.n, t);
}

/// Computes shake.seed_se, shake.r and sample_matrix of encaps and decaps. coins: mu and salt. k: rows of kSecretStride
/// bytes.
template <int kRate, int kThresholds>
__global__ void __launch_bounds__(32, kNoiseBlocks)
    expand_encaps_kernel(Rows noise, Rows k, Rows pkh, Rows coins, Sizes sizes, Thresholds t, size_t count) {
  constexpr int kMessage = 17;  // pkh, mu, salt and the suffix
  static_assert(kMessage <= kRate);
  __shared__ NoiseScratch<kRate> scratch;
  const LaneItem item(count);
  const uint32_t secret = sizes.secret_words, all = 2 * secret + sizes.salt_words;
  const uint64_t* const hash = pkh.words(item.index());
  const uint64_t* const row = coins.words(item.index());
  uint64_t state[25];
  polykem::cuda::absorb_words<kRate, kMessage>(state, [&](int j) {
    const auto at = static_cast<uint32_t>(j);
    const uint64_t word = at < secret ? hash[at] : row[at - secret];  // loaded in any case: rows are long enough
    return at < all ? word : at == all ? kShakeSuffix : 0;
  });
  keccak_f1600(state);
#pragma unroll
  for (int j = 0; j < 12; ++j) {
    const uint32_t at = static_cast<uint32_t>(j) - sizes.seed_words;
    if (at < secret && item.valid()) k.words(item.index())[at] = state[j];
  }
  absorb_seed_se<kRate>(state, kSeedDomainEncaps, sizes.seed_words);
  squeeze_noise<kRate, kThresholds>(state, scratch, item, noise, 16 * sizes.n + kSquare, t);
}

/// Computes select and shake.ss: the hash of c1, c2, salt, and k, or s instead of k where fail is not 0. fail: nullptr
/// in encaps.
template <int kRate>
__global__ void __launch_bounds__(32, kLaneBlocks)
    hash_ss_kernel(uint8_t* ss, Records ct, Rows k, Records sk, const uint32_t* fail, Sizes sizes, size_t count) {
  __shared__ uint32_t scratch[kShakeScratchWords<kRate>];
  const LaneItem item(count);
  const size_t i = item.index();
  const uint64_t keep = fail != nullptr && fail[i] != 0 ? 0 : ~uint64_t{0};
  uint64_t state[25];
  polykem::cuda::warp_absorb<kRate>(state, scratch, item.lane, messages(item, ct, sizes.ct_bytes / 8),
                                    sizes.secret_words, [&](uint32_t j) {
                                      const uint64_t own = k.words(i)[j];
                                      return fail == nullptr ? own : (own & keep) | (load_word(sk[i] + 8 * j) & ~keep);
                                    });
  if (item.valid()) store_state<4>(ss + i * sizes.secret_bytes(), state, sizes.secret_words);
}

/// The largest number of items for which a warp computes an item, in the kernels that sample errors. It is larger than
/// kFewMessages, since a thread samples all errors of an item, while a warp has them in its lanes. A warp does more
/// work for an item than a thread. That pays while the GPU waits for threads; while the GPU also has other parts to
/// work on, it pays only for kFewOverlapped items.
constexpr size_t kFewNoises = 3700, kFewOverlapped = 512;

/// Returns true if there are too few items to fill the GPU with a thread for each.
bool has_few_items(const LaunchContext& context, size_t max_items = polykem::cuda::kFewMessages) {
  const size_t items = context.io.overlapped ? kFewOverlapped : max_items;
  return polykem::cuda::is_few(context.count(), polykem::cuda::for_current_device(items));
}

/// Calls f with the rate and the number of thresholds of a set as types: SHAKE128 for n = 640, SHAKE256 for the others.
template <class F>
void with_rate(const LaunchContext& context, F&& f) {
  constexpr auto k640 = static_cast<int>(kFrodo640.cdf.size - 1), k976 = static_cast<int>(kFrodo976.cdf.size - 1);
  static_assert(kFrodo976.cdf.size >= kFrodo1344.cdf.size);
  if (context.set.p.shake256) {
    f(std::integral_constant<int, polykem::cuda::kShake256Words>{}, std::integral_constant<int, k976>{});
  } else {
    f(std::integral_constant<int, polykem::cuda::kShake128Words>{}, std::integral_constant<int, k640>{});
  }
}

}  // namespace

void make_coins(LaunchContext& context) {
  const size_t bytes = context.op == Op::kKeygen ? context.set.keygen_coin_bytes() : context.set.encaps_coin_bytes();
  if (context.io.coins != nullptr) {
    context.to.keep(cudaMemcpy2DAsync(context.coins, kCoinStride, context.io.coins, bytes, bytes, context.count(),
                                      cudaMemcpyDeviceToDevice, context.to.stream));
    return;
  }
  const auto domain =
      context.op == Op::kKeygen ? polykem::cuda::CoinDomain::kKeygen : polykem::cuda::CoinDomain::kEncaps;
  context.to.launch(coin_kernel, polykem::cuda::blocks_for(context.count() * kCoinBlocks, 32), 32, context.coins,
                    context.io.seed, domain, context.count());
}

void expand_keygen(LaunchContext& context) {
  with_rate(context, [&](auto rate, auto count) {
    if (has_few_items(context, kFewNoises))
      return context.to.launch(warp_expand_keygen_kernel<rate, count>, context.count(), 32, context.io.pk_out,
                               context.io.sk_out, noise_of(context), coins_of(context), context.sizes,
                               thresholds(context.set.p.cdf));
    context.to.by_lane(expand_keygen_kernel<rate, count>, context.count(), context.io.pk_out, context.io.sk_out,
                       noise_of(context), coins_of(context), context.sizes, thresholds(context.set.p.cdf),
                       context.count());
  });
}

void hash_new_pk(LaunchContext& context) {
  with_rate(context, [&](auto rate, auto) {
    const Rows out{context.io.sk_out + context.sizes.pkh_offset, context.sizes.sk_bytes};
    const Records pk{context.io.pk_out, context.sizes.pk_bytes};
    if (has_few_items(context))
      return context.to.launch(warp_hash_pk_kernel<rate>, context.count(), 32, out, pk, context.sizes.pk_bytes,
                               context.sizes.secret_words);
    context.to.by_lane(hash_pk_kernel<rate>, context.count(), out, pk, context.sizes.pk_bytes,
                       context.sizes.secret_words, context.count());
  });
}

void hash_pk(LaunchContext& context) {
  if (context.has_expanded_key()) return;
  with_rate(context, [&](auto rate, auto) {
    const size_t keys = context.keys();
    if (keys == 1 || has_few_items(context))
      return context.to.launch(warp_hash_pk_kernel<rate>, keys, 32, pkh_of(context), pk_of(context),
                               context.sizes.pk_bytes, context.sizes.secret_words);
    context.to.by_lane(hash_pk_kernel<rate>, context.count(), pkh_of(context), pk_of(context), context.sizes.pk_bytes,
                       context.sizes.secret_words, context.count());
  });
}

void expand_encaps(LaunchContext& context) {
  with_rate(context, [&](auto rate, auto count) {
    if (has_few_items(context, kFewNoises))
      return context.to.launch(warp_expand_encaps_kernel<rate, count>, context.count(), 32, noise_of(context),
                               k_of(context), pkh_of(context), coins_of(context), context.sizes,
                               thresholds(context.set.p.cdf));
    context.to.by_lane(expand_encaps_kernel<rate, count>, context.count(), noise_of(context), k_of(context),
                       pkh_of(context), coins_of(context), context.sizes, thresholds(context.set.p.cdf),
                       context.count());
  });
}

void hash_ss(LaunchContext& context) {
  const uint32_t* fail = context.op == Op::kDecaps ? context.fail : nullptr;
  with_rate(context, [&](auto rate, auto) {
    if (has_few_items(context))
      return context.to.launch(warp_hash_ss_kernel<rate>, context.count(), 32, context.io.ss_out, ct_of(context),
                               k_of(context), sk_of(context), fail, context.sizes);
    context.to.by_lane(hash_ss_kernel<rate>, context.count(), context.io.ss_out, ct_of(context), k_of(context),
                       sk_of(context), fail, context.sizes, context.count());
  });
}

}  // namespace polykem::frodo::cuda
