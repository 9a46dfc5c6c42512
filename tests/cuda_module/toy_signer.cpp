// SPDX-License-Identifier: Apache-2.0
// A toy that signs: a signature holds hashes of the message and the context, their lengths and the secret key. Its
// first step leaves traces of each item in the workspace, of which the first half is secret.
#include <cstring>
#include <mutex>
#include <utility>

#include "toy.hpp"

namespace polykem::cuda::test {

namespace {

uint64_t fnv1a(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

Trace trace(const uint8_t* sk, uint8_t added) {
  Trace result;
  for (size_t i = 0; i < kTrace; ++i)
    result[i] = static_cast<uint8_t>(sk[i % kSk] + added + i / kSk);
  return result;
}

size_t secret_bytes(size_t items) {
  return (items * kTrace + 255) / 256 * 256;
}

size_t workspace_bytes(size_t items) {
  return 2 * secret_bytes(items);
}

void leave_traces(const DeviceBatch& b, std::byte* workspace) {
  std::byte* const tail = workspace + secret_bytes(b.count);
  for (size_t i = 0; i < b.count; ++i) {
    const uint8_t* sk = b.sk + (b.shared_key ? 0 : i) * kSk;
    std::memcpy(workspace + i * kTrace, secret_trace(sk).data(), kTrace);
    std::memcpy(tail + i * kTrace, public_trace(sk).data(), kTrace);
  }
}

/// Returns string i as in kernels: the first string is at `data`, whatever the first offset is.
std::span<const uint8_t> string_at(const Strings& strings, size_t i) {
  if (strings.offsets == nullptr) return strings.at(i);
  return {strings.data + (strings.offsets[i] - strings.offsets[0]), strings.offsets[i + 1] - strings.offsets[i]};
}

/// Returns false if a kernel could not read the strings. Even empty strings need a readable address.
bool can_be_read(const Strings& strings, size_t count) {
  if (strings.data == nullptr) return true;
  if (strings.offsets != nullptr && !fake_runtime::in_device_memory(strings.offsets, (count + 1) * sizeof(size_t)))
    return false;
  return fake_runtime::in_device_memory(strings.data, strings.bytes(count));
}

void sign_items(const DeviceBatch& b) {
  for (const Strings& strings : {b.message.strings, b.message.contexts}) {
    if (can_be_read(strings, b.count)) continue;
    ++strays;
    return;
  }
  for (size_t i = 0; i < b.count; ++i)
    signature_of(b.sig_out + i * kSignature, b.sk + (b.shared_key ? 0 : i) * kSk, b.message,
                 string_at(b.message.strings, i), string_at(b.message.contexts, i));
}

std::mutex parts_mutex;
std::vector<size_t> parts;

int run_step(size_t step, size_t, const DeviceBatch& batch, std::byte* workspace, void* stream) {
  if (step == 0) {
    const std::lock_guard lock(parts_mutex);
    parts.push_back(batch.count);
  }
  const auto work = [=] { step == 0 ? leave_traces(batch, workspace) : sign_items(batch); };
  return launch_work(work, static_cast<cudaStream_t>(stream));
}

constexpr std::array<DeviceStep, 2> kSteps = {DeviceStep{{"leave_traces", 0, 1}, field::kSk, 0},
                                              DeviceStep{{"sign", 1, 1}, field::kSk, field::kSigOut}};

constexpr DeviceScheme signer(const char* name, size_t part_bytes) {
  DeviceScheme scheme{.name = name, .operations = {}};
  scheme.operations[static_cast<size_t>(Op::kSign)] = {.scheme = name,
                                                       .op = Op::kSign,
                                                       .record_bytes = {0, kSk, 0, 0, 0, kSignature},
                                                       .steps = kSteps,
                                                       .part_items = 1 << 20,
                                                       .part_bytes = part_bytes,
                                                       .staged_bytes = size_t{4} << 20,
                                                       .min_items = 64,
                                                       .max_items = 1 << 30,
                                                       .workspace_bytes = workspace_bytes,
                                                       .secret_bytes = secret_bytes,
                                                       .tiles = nullptr,
                                                       .run_step = run_step};
  return scheme;
}

}  // namespace

constexpr DeviceScheme kSigner = signer("signer", 0), kSignerLarge = signer("signer_large", size_t{1} << 30);

Trace secret_trace(const uint8_t* sk) {
  return trace(sk, 0x33);
}

Trace public_trace(const uint8_t* sk) {
  return trace(sk, 0x99);
}

void signature_of(uint8_t* signature, const uint8_t* sk, const Messages& messages, std::span<const uint8_t> message,
                  std::span<const uint8_t> context) {
  const uint64_t absent = (messages.strings.data == nullptr ? 1 : 0) + (messages.contexts.data == nullptr ? 2 : 0);
  const uint64_t words[] = {fnv1a(message), fnv1a(context), message.size(), context.size(), absent};
  static_assert(sizeof words <= kSignature);
  std::memcpy(signature, words, sizeof words);
  for (size_t i = sizeof words; i < kSignature; ++i)
    signature[i] = static_cast<uint8_t>(sk[i % kSk] * 5 + i);
}

std::vector<size_t> parts_signed() {
  const std::lock_guard lock(parts_mutex);
  return std::exchange(parts, {});
}

}  // namespace polykem::cuda::test
