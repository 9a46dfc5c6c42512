// SPDX-License-Identifier: Apache-2.0
// Tests that an operation leaves no secret in any memory but the caller's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <vector>

#include "own_batch.hpp"

namespace {

std::atomic<int> allocations_until_failure{0};  ///< 0: none fails

bool allocation_fails() {
  return allocations_until_failure.load() > 0 && allocations_until_failure.fetch_sub(1) == 1;
}

}  // namespace

// Those that the library uses.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = allocation_fails() ? nullptr : std::malloc(bytes);
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocation_fails() ? nullptr : std::malloc(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto align = static_cast<std::size_t>(alignment);
  return allocation_fails() ? nullptr : std::aligned_alloc(align, (bytes + align - 1) / align * align);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}

namespace polykem::test {
namespace {

/// Coefficients in memory of the test's own.
class Words {
 public:
  void push_back(int value) { words_[size_++] = static_cast<int16_t>(value); }
  std::span<const int16_t> all() const { return {words_, size_}; }

 private:
  static int16_t* memory() {
    static const auto bytes = own_memory(1 << 16);
    return reinterpret_cast<int16_t*>(bytes.data());
  }
  int16_t* words_ = memory();
  size_t size_ = 0;
};

/// Calls `use` with each secret polynomial of a secret key, unpacked. FrodoKEM's matrix is in the key as words.
void for_secret_polys(const OwnBatch& batch, std::span<const uint8_t> sk,
                      const std::function<void(std::span<const int16_t>)>& use) {
  const std::string family = batch.sizes.family;
  if (family == "mlkem") {  // 12 bits a coefficient, three polynomials for 768 [FIPS203, Alg. 6]
    Words s;
    for (size_t i = 0; i + 3 <= 1152; i += 3) {
      s.push_back(sk[i] | (sk[i + 1] & 15) << 8);
      s.push_back(sk[i + 1] >> 4 | sk[i + 2] << 4);
    }
    use(s.all());
  } else if (family == "saberkem") {  // 13 bits a coefficient, here as they are and as signed words
    for (const int negative : {1 << 13, 1 << 12}) {
      Words s;
      for (size_t bit = 0; bit + 13 <= 8 * 1248; bit += 13) {
        int value = 0;
        for (size_t i = 0; i < 13; ++i)
          value |= (sk[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
        s.push_back(value < negative ? value : value - (1 << 13));
      }
      use(s.all());
    }
  } else if (family == "ntru") {  // five ternary coefficients a byte, here with three forms of -1
    const size_t bytes = std::string(batch.sizes.name) == "ntruhrss701" ? 140 : 102;
    for (const int minus_one : {2, -1, 2047}) {
      Words f;
      for (size_t i = 0; i < bytes; ++i) {
        int packed = sk[i];
        for (int j = 0; j < 5; ++j, packed /= 3)
          f.push_back(packed % 3 == 2 ? minus_one : packed % 3);
      }
      use(f.all());
    }
  }
}

/// Returns the secret parts of a secret key.
void add_secret_key(Needles& needles, const OwnBatch& batch, std::span<const uint8_t> sk) {
  const std::string family = batch.sizes.family;
  if (family == "mlkem") {  // s, then the public key and its hash, then z
    needles.add("s of the secret key", sk.first(1152), 8);
    needles.add("z of the secret key", sk.last(32), 8);
  } else if (family == "saberkem") {  // s, then the public key and its hash, then z
    needles.add("s of the secret key", sk.first(1248), 8);
    needles.add("z of the secret key", sk.last(32), 8);
  } else if (family == "frodokem") {  // s, the public key, the matrix, the hash
    needles.add("s of the secret key", sk.first(16), 8);
    needles.add("S of the secret key", sk.subspan(16 + batch.sizes.public_key_bytes, 2 * 640 * 8), 64);
  } else if (family == "lac") {  // s, a byte for each coefficient, then the public key
    needles.add("s of the secret key", sk.first(batch.sizes.public_key_at), 64);
  } else {
    needles.add("secret key", sk, 8);
  }
  for_secret_polys(batch, sk, [&](auto poly) { needles.add_words("secret polynomial", poly); });
}

/// The secrets after all three operations: the shared secrets of all items, the keys of some, the coins of the
/// first.
constexpr size_t kEvery = 40;

std::unique_ptr<Needles> secrets_of(const OwnBatch& batch) {
  auto needles = std::make_unique<Needles>();
  inspect([&] {
    for (size_t i = 0; i < batch.count; i += kEvery)
      add_secret_key(*needles, batch, batch.sk.subspan(i * batch.sizes.secret_key_bytes, batch.sizes.secret_key_bytes));
    needles->add("shared secret", batch.sent, 8);
    needles->add("shared secret", batch.received, 8);
    needles->add("coins of keygen", batch.keygen_coins.first(batch.sizes.keygen_coin_bytes), 8);
    needles->add("coins of encaps", batch.encaps_coins.first(batch.sizes.encaps_coin_bytes), 8);
  });
  return needles;
}

using Secrets = testing::TestWithParam<Case>;

TEST_P(Secrets, NoneIsLeftInMemory) {
  const Case& c = GetParam();
  const Context context = make_context(c.backend.c_str(), c.threads);
  const OwnBatch batch(scheme(c.scheme), c.count);
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    polykem_status status = POLYKEM_ERR_INTERNAL;
    const LastingThread caller([&] { status = batch.run(context.get(), op); });
    ASSERT_EQ(status, POLYKEM_OK);
    const auto needles = secrets_of(batch);
    ASSERT_GT(needles->size(), 50u);
    EXPECT_EQ(needles->find(), "") << "after operation " << op;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Secrets, testing::ValuesIn(cases({1, 2})), case_name);

/// The core that POLYKEM_RTL_MODULE names (tests/rtl): what crosses its streams, and what a simulated one holds.
TEST(SecretsOfTheCore, NoneIsLeftInMemory) {
  const OwnBatch batch(scheme("mlkem768"), 6);
  const Context context = make_context("rtl", 2);
  ASSERT_STREQ(polykem_context_backend(context.get(), batch.scheme), "rtl");
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    polykem_status status = POLYKEM_ERR_INTERNAL;
    const LastingThread caller([&] { status = batch.run(context.get(), op); });
    ASSERT_EQ(status, POLYKEM_OK);
    EXPECT_EQ(secrets_of(batch)->find(), "") << "after operation " << op;
  }
}

TEST(SecretsOfKeySets, NoneIsLeftInMemory) {
  const polykem_scheme* s = scheme("mlkem768");
  const OwnBatch batch(s, 70);
  const Context context = make_context(nullptr, 1);
  const LastingThread caller([&] {
    EXPECT_EQ(batch.run(context.get(), POLYKEM_KEYGEN), POLYKEM_OK);
    EXPECT_EQ(batch.run(context.get(), POLYKEM_ENCAPS), POLYKEM_OK);
    for (const bool seeds : {false, true}) {
      polykem_keyset* set = nullptr;
      EXPECT_EQ(polykem_keyset_import(context.get(), s, seeds ? POLYKEM_SECRET_SEEDS : POLYKEM_SECRET_KEYS, 70,
                                      (seeds ? batch.keygen_coins : batch.sk).data(), &set),
                POLYKEM_OK);
      polykem_request r = make_request(POLYKEM_DECAPS, s, 70);
      r.keyset = set;
      r.ct = batch.ct.data();
      r.ss_out = batch.received.data();
      EXPECT_EQ(polykem_run(context.get(), &r), POLYKEM_OK);
      polykem_keyset_free(set);
    }
  });
  EXPECT_EQ(secrets_of(batch)->find(), "");
}

/// The items as single operations, on the caller's thread or in batches; their results are taken into the batch's
/// memory.
void run_singly(const OwnBatch& batch, polykem_batcher* batcher, polykem_op op, bool together) {
  const auto item = [](std::span<uint8_t> array, size_t bytes, size_t i) { return array.data() + i * bytes; };
  const polykem_scheme_info_t& n = batch.sizes;
  std::vector<polykem_ticket*> tickets(batch.count);
  if (together) polykem_batcher_hold(batcher);
  for (size_t i = 0; i < batch.count; ++i) {
    polykem_request r = make_request(op, batch.scheme, 1);
    if (op == POLYKEM_KEYGEN) r.coins = item(batch.keygen_coins, n.keygen_coin_bytes, i);
    if (op == POLYKEM_ENCAPS) r.coins = item(batch.encaps_coins, n.encaps_coin_bytes, i);
    if (op == POLYKEM_ENCAPS) r.pk = item(batch.pk, n.public_key_bytes, i);
    if (op == POLYKEM_DECAPS) r.sk = item(batch.sk, n.secret_key_bytes, i);
    if (op == POLYKEM_DECAPS) r.ct = item(batch.ct, n.ciphertext_bytes, i);
    ASSERT_EQ(polykem_batcher_add(batcher, &r, nullptr, nullptr, &tickets[i]), POLYKEM_OK);
  }
  if (together) polykem_batcher_release(batcher);
  for (size_t i = 0; i < batch.count; ++i) {
    uint8_t* const public_out = op == POLYKEM_KEYGEN   ? item(batch.pk, n.public_key_bytes, i)
                                : op == POLYKEM_ENCAPS ? item(batch.ct, n.ciphertext_bytes, i)
                                                       : nullptr;
    uint8_t* const secret_out = op == POLYKEM_KEYGEN   ? item(batch.sk, n.secret_key_bytes, i)
                                : op == POLYKEM_ENCAPS ? item(batch.sent, n.shared_secret_bytes, i)
                                                       : item(batch.received, n.shared_secret_bytes, i);
    EXPECT_EQ(polykem_ticket_take(tickets[i], public_out, secret_out), POLYKEM_OK);
    polykem_ticket_free(tickets[i]);
  }
}

class SecretsOfTickets : public testing::TestWithParam<const char*> {};

TEST_P(SecretsOfTickets, NoneIsLeftInMemory) {
  for (const bool together : {false, true}) {
    const OwnBatch batch(scheme(GetParam()), 40);
    const Context context = make_context(nullptr, 2);
    polykem_batcher* batcher = nullptr;
    ASSERT_EQ(polykem_batcher_new(context.get(), nullptr, &batcher), POLYKEM_OK);
    const LastingThread caller([&] {
      for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS})
        run_singly(batch, batcher, op, together);
    });
    EXPECT_EQ(secrets_of(batch)->find(), "") << (together ? "in batches" : "one after the other");
    polykem_batcher_free(batcher);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SecretsOfTickets, testing::Values("ntruhps2048509", "mlkem768", "frodokem640shake"),
                         [](const auto& info) { return std::string(info.param); });

/// All three operations, so that their results lie in the batch's memory.
void run_all(const OwnBatch& batch) {
  const Context context = make_context(nullptr, 1);
  const LastingThread caller([&] {
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS})
      EXPECT_EQ(batch.run(context.get(), op), POLYKEM_OK);
  });
}

struct Callback {
  const OwnBatch& batch;
  std::string found = "not called";
  std::latch called{1};
};

/// When a batch's callback runs, its secrets have been wiped.
TEST(SecretsInACallback, NoneIsLeftInMemory) {
  const OwnBatch batch(scheme("mlkem768"), 70);
  run_all(batch);
  for (const unsigned threads : {1u, 3u}) {
    const Context context = make_context(nullptr, threads);
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      Callback callback{batch};
      const polykem_request r = batch.request(op);
      const auto done = [](void* user, polykem_status) {
        auto& c = *static_cast<Callback*>(user);
        c.found = secrets_of(c.batch)->find();
        c.called.count_down();
      };
      ASSERT_EQ(polykem_submit(context.get(), &r, done, &callback, nullptr), POLYKEM_OK);
      callback.called.wait();
      EXPECT_EQ(callback.found, "") << threads << " threads, operation " << op;
    }
  }
}

/// A failed item does not keep the secrets of others in memory.
TEST(SecretsAfterErrors, NoneIsLeftByABadItem) {
  const OwnBatch batch(scheme("mlkem768"), 70);
  run_all(batch);
  const Context context = make_context(nullptr, 1);
  std::vector<uint8_t> pk(batch.pk.begin(), batch.pk.end());
  std::fill_n(pk.begin() + static_cast<ptrdiff_t>(40 * batch.sizes.public_key_bytes), 3, uint8_t{0xff});
  polykem_request r = batch.request(POLYKEM_ENCAPS);
  r.pk = pk.data();
  const LastingThread caller([&] { EXPECT_EQ(polykem_run(context.get(), &r), POLYKEM_ERR_ITEMS); });
  run_all(batch);  // the bad item's outputs were zeroed
  EXPECT_EQ(secrets_of(batch)->find(), "");
}

/// Every allocation fails once, in batches that also make secret keys from seeds.
TEST(SecretsAfterErrors, NoneIsLeftWhereMemoryRanOut) {
  const OwnBatch batch(scheme("mlkem768"), 70), failing(scheme("mlkem768"), 70);
  run_all(batch);
  int failures = 0;
  for (const unsigned threads : {1u, 2u}) {
    for (int nth = 1; nth < 60; ++nth) {
      const Context context = make_context(nullptr, threads);
      polykem_request r = batch.request(POLYKEM_DECAPS);
      r.secret_form = POLYKEM_SECRET_SEED;
      r.sk = batch.keygen_coins.data();
      r.ss_out = failing.received.data();
      polykem_status status = POLYKEM_ERR_INTERNAL;
      const LastingThread caller([&] {
        allocations_until_failure = nth;
        status = polykem_run(context.get(), &r);
        allocations_until_failure = 0;
      });
      failures += status == POLYKEM_ERR_OUT_OF_MEMORY;
      EXPECT_TRUE(status == POLYKEM_OK || status == POLYKEM_ERR_OUT_OF_MEMORY) << nth;
      ASSERT_EQ(secrets_of(batch)->find(), "") << "allocation " << nth << ", " << threads << " threads";
      if (status == POLYKEM_OK && nth > 12) break;
    }
  }
  EXPECT_GT(failures, 5);
}

// ---- the scan itself

/// A leak of 16 bytes must be found.
void expect_found(const std::function<void(const OwnBatch&)>& leak) {
  const Context context = make_context(nullptr, 1);
  const OwnBatch batch(scheme("mlkem768"), 3);
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS})
    ASSERT_EQ(batch.run(context.get(), op), POLYKEM_OK);
  ASSERT_EQ(secrets_of(batch)->find(), "");
  const LastingThread caller([&] { leak(batch); });
  EXPECT_NE(secrets_of(batch)->find(), "");
}

TEST(Scan, FindsALeakOnTheStack) {
  expect_found([](const OwnBatch& batch) { leave_on_stack(batch.received); });
}

TEST(Scan, FindsALeakOfAKey) {
  expect_found([](const OwnBatch& batch) { leave_on_stack(batch.sk.subspan(1000)); });
}

TEST(Scan, FindsALeakOfCoins) {
  expect_found([](const OwnBatch& batch) { leave_on_stack(batch.encaps_coins); });
}

TEST(Scan, FindsALeakInFreedMemory) {
  expect_found([](const OwnBatch& batch) {
    auto* block = static_cast<uint8_t*>(std::malloc(200));
    std::memcpy(block + 100, batch.sk.data() + 7, 16);
    asm volatile("" : : "r"(block) : "memory");
    std::free(block);
  });
}

TEST(Scan, FindsALeakInStaticMemory) {
  expect_found([](const OwnBatch& batch) {
    static uint8_t leak[16];
    std::memcpy(leak, batch.sent.data() + 33, 16);
    asm volatile("" : : "r"(leak) : "memory");
  });
}

TEST(Scan, FindsPolynomials) {
  const Context context = make_context(nullptr, 1);
  for (const char* name : {"mlkem768", "ntruhps2048509", "ntruhrss701"}) {
    const OwnBatch batch(scheme(name), 1);
    ASSERT_EQ(batch.run(context.get(), POLYKEM_KEYGEN), POLYKEM_OK);
    static int16_t leak[64];
    inspect([&] { for_secret_polys(batch, batch.sk, [](auto poly) { std::copy_n(poly.begin() + 100, 64, leak); }); });
    EXPECT_NE(secrets_of(batch)->find(), "") << name;
    std::memset(leak, 0, sizeof leak);
  }
}

}  // namespace
}  // namespace polykem::test
