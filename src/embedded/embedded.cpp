// SPDX-License-Identifier: Apache-2.0
// The functions of embedded.h: they check arguments, run the set's operation, and zeroize what it used.
#include "embedded/request.hpp"

#include <cstring>

#include "core/secure.hpp"

namespace {

using polykem::Status;
using polykem::embedded::Request;

static_assert(POLYKEM_EMBEDDED_ERR_ARGUMENT == static_cast<int>(Status::kArgument));
static_assert(POLYKEM_EMBEDDED_ERR_RANDOM == static_cast<int>(Status::kRandom));
static_assert(POLYKEM_EMBEDDED_ERR_PUBLIC_KEY == static_cast<int>(Status::kPublicKey));
static_assert(POLYKEM_EMBEDDED_ERR_SECRET_KEY == static_cast<int>(Status::kSecretKey));

/// The part of a set's stack_bytes for the frames of the functions here and of what they call to zeroize it.
constexpr size_t kOwnFrames = 256;

/// Zeroizes `bytes` of the stack below the caller's frame. It calls nothing, so that nothing is left below.
[[gnu::noinline]] void zeroize_stack(size_t bytes) {
  auto* below = static_cast<volatile uint32_t*>(__builtin_alloca(bytes));
  for (size_t i = 0; i < bytes / sizeof *below; ++i)
    below[i] = 0;
}

/// Clears the registers and flags that a call may change. Products, transforms, inversions and Keccak keep words in
/// those of floating point; SMLAD and additions of pairs leave flags.
void clear_registers() {
#if defined(__arm__) && defined(__ARM_FP) && defined(__ARM_FEATURE_DSP)
  asm volatile(
      "mov r1, #0\n mov r2, #0\n mov r3, #0\n mov r12, #0\n msr APSR_nzcvqg, r1\n"
      "vmov d0, r2, r3\n vmov d1, r2, r3\n vmov d2, r2, r3\n vmov d3, r2, r3\n"
      "vmov d4, r2, r3\n vmov d5, r2, r3\n vmov d6, r2, r3\n vmov d7, r2, r3"
      :
      :
      : "r1", "r2", "r3", "r12", "cc", "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7");
#endif
}

bool fits(polykem_embedded_workspace workspace, size_t bytes) {
  return workspace.begin != nullptr && workspace.bytes >= bytes &&
         reinterpret_cast<uintptr_t>(workspace.begin) % POLYKEM_EMBEDDED_ALIGNMENT == 0;
}

[[gnu::noinline]] Status compute(polykem_embedded_operation operation, Request& request, void* workspace) {
  Status item = Status::kOk;
  request.count = 1;
  request.item_status = &item;
  const Status status = operation(request, static_cast<std::byte*>(workspace));
  return status == Status::kOk ? item : status;
}

/// Runs an operation that needs `bytes` of the workspace.
polykem_embedded_status run(const polykem_embedded_set& set, polykem_embedded_operation operation, Request& request,
                            polykem_embedded_workspace workspace, size_t bytes) {
  const Status status = compute(operation, request, workspace.begin);
  polykem::zeroize(workspace.begin, bytes);
  zeroize_stack(set.stack_bytes - kOwnFrames);
  clear_registers();
  return static_cast<polykem_embedded_status>(status);
}

}  // namespace

polykem_embedded_status polykem_embedded_keygen(const polykem_embedded_set* set, uint8_t* pk, uint8_t* sk,
                                                polykem_embedded_random random, void* random_context,
                                                polykem_embedded_workspace workspace) {
  if (set == nullptr || pk == nullptr || sk == nullptr || random == nullptr ||
      !fits(workspace, set->keygen_workspace_bytes))
    return POLYKEM_EMBEDDED_ERR_ARGUMENT;
  Request request;
  request.pk_out = pk;
  request.sk_out = sk;
  request.random = random;
  request.random_context = random_context;
  const auto status = run(*set, set->code->keygen, request, workspace, set->keygen_workspace_bytes);
  if (status != POLYKEM_EMBEDDED_OK) {
    std::memset(pk, 0, set->public_key_bytes);
    std::memset(sk, 0, set->secret_key_bytes);
  }
  return status;
}

polykem_embedded_status polykem_embedded_encaps(const polykem_embedded_set* set, uint8_t* ct, uint8_t* ss,
                                                const uint8_t* pk, polykem_embedded_random random, void* random_context,
                                                polykem_embedded_workspace workspace) {
  if (set == nullptr || ct == nullptr || ss == nullptr || pk == nullptr || random == nullptr ||
      !fits(workspace, set->encaps_workspace_bytes))
    return POLYKEM_EMBEDDED_ERR_ARGUMENT;
  Request request;
  request.pk = pk;
  request.ct_out = ct;
  request.ss_out = ss;
  request.random = random;
  request.random_context = random_context;
  const auto status = run(*set, set->code->encaps, request, workspace, set->encaps_workspace_bytes);
  if (status != POLYKEM_EMBEDDED_OK) {
    std::memset(ct, 0, set->ciphertext_bytes);
    std::memset(ss, 0, set->shared_secret_bytes);
  }
  return status;
}

polykem_embedded_status polykem_embedded_decaps(const polykem_embedded_set* set, uint8_t* ss, const uint8_t* ct,
                                                const uint8_t* sk, polykem_embedded_workspace workspace) {
  if (set == nullptr || ss == nullptr || ct == nullptr || sk == nullptr ||
      !fits(workspace, set->decaps_workspace_bytes))
    return POLYKEM_EMBEDDED_ERR_ARGUMENT;
  Request request;
  request.sk = sk;
  request.ct = ct;
  request.ss_out = ss;
  const auto status = run(*set, set->code->decaps, request, workspace, set->decaps_workspace_bytes);
  if (status != POLYKEM_EMBEDDED_OK) std::memset(ss, 0, set->shared_secret_bytes);
  return status;
}
