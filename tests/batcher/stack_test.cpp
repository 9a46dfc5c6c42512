// SPDX-License-Identifier: Apache-2.0
// Measures the caller's stack that submitting an operation needs, wherever it is computed. A fibre of OpenSSL has 32
// KB.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "core/secure.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;
constexpr size_t kMaxStackBytes = 16 * 1024;
constexpr auto kPaint = std::byte{0x5a};

/// Runs the work on a stack filled with a pattern, and returns how much of it was overwritten.
size_t stack_of(const std::function<void()>& work) {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const stack = static_cast<std::byte*>(memory);
  std::fill_n(stack, kStackBytes, kPaint);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, kStackBytes);
  struct Start {
    const std::function<void()>& work;
    std::byte* top = nullptr;
  } start{work};
  pthread_t thread{};
  const auto entry = [](void* given) -> void* {
    auto& s = *static_cast<Start*>(given);
    s.top = static_cast<std::byte*>(__builtin_frame_address(0));
    s.work();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, entry, &start), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const std::byte* lowest = std::find_if(stack, stack + kStackBytes, [](std::byte b) { return b != kPaint; });
  const auto used = static_cast<size_t>(start.top - lowest);
  munmap(memory, kStackBytes);
  return used;
}

std::byte* lowest_of_handler = nullptr;

/// The bytes of a signal's frame, in which the kernel saves the thread's registers. They are 8 KB more on any thread
/// that has used matrix tiles.
size_t frame_of_a_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) { lowest_of_handler = static_cast<std::byte*>(__builtin_frame_address(0)); };
  sigaction(SIGUSR1, &action, nullptr);
  auto* const here = static_cast<std::byte*>(__builtin_frame_address(0));
  raise(SIGUSR1);
  return static_cast<size_t>(here - lowest_of_handler);
}

struct Case {
  std::string scheme, backend;
};

class CallersStack : public testing::TestWithParam<Case> {};

/// A KEM's or a signature set.
const polykem_scheme* any_set(const std::string& name) {
  const polykem_scheme* found = nullptr;
  return polykem_signature_find(name.c_str(), &found) == POLYKEM_OK ? found : scheme(name);
}

TEST_P(CallersStack, SixteenKilobytesSuffice) {
  const Context context = make_context(GetParam().backend.c_str(), 2);
  const polykem_scheme* const set = any_set(GetParam().scheme);
  const polykem_scheme_info_t sizes = info(set);
  const bool signs = sizes.signature_bytes != 0;
  polykem_batcher* batcher = nullptr;
  ASSERT_EQ(polykem_batcher_new(context.get(), nullptr, &batcher), POLYKEM_OK);
  Bytes pk(sizes.public_key_bytes), sk(sizes.secret_key_bytes), ct(sizes.ciphertext_bytes + sizes.signature_bytes);
  polykem_request keygen = make_request(POLYKEM_KEYGEN, set, 1);
  keygen.pk_out = pk.data();
  keygen.sk_out = sk.data();
  ASSERT_EQ(polykem_run(context.get(), &keygen), POLYKEM_OK);
  const Bytes text(1000, 1);
  polykem_messages messages{};
  messages.struct_size = sizeof messages;
  messages.strings = {text.data(), nullptr, text.size(), 0};
  polykem_request requests[] = {make_request(POLYKEM_KEYGEN, set, 1),
                                make_request(signs ? POLYKEM_SIGN : POLYKEM_ENCAPS, set, 1),
                                make_request(signs ? POLYKEM_VERIFY : POLYKEM_DECAPS, set, 1)};
  requests[1].pk = requests[2].pk = pk.data();
  requests[1].sk = requests[2].sk = sk.data();
  requests[1].messages = requests[2].messages = &messages;
  requests[2].ct = requests[2].sig = ct.data();
  for (const polykem_request& request : requests) {
    polykem_status status = POLYKEM_ERR_BUSY;
    size_t frame = 0;
    stack_of([&] {
      polykem_ticket* ticket = nullptr;
      if (polykem_batcher_add(batcher, &request, nullptr, nullptr, &ticket) != POLYKEM_OK) return;
      polykem_ticket_wait(ticket);
      polykem_ticket_free(ticket);
      frame = frame_of_a_signal();
    });
    EXPECT_GT(frame, 0u);
    EXPECT_LT(frame, 6000u) << "the caller's thread has used matrix tiles";
    const size_t used = stack_of([&] {
      polykem_ticket* ticket = nullptr;
      status = polykem_batcher_add(batcher, &request, nullptr, nullptr, &ticket);
      if (status != POLYKEM_OK) return;
      polykem_ticket_wait(ticket);
      polykem_ticket_free(ticket);
    });
    EXPECT_EQ(status, POLYKEM_OK);
    EXPECT_LE(used, kMaxStackBytes) << "operation " << request.op;
    EXPECT_GT(used, 1000u) << "it was not measured";
    RecordProperty("operation_" + std::to_string(request.op), std::to_string(used));
  }
  polykem_batcher_free(batcher);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  std::vector<std::string> sets = scheme_names();
  sets.insert(sets.end(), {"mldsa44", "mldsa65", "mldsa87"});
  for (const std::string& scheme : sets)
    for (const std::string& backend : available_backends())
      if (backend != "cuda" && computes(backend, any_set(scheme))) all.push_back({scheme, backend});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CallersStack, testing::ValuesIn(cases()), [](const auto& info) {
  return test_name({info.param.scheme, info.param.backend});
});

}  // namespace
}  // namespace polykem::test
