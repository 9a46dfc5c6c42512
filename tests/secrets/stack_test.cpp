// SPDX-License-Identifier: Apache-2.0
// Tests that an operation zeroizes the stack that it used.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>

#include "own_batch.hpp"
#include "support/signer.hpp"

namespace polykem::test {
namespace {

/// Bytes of the stack that the calls up to the zeroizing may leave: pointers and counts.
constexpr size_t kFrames = 2048;
constexpr size_t kStackBytes = 1 << 20;
constexpr uint8_t kPaint = 0xc3;

/// Runs `work` on a stack filled with a pattern. Returns the number of bytes, more than kFrames below the first frame,
/// that are neither pattern nor zero afterwards.
size_t bytes_left_on_stack(const std::function<void()>& work) {
  struct Call {
    const std::function<void()>& work;
    uint8_t* frame = nullptr;
  } call{work};
  const auto stack = std::make_unique<std::byte[]>(kStackBytes + 4096);
  auto* begin = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(stack.get()) + 4095) / 4096 * 4096);
  std::memset(begin, kPaint, kStackBytes);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, begin, kStackBytes);
  const auto start = [](void* argument) -> void* {
    auto& c = *static_cast<Call*>(argument);
    c.frame = static_cast<uint8_t*>(__builtin_frame_address(0));
    c.work();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, start, &call), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  size_t left = 0;
  for (const uint8_t* at = begin; at < call.frame - kFrames; ++at)
    left += *at != kPaint && *at != 0;
  return left;
}

using Stack = testing::TestWithParam<Case>;

TEST_P(Stack, IsWiped) {
  const Case& c = GetParam();
  const Context context = make_context(c.backend.c_str(), c.threads);
  const OwnBatch batch(scheme(c.scheme), c.count);
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    polykem_status status = POLYKEM_ERR_INTERNAL;
    const auto run = [&] { status = batch.run(context.get(), op); };
    bytes_left_on_stack(run);  // the dynamic linker leaves its own traces at the first call
    EXPECT_LE(bytes_left_on_stack(run), sizeof(void*)) << "after operation " << op;  // memset's return address
    EXPECT_EQ(status, POLYKEM_OK);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Stack, testing::ValuesIn(cases({1})), case_name);

/// NTRU on matrix tiles makes coins during a product if none are given.
TEST(Stack, IsWipedAfterCoinsBesideAProduct) {
  const auto all = available_backends();
  if (std::find(all.begin(), all.end(), "amx") == all.end()) GTEST_SKIP() << "this machine has no AMX";
  for (const char* set : {"ntruhps2048509", "ntruhrss701"}) {
    const Context context = make_context("amx", 1);
    OwnBatch batch(scheme(set), 33);
    batch.gives_encaps_coins = false;
    ASSERT_EQ(batch.run(context.get(), POLYKEM_KEYGEN), POLYKEM_OK);
    polykem_status status = POLYKEM_ERR_INTERNAL;
    const auto run = [&] { status = batch.run(context.get(), POLYKEM_ENCAPS); };
    bytes_left_on_stack(run);
    EXPECT_LE(bytes_left_on_stack(run), sizeof(void*)) << set;
    EXPECT_EQ(status, POLYKEM_OK);
  }
}

/// Key pairs and signatures of ML-DSA, and the keys that a key set expands.
TEST(Stack, IsWipedAfterSignatures) {
  for (const std::string& backend : backends()) {
    for (const char* set : {"mldsa44", "mldsa87"}) {
      const Signer signer(set, backend);
      for (const size_t count : {size_t{1}, size_t{37}}) {
        Bytes pk, sk, sig;
        const Bytes coins(count * 32, 0x5a), text(count * 8, 3);
        const polykem_messages messages = Signer::messages(strings(text, 8));
        const auto keygen = [&] { signer.keygen(count, coins, pk, sk); };
        const auto sign = [&] { sig = signer.sign(count, sk, messages, coins); };
        const auto expand = [&] {
          polykem_keyset* keys = nullptr;
          EXPECT_EQ(
              polykem_keyset_import(signer.context.get(), signer.scheme, POLYKEM_SECRET_KEYS, count, sk.data(), &keys),
              POLYKEM_OK);
          polykem_keyset_free(keys);
        };
        for (const std::function<void()>& work : {std::function<void()>(keygen), {sign}, {expand}}) {
          bytes_left_on_stack(work);
          EXPECT_LE(bytes_left_on_stack(work), sizeof(void*)) << set << ' ' << backend << ' ' << count;
        }
      }
    }
  }
}

TEST(Stack, ATraceIsSeen) {
  const auto random = own_memory(16);
  Noise(3).fill(random);
  EXPECT_GT(bytes_left_on_stack([&] { leave_on_stack(random); }), 0u);
}

}  // namespace
}  // namespace polykem::test
