// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's launch lists. One list serves all sets; a set's sizes are looked up as it runs.
#include "schemes/frodo/cuda/frodo_cuda.hpp"

#include <array>
#include <utility>

#include "prim/cuda/multiprocessors.hpp"
#include "prim/cuda/plan_operations.hpp"
#include "schemes/frodo/cuda/context.hpp"
#include "schemes/frodo/stages.hpp"

namespace polykem::frodo::cuda {

LaunchContext::LaunchContext(const Set& of, const DeviceBatch& batch, std::byte* workspace, cudaStream_t on, Op which)
    : BatchContext(batch, on), set(of), sizes(sizes_of(of)), op(which) {
  use_secret(allocate(workspace));
}

size_t LaunchContext::allocate(std::byte* workspace) {
  polykem::cuda::DeviceArena arena(workspace, io.count);
  coins = arena.take<uint8_t>(kCoinStride);
  noise = arena.take<uint8_t>(sizes.noise_stride);
  if (op == Op::kKeygen) return arena.used();
  pkh = arena.take<uint8_t>(kSecretStride);
  k = arena.take<uint8_t>(kSecretStride);
  if (op == Op::kDecaps) fail = arena.take<uint32_t>(sizeof(uint32_t));
  v = arena.take<uint16_t>(kSquare * sizeof(uint16_t));
  if (has_expanded_key()) {
    limbs = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(io.expanded.data));
    if (op == Op::kEncaps) pkh = limbs + limb_bytes(sizes.n);
  } else if (is_kept(io.count)) {
    polykem::cuda::DeviceArena one(workspace + arena.used(), 1);
    limbs = one.take<uint8_t>(limb_bytes(sizes.n));
    return arena.used() + one.used();
  }
  return arena.used();
}

namespace {

void mul_a_s(LaunchContext& context) {
  context.set.gen_a == GenA::kShake ? mul_a_s_shake(context) : mul_a_s_aes(context);
}

void mul_s_a(LaunchContext& context) {
  if (context.keeps_a()) {
    mul_s_a_shared(context);
  } else {
    context.set.gen_a == GenA::kShake ? mul_s_a_shake(context) : mul_s_a_aes(context);
  }
}

struct Plan {
  static constexpr auto keygen = kernel_plan_of<kKeygenStages, LaunchContext>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_coins},
      {{"shake_sample", "shake.seed_a", "sample_matrix"}, 0, field::kPkOut | field::kSkOut, expand_keygen},
      {{"gen_a_mul_pack", "gen_a", "pack"}, field::kPkOut, field::kPkOut | field::kSkOut, mul_a_s, true},
      {"shake.pkh", field::kPkOut, field::kSkOut, hash_new_pk},
      {{"store_s", "store_sk"}, 0, field::kSkOut, store_s},
  });
  static constexpr auto encaps = kernel_plan_of<kEncapsStages, LaunchContext>({
      {{"coins", "randombytes"}, field::kCoins, 0, make_coins},
      {"shake.pkh", field::kPk, 0, hash_pk},
      {{"shake_sample", "shake.seed_se", "sample_matrix"}, 0, 0, expand_encaps},
      {{"gen_a_mul_pack", "gen_a", "pack.c1"}, field::kPk, field::kCtOut, mul_s_a, true},
      {{"mul_encode_pack", "unpack.b", "pack.c2"}, field::kPk, field::kCtOut, encrypt_mu},
      {"shake.ss", field::kCtOut, field::kSsOut, hash_ss},
  });
  /// The product compares c1 with the ciphertext, so that B'' is not stored.
  static constexpr auto decaps = kernel_plan_of<kDecapsStages, LaunchContext>({
      {{"mul_decode", "unpack.c", "decode"}, field::kSk | field::kCt, 0, decrypt_mu},
      {{"shake_sample", "shake.seed_se", "sample_matrix"}, 0, 0, expand_encaps},
      {{"gen_a_mul_compare", "gen_a", "matmul.sa"}, field::kSk | field::kCt, 0, mul_s_a, true},
      {{"mul_encode_compare", "unpack.b", "compare"}, field::kSk | field::kCt, 0, encrypt_mu},
      {{"select_shake.ss", "select", "shake.ss"}, field::kSk | field::kCt, field::kSsOut, hash_ss},
  });
};

template <size_t kSet>
struct ContextOfSet : LaunchContext {
  ContextOfSet(const DeviceBatch& batch, std::byte* workspace, cudaStream_t stream, Op op)
      : LaunchContext(kSets[kSet], batch, workspace, stream, op) {}
};

/// Hashes take one thread per item and a fifth of a millisecond for each kilobyte. 128 items for each multiprocessor
/// keep it full while they last.
constexpr size_t kPartItems = polykem::cuda::kMeasuredMultiprocessors * 128;
constexpr size_t kStagedBytes = size_t{8} << 20;
/// Fewer items leave multiprocessors without one.
constexpr size_t kMinItems = 256;

template <size_t kSet, Op kOp>
constexpr DeviceOperation operation() {
  using Operations = polykem::cuda::PlanOperations<Plan, ContextOfSet<kSet>>;
  constexpr const Set& kS = kSets[kSet];
  constexpr size_t kCoins = kOp == Op::kKeygen   ? kS.keygen_coin_bytes()
                            : kOp == Op::kEncaps ? kS.encaps_coin_bytes()
                                                 : 0;
  return {
      .scheme = kS.name,
      .op = kOp,
      .record_bytes = {kS.public_key_bytes(), kS.secret_key_bytes(), kS.ciphertext_bytes(), kS.p.secret_bytes, kCoins},
      .steps = Operations::template kSteps<kOp>,
      .part_items = kPartItems,
      .staged_bytes = kStagedBytes,
      .min_items = kMinItems,
      .max_items = kMaxItems,
      .workspace_bytes = Operations::template workspace_bytes<kOp>,
      .tiles = nullptr,
      .run_step = Operations::template run_step<kOp>};
}

/// The number of keys of a set that keep A: 61 MB for n = 1344.
constexpr size_t kMaxExpandedKeys = 16;

size_t no_workspace(size_t) {
  return 0;
}

/// Expands keys. kOp: the operation that uses them.
template <size_t kSet, Op kOp>
int expand(std::byte* out, const uint8_t* keys, size_t count, std::byte*, void* stream) {
  constexpr const Set& kS = kSets[kSet];
  cudaError_t error = cudaSuccess;
  for (size_t i = 0; i < count && error == cudaSuccess; ++i, out += expanded_key_bytes(kS.n())) {
    DeviceBatch batch;
    batch.count = 1;
    batch.shared_key = true;
    if constexpr (kOp == Op::kEncaps) batch.pk = keys + i * kS.public_key_bytes();
    if constexpr (kOp == Op::kDecaps) batch.sk = keys + i * kS.secret_key_bytes();
    LaunchContext context(kS, batch, nullptr, static_cast<cudaStream_t>(stream), kOp);
    context.limbs = reinterpret_cast<uint8_t*>(out);
    context.pkh = context.limbs + limb_bytes(kS.n());
    expand_key(context);
    if constexpr (kOp == Op::kEncaps) hash_pk(context);
    error = context.to.error;
  }
  return static_cast<int>(error);
}

template <size_t kSet, Op kOp>
constexpr DeviceExpandedKeyFormat kExpandedKey = {.bytes = expanded_key_bytes(kSets[kSet].n()),
                                                  .workspace_bytes = no_workspace,
                                                  .expand = expand<kSet, kOp>,
                                                  .max_keys = kMaxExpandedKeys,
                                                  .shared_only = true};

template <size_t kSet>
constexpr DeviceScheme kScheme = {
    .name = kSets[kSet].name,
    .operations = {operation<kSet, Op::kKeygen>(), operation<kSet, Op::kEncaps>(), operation<kSet, Op::kDecaps>()},
    .expanded_public_key = kExpandedKey<kSet, Op::kEncaps>,
    .expanded_secret_key = kExpandedKey<kSet, Op::kDecaps>,
    .shared_bytes =
        kSets[kSet].gen_a == GenA::kAes ? aes_shared_bytes(kSets[kSet].n()) : shake_shared_bytes(kSets[kSet].n())};

template <size_t... kSet>
std::span<const DeviceScheme* const> all_schemes(std::index_sequence<kSet...>) {
  static const DeviceScheme* const all[] = {&kScheme<kSet>...};
  return all;
}

}  // namespace

std::span<const DeviceScheme* const> schemes() {
  return all_schemes(std::make_index_sequence<kSetCount>());
}

}  // namespace polykem::frodo::cuda
