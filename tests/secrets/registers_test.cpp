// SPDX-License-Identifier: Apache-2.0
// Tests that operations clear the vector registers, which other threads or functions may later save anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "engine/engine.hpp"
#include "own_batch.hpp"
#include "schemes/registry.hpp"

namespace polykem::test {
namespace {

/// A queued batch draws 32 bytes and computes nothing. Keys stay on the host.
class DrawingAccelerator final : public Accelerator {
 public:
  DrawingAccelerator() : Accelerator({"drawing", "draws and computes nothing", "a test"}, "none", Crossovers::kNever) {}

  Owner owner = Owner::kSelf;  ///< of all memory

  bool available() override { return true; }
  std::string devices() override { return "1 x drawing"; }
  const char* problem() override { return ""; }
  const SchemeBackend* backend_for(const Scheme&) override { return &backend_; }
  size_t chunk_items(const Scheme&, Op, const BatchView&, unsigned) override { return 1; }
  Owner owner_of(const void*) override { return owner; }
  void zero(void*, size_t) override {}
  std::unique_ptr<KeyMemory> place_keys(const Scheme&, KeyKind, size_t) override { return nullptr; }
  Status queue_workspace_bytes(const Scheme&, Op, size_t, size_t&) override { return Status::kOk; }
  Status queue(const Scheme&, Op, const Batch& batch, void*, void*) override {
    batch.drbg->fill(drawn_);
    return Status::kOk;
  }

 private:
  SchemeBackend backend_{};
  const std::span<uint8_t> drawn_ = own_memory(32);
};

/// Queues a batch that takes random numbers, or copies a key into a set.
class OnDrawing {
 public:
  OnDrawing() {
    EXPECT_EQ(Engine::create({.threads = 1, .backend = "drawing", .accelerators = all_}, engine_), Status::kOk);
    request_.records.count = 1;
    request_.records.pk_out = request_.records.sk_out = memory_.data();
  }
  void queue() { EXPECT_EQ(engine_->queue(request_, memory_.data(), nullptr), Status::kOk); }
  void import_key() {
    accelerator_.owner = Owner::kOther;
    EXPECT_EQ(engine_->import_keyset(*request_.scheme, KeyKind::kSecretKeys, 1, memory_.data(), set_), Status::kOk);
  }

 private:
  DrawingAccelerator accelerator_;
  Accelerator* const all_[1] = {&accelerator_};
  std::unique_ptr<Engine> engine_;
  const std::span<uint8_t> memory_ = own_memory(1 << 16);
  Request request_{.op = Op::kKeygen, .scheme = registry()[0]};
  KeySet set_;
};

#define EACH_OF_16(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define EACH_OF_UPPER_16(X) \
  X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define EACH_OF_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

constexpr uint8_t kMark = 0xa7;

struct alignas(64) RegisterFile {
  uint8_t vectors[32][64];
  uint64_t masks[8];
};

/// Fills the registers, or stores their contents; ymm or zmm according to the machine.
void fill_registers(const RegisterFile& from) {
#define LOAD_ZMM(n) "vmovdqu64 " #n "*64(%0), %%zmm" #n "\n"
#define LOAD_YMM(n) "vmovdqu " #n "*64(%0), %%ymm" #n "\n"
#define LOAD_K(n) "kmovw " #n "*8(%1), %%k" #n "\n"
  if (__builtin_cpu_supports("avx512f")) {
    asm volatile(EACH_OF_16(LOAD_ZMM) EACH_OF_UPPER_16(LOAD_ZMM) EACH_OF_8(LOAD_K)
                 :
                 : "r"(from.vectors), "r"(from.masks)
                 : "memory");
  } else if (__builtin_cpu_supports("avx")) {
    asm volatile(EACH_OF_16(LOAD_YMM) : : "r"(from.vectors) : "memory");
  }
}

void store_registers(RegisterFile& to) {
#define STORE_ZMM(n) "vmovdqu64 %%zmm" #n ", " #n "*64(%0)\n"
#define STORE_YMM(n) "vmovdqu %%ymm" #n ", " #n "*64(%0)\n"
#define STORE_K(n) "kmovw %%k" #n ", " #n "*8(%1)\n"
  if (__builtin_cpu_supports("avx512f")) {
    asm volatile(EACH_OF_16(STORE_ZMM) EACH_OF_UPPER_16(STORE_ZMM) EACH_OF_8(STORE_K)
                 :
                 : "r"(to.vectors), "r"(to.masks)
                 : "memory");
  } else if (__builtin_cpu_supports("avx")) {
    asm volatile(EACH_OF_16(STORE_YMM) : : "r"(to.vectors) : "memory");
  }
}

void expect_clear(const RegisterFile& left, const std::string& after) {
  // Other code has used the first 16 bytes of the first registers since.
  for (size_t r = 0; r < 32; ++r)
    EXPECT_TRUE(std::all_of(left.vectors[r] + 16, left.vectors[r] + 64, [](uint8_t b) { return b == 0; }))
        << "vector register " << r << ", " << after;
  for (size_t k = 0; k < 8; ++k)
    EXPECT_EQ(left.masks[k], 0u) << "mask " << k << ", " << after;
}

/// Checks all registers of this machine, whichever the backend uses, since the C library's copies use them too.
TEST(Registers, AreCleared) {
  static RegisterFile marks, left;
  std::memset(&marks, kMark, sizeof marks);
  for (const std::string& backend : available_backends()) {
    const Context context = make_context(backend.c_str());
    const OwnBatch batch(scheme("mlkem768"), 70);
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      left = {};
      fill_registers(marks);
      ASSERT_EQ(batch.run(context.get(), op), POLYKEM_OK);
      store_registers(left);
      expect_clear(left, backend + ", operation " + std::to_string(op));
    }
  }
}

/// Returns a bit for each part of the thread's state that is not in its initial configuration, in which tiles are zero.
/// [Intel SDM vol. 1, 13.6]
uint32_t state_in_use() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low;
}

TEST(Registers, TilesAreReleased) {
  constexpr uint32_t kTileState = 0x60000;
  const auto all = available_backends();
  if (std::find(all.begin(), all.end(), "amx") == all.end()) GTEST_SKIP() << "this machine has no AMX";
  const Context context = make_context("amx");
  for (const char* set : {"frodokem640aes", "frodokem640shake", "ntruhps2048509", "ntruhrss701"}) {
    const OwnBatch batch(scheme(set), 3);
    for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
      ASSERT_EQ(batch.run(context.get(), op), POLYKEM_OK);
      EXPECT_EQ(state_in_use() & kTileState, 0u) << set << ", operation " << op;
    }
  }
  alignas(64) const uint8_t config[64] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0,
                                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 16};
  asm volatile("ldtilecfg %0" : : "m"(config));
  EXPECT_NE(state_in_use() & kTileState, 0u) << "tiles that are in use must be seen";
  asm volatile("tilerelease");
}

TEST(Registers, AreClearedWhenABatchIsQueuedOrAKeyIsImported) {
  static RegisterFile marks, left;
  std::memset(&marks, kMark, sizeof marks);
  for (const bool queued : {true, false}) {
    OnDrawing drawing;
    fill_registers(marks);
    queued ? drawing.queue() : drawing.import_key();
    store_registers(left);
    expect_clear(left, queued ? "a queued batch" : "an imported key");
  }
}

TEST(Registers, AreClearedWhenATicketIsAddedOrTaken) {
  static RegisterFile marks, left;
  std::memset(&marks, kMark, sizeof marks);
  const OwnBatch batch(scheme("mlkem768"), 1);
  const Context context = make_context(nullptr, 1);
  polykem_batcher* batcher = nullptr;
  ASSERT_EQ(polykem_batcher_new(context.get(), nullptr, &batcher), POLYKEM_OK);
  polykem_request r = make_request(POLYKEM_KEYGEN, batch.scheme, 1);
  r.coins = batch.keygen_coins.data();
  polykem_ticket* ticket = nullptr;
  polykem_batcher_hold(batcher);
  fill_registers(marks);
  const polykem_status added = polykem_batcher_add(batcher, &r, nullptr, nullptr, &ticket);
  store_registers(left);
  polykem_batcher_release(batcher);
  ASSERT_EQ(added, POLYKEM_OK);
  expect_clear(left, "a ticket is added");
  EXPECT_EQ(polykem_ticket_wait(ticket), POLYKEM_OK);
  fill_registers(marks);
  EXPECT_EQ(polykem_ticket_take(ticket, batch.pk.data(), batch.sk.data()), POLYKEM_OK);
  store_registers(left);
  expect_clear(left, "a ticket is taken");
  polykem_ticket_free(ticket);
  polykem_batcher_free(batcher);
}

}  // namespace
}  // namespace polykem::test
