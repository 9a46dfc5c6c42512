// SPDX-License-Identifier: Apache-2.0
// Tests the driver on the files of a board that a thread simulates.
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <fstream>

#include "accelerators/rtl/driver/uio_transport.hpp"
#include "fake_board.hpp"

namespace polykem::rtl::test {
namespace {

struct Uio : testing::Test {
  FakeBoard board;
  Core core{make_uio_transport(board.device())};
  const CoreSet set{3, false};
  Buffer ek = Buffer(1184), dk = Buffer(2400), ct = Buffer(1088), ss = Buffer(32);
  const Buffer coins = Buffer(64, 7), m = Buffer(32, 9);

  void SetUp() override {
    ASSERT_TRUE(core.open()) << core.problem();
    ASSERT_EQ(core.keygen(set, coins, ek, dk), Outcome::kOk) << core.problem();
    ASSERT_EQ(core.encaps(set, ek, m, ct, ss), Outcome::kOk) << core.problem();
  }
  Outcome decaps(Buffer& out) { return core.decaps(set, dk, ct, out); }
};

TEST_F(Uio, AnExchange) {
  EXPECT_TRUE(board.buffer_is_wiped());
  Buffer got(32);
  ASSERT_EQ(decaps(got), Outcome::kOk) << core.problem();
  EXPECT_EQ(got, ss);
  EXPECT_TRUE(board.buffer_is_wiped());
  EXPECT_EQ(core.cycles().command, 3 * 100u);
  dk[2400 - 64] ^= 1;
  EXPECT_EQ(decaps(got), Outcome::kSecretKey);
  EXPECT_EQ(got, Buffer(32, 0));
  EXPECT_TRUE(board.buffer_is_wiped());
}

TEST_F(Uio, TheLongestHash) {
  const Buffer message(2040, 3);
  Buffer got(2040), want(2040);
  ASSERT_EQ(core.hash(CoreHash::kShake256, message, got), Outcome::kOk) << core.problem();
  Shake shake(Shake::Strength::kShake256);
  shake.absorb(message);
  shake.squeeze(want);
  EXPECT_EQ(got, want);
  EXPECT_TRUE(board.buffer_is_wiped());
}

TEST_F(Uio, AStrayInterruptEndsNothing) {
  board.stray_interrupt();
  Buffer got(32);
  ASSERT_EQ(decaps(got), Outcome::kOk) << core.problem();
  EXPECT_EQ(got, ss);
}

TEST_F(Uio, ALostInterruptOnlyCostsTime) {
  board.loses_interrupts = true;
  Buffer got(32);
  ASSERT_EQ(decaps(got), Outcome::kOk) << core.problem();
  EXPECT_EQ(got, ss);
}

struct UioFault : Uio, testing::WithParamInterface<Fault> {};

TEST_P(UioFault, NothingIsLeftAndItWorksAgain) {
  Buffer got(32, 0x55);
  board.core.fault = GetParam();
  EXPECT_NE(decaps(got), Outcome::kOk);
  EXPECT_STRNE(core.problem(), "");
  EXPECT_EQ(got, Buffer(32, 0));
  EXPECT_TRUE(board.buffer_is_wiped());
  board.core.fault = Fault::kNone;
  ASSERT_EQ(decaps(got), Outcome::kOk) << core.problem();
  EXPECT_EQ(got, ss);
}

INSTANTIATE_TEST_SUITE_P(All, UioFault,
                         testing::Values(Fault::kHangs, Fault::kDead, Fault::kRefuses, Fault::kEndsEarly,
                                         Fault::kSendsMore),
                         [](const auto& info) { return kFaultNames[static_cast<size_t>(info.param)].first; });

TEST_F(Uio, AnErrorOfTheDma) {
  Buffer got(32, 0x55);
  board.dma_fails = true;
  EXPECT_EQ(decaps(got), Outcome::kBadOutput);
  EXPECT_EQ(got, Buffer(32, 0));
  board.dma_fails = false;
  ASSERT_EQ(decaps(got), Outcome::kOk) << core.problem();
  board.dma_dead = true;
  EXPECT_EQ(decaps(got), Outcome::kTimedOut) << "no input arrives";
  EXPECT_EQ(got, Buffer(32, 0));
  EXPECT_TRUE(board.buffer_is_wiped());
}

std::string problem_of(const std::string& names) {
  std::string problem;
  EXPECT_EQ(open_uio(names, problem), nullptr);
  return problem;
}

TEST(OpenUio, SaysWhatIsMissing) {
  EXPECT_NE(problem_of("/dev/uio0").find("three devices"), std::string::npos);
  EXPECT_NE(problem_of("a,b,c,d").find("three devices"), std::string::npos);
  EXPECT_NE(problem_of("/no/such/uio,/dev/null,x").find("/no/such/uio: No such file"), std::string::npos);
  const std::string core = testing::TempDir() + "polykem_uio_core", dma = testing::TempDir() + "polykem_uio_dma";
  for (const std::string& path : {core, dma})
    std::ofstream(path) << std::string(UioDevice::kRegisterBytes, '\0');
  EXPECT_NE(problem_of(core + ",/no/such/dma,x").find("/no/such/dma: No such file"), std::string::npos);
  EXPECT_NE(problem_of(core + "," + dma + ",/dev/nobuffer").find("no buffer of u-dma-buf"), std::string::npos);
  const File other(open(core.c_str(), O_RDWR));
  ASSERT_EQ(flock(other.descriptor(), LOCK_EX), 0);
  EXPECT_NE(problem_of(core + "," + dma + ",x").find("another process uses"), std::string::npos);
  unlink(core.c_str());
  unlink(dma.c_str());
}

}  // namespace
}  // namespace polykem::rtl::test
