// SPDX-License-Identifier: Apache-2.0
// Tests operations without memory: nobody waits for ever, and no exception leaves a thread of the library.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "common/context.hpp"
#include "net/operations.hpp"

namespace {

std::atomic<int> until_failure{0};  // the allocation that fails, and those after it; 0: none does
std::atomic<bool> lasting{false};   // all later ones fail too
std::atomic<bool> failed{false};

bool fails() {
  if (until_failure.load() == 0) return false;
  if (until_failure.load() > 1 && until_failure.fetch_sub(1) > 1) return false;
  if (!lasting) until_failure = 0;
  failed = true;
  return true;
}

}  // namespace

__attribute__((noinline)) void* operator new(std::size_t bytes) {
  void* memory = fails() ? nullptr : std::malloc(bytes);
  return memory == nullptr ? throw std::bad_alloc() : memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace polykem::cli::net {
namespace {

class User final : public KemUser {
 public:
  explicit User(const Scheme& scheme) : sk_(scheme.secret_key_bytes()), ct_(scheme.ciphertext_bytes()) {}

  KemInput kem_input(polykem_op op) const override {
    return op == POLYKEM_DECAPS ? KemInput{{}, sk_, ct_} : KemInput{};
  }
  void kem_done(polykem_op /*op*/, polykem_status /*status*/, const KemOutput& /*out*/) override { ++calls; }

  int calls = 0;

 private:
  Bytes sk_, ct_;
};

/// Runs 50 items while the nth allocation fails. Returns false if there are fewer allocations.
bool run_with_failure(const Context& context, const Scheme& scheme, int nth, bool all_later) {
  asio::io_context loop{1};
  KemOperations operations(loop, context, scheme, {64, {}});
  std::vector<std::shared_ptr<User>> users;
  for (int i = 0; i < 50; ++i)
    users.push_back(std::make_shared<User>(scheme));
  failed = false;
  lasting = all_later;
  until_failure = nth;
  for (std::size_t i = 0; i < users.size(); ++i) {
    try {
      operations.add(i % 2 == 0 ? POLYKEM_KEYGEN : POLYKEM_DECAPS, users[i]);
    } catch (const std::bad_alloc&) {
      users[i]->calls = 1;  // was not added
    }
  }
  while (true) {
    try {
      loop.run();
      break;
    } catch (const std::bad_alloc&) {
      until_failure = 0;
      loop.restart();
    }
  }
  until_failure = 0;
  for (const auto& user : users)
    EXPECT_EQ(user->calls, 1) << "allocation " << nth << (all_later ? " and later ones" : "");
  return failed;
}

TEST(NoMemory, EveryOperationIsAnsweredOnce) {
  const Context context{1};
  const Scheme scheme = open_scheme("ntruhps2048509");
  for (const bool all_later : {false, true}) {
    int nth = 1;
    while (run_with_failure(context, scheme, nth, all_later))
      ++nth;
    EXPECT_GT(nth, 10);
  }
}

}  // namespace
}  // namespace polykem::cli::net
