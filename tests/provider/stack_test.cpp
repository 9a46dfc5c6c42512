// SPDX-License-Identifier: Apache-2.0
// Measures how much of a small stack an operation uses. OpenSSL's ASYNC jobs have 32 KB without a guard page, part of
// which libssl has used before it calls a provider.
#include <ucontext.h>

#include <algorithm>
#include <cstring>

#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr std::size_t kMaxBytes = 17 * 1024;
constexpr std::uint8_t kPaint = 0xA5;

struct Call {
  void (*body)(void*);
  void* argument;
};
Call current;

void enter() {
  current.body(current.argument);
}

/// Runs `body` on a stack filled with a pattern, and returns how much of it was used.
template <class Body>
std::size_t stack_used(Body&& body) {
  static std::vector<std::uint8_t> stack(kStackBytes);
  std::fill(stack.begin(), stack.end(), kPaint);
  ucontext_t here{}, there{};
  getcontext(&there);
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  current = {[](void* b) { (*static_cast<Body*>(b))(); }, &body};
  makecontext(&there, enter, 0);
  swapcontext(&here, &there);
  const auto deepest = std::find_if(stack.begin(), stack.end(), [](std::uint8_t byte) { return byte != kPaint; });
  return static_cast<std::size_t>(stack.end() - deepest);
}

class Stack : public testing::TestWithParam<std::string> {};

TEST_P(Stack, StaysSmall) {
  const Library library;
  const ContextPtr generation = context_of(library, GetParam());
  ASSERT_EQ(EVP_PKEY_keygen_init(generation.get()), 1);
  EVP_PKEY* made = nullptr;
  for (int round = 0; round < 2; ++round) {  // the first one also creates what is created once
    KeyPtr key;
    const std::size_t keygen = stack_used([&] { EVP_PKEY_keygen(generation.get(), &made); });
    key.reset(std::exchange(made, nullptr));
    ASSERT_NE(key, nullptr);
    const ContextPtr context = context_of(library, key.get());
    Bytes ciphertext(30000), secret(256);
    std::size_t bytes = ciphertext.size(), secret_bytes = secret.size();
    int result = 0;
    EVP_PKEY_encapsulate_init(context.get(), nullptr);
    const std::size_t encaps = stack_used(
        [&] { result = EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes); });
    ASSERT_EQ(result, 1);
    EVP_PKEY_decapsulate_init(context.get(), nullptr);
    const std::size_t decaps = stack_used(
        [&] { result = EVP_PKEY_decapsulate(context.get(), secret.data(), &secret_bytes, ciphertext.data(), bytes); });
    ASSERT_EQ(result, 1);
    const std::size_t most = std::max({keygen, encaps, decaps});
    EXPECT_LE(most, kMaxBytes) << "keygen " << keygen << ", encaps " << encaps << ", decaps " << decaps;
    if (round == 1) RecordProperty("stack_bytes", static_cast<int>(most));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Stack, testing::ValuesIn(algorithm_names(Library().provider())),
                         [](const auto& info) { return identifier(info.param); });

}  // namespace
}  // namespace polykem::provider::test
