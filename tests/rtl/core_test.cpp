// SPDX-License-Identifier: Apache-2.0
// Tests the driver on a correct core and on faulty ones.
#include "accelerators/rtl/driver/core.hpp"

#include <gtest/gtest.h>

#include "fake_core.hpp"

namespace polykem::rtl::test {
namespace {

Buffer noise(size_t bytes, uint32_t seed) {
  Buffer out(bytes);
  for (uint8_t& b : out)
    b = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return out;
}

bool all_zero(const Buffer& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

struct Driver : testing::Test {
  FakeCore fake;
  Core core{std::make_unique<FakeTransport>(fake)};
  const CoreSet set{3, false};
  const Scheme& scheme = *find_scheme("mlkem768");
  Buffer ek = Buffer(1184, 0x55), dk = Buffer(2400, 0x55), ct = Buffer(1088, 0x55), ss = Buffer(32, 0x55);
  const Buffer coins = noise(64, 1), m = noise(32, 2);

  Outcome keygen() { return core.keygen(set, coins, ek, dk); }
  Outcome encaps() { return core.encaps(set, ek, m, ct, ss); }
  Outcome decaps() { return core.decaps(set, dk, ct, ss); }
};

TEST_F(Driver, AnExchange) {
  ASSERT_TRUE(core.open());
  EXPECT_EQ(core.version(), 0x10002u);
  ASSERT_EQ(keygen(), Outcome::kOk);
  ASSERT_EQ(encaps(), Outcome::kOk);
  const Buffer sent = ss;
  ss.assign(32, 0);
  ASSERT_EQ(decaps(), Outcome::kOk);
  EXPECT_EQ(ss, sent);
  EXPECT_STREQ(core.problem(), "");
  EXPECT_EQ(fake.zeroized, 1u) << "only when it was opened";
}

TEST_F(Driver, Cycles) {
  ASSERT_TRUE(core.open());
  ASSERT_EQ(keygen(), Outcome::kOk);
  const CoreCycles cycles = core.cycles();
  EXPECT_EQ(cycles.phases, (std::array<uint32_t, kPhases>{10, 20, 30, 40}));
  EXPECT_EQ(cycles.command, 100u);
  EXPECT_EQ(cycles.occupied, 300u);
}

TEST_F(Driver, MalformedKeysAreNoFailureOfTheCore) {
  ASSERT_TRUE(core.open());
  ASSERT_EQ(keygen(), Outcome::kOk);
  ASSERT_EQ(encaps(), Outcome::kOk);
  dk[1152 + 1184] ^= 1;
  EXPECT_EQ(decaps(), Outcome::kSecretKey);
  EXPECT_TRUE(all_zero(ss));
  ek[0] = 0xff;
  ek[1] |= 0x0f;
  EXPECT_EQ(encaps(), Outcome::kPublicKey);
  EXPECT_TRUE(all_zero(ct) && all_zero(ss));
  EXPECT_STREQ(core.problem(), "");
  EXPECT_FALSE(fake.holds_secrets());
}

/// Packs 256 coefficients of 12 bits each.
Buffer packed(const uint16_t (&c)[ntt::kN]) {
  mlkem::Poly poly;
  std::copy_n(c, ntt::kN, poly.c);
  Buffer bytes(mlkem::kPolyBytes);
  mlkem::ref::poly_byte_encode(bytes.data(), poly);
  return bytes;
}

TEST_F(Driver, RawCommands) {
  ASSERT_TRUE(core.open());
  uint16_t a[ntt::kN], b[ntt::kN], want[ntt::kN];
  for (size_t i = 0; i < ntt::kN; ++i)
    a[i] = static_cast<uint16_t>(i * 13 % ntt::kQ), b[i] = static_cast<uint16_t>((i * i + 5) % ntt::kQ);
  Buffer forward(mlkem::kPolyBytes), got(mlkem::kPolyBytes);
  ASSERT_EQ(core.transform(false, packed(a), forward), Outcome::kOk);
  std::copy_n(a, ntt::kN, want);
  ntt::forward(want);
  EXPECT_EQ(forward, packed(want));
  ASSERT_EQ(core.transform(true, forward, got), Outcome::kOk);
  EXPECT_EQ(got, packed(a));
  ASSERT_EQ(core.multiply(packed(a), packed(b), got), Outcome::kOk);
  ntt::multiply(want, a, b, 1);
  EXPECT_EQ(got, packed(want));
}

TEST_F(Driver, Hashes) {
  ASSERT_TRUE(core.open());
  const Buffer message = noise(776, 3);
  Buffer got(32), want(32);
  ASSERT_EQ(core.hash(CoreHash::kSha3_256, message, got), Outcome::kOk);
  sha3_256(want.data(), message);
  EXPECT_EQ(got, want);
  got.resize(64), want.resize(64);
  ASSERT_EQ(core.hash(CoreHash::kSha3_512, message, got), Outcome::kOk);
  sha3_512(want.data(), message);
  EXPECT_EQ(got, want);
  for (const bool long_rate : {false, true}) {
    got.assign(504, 0), want.assign(504, 0);
    ASSERT_EQ(core.hash(long_rate ? CoreHash::kShake128 : CoreHash::kShake256, message, got), Outcome::kOk);
    Shake shake(long_rate ? Shake::Strength::kShake128 : Shake::Strength::kShake256);
    shake.absorb(message);
    shake.squeeze(want);
    EXPECT_EQ(got, want);
  }
  for (const size_t size : {0, 7, 2048})
    EXPECT_EQ(core.hash(CoreHash::kShake128, noise(size, 1), got), Outcome::kRefused) << size;
  got.resize(2048);
  EXPECT_EQ(core.hash(CoreHash::kShake128, message, got), Outcome::kRefused);
}

TEST_F(Driver, NoCore) {
  fake.fault = Fault::kForeign;
  EXPECT_FALSE(core.open());
  EXPECT_NE(std::string(core.problem()).find("no polykem core"), std::string::npos);
  fake.fault = Fault::kOtherVersion;
  EXPECT_FALSE(core.open());
  EXPECT_NE(std::string(core.problem()).find("another version"), std::string::npos);
  fake.fault = Fault::kDead;
  EXPECT_FALSE(core.open());
  EXPECT_NE(std::string(core.problem()).find("does not answer"), std::string::npos);
}

struct BrokenCase {
  Fault fault;
  Outcome outcome;
  const char* words;

  friend void PrintTo(const BrokenCase& broken, std::ostream* out) { PrintTo(broken.fault, out); }
};

struct Broken : Driver, testing::WithParamInterface<BrokenCase> {};

TEST_P(Broken, OutputsAreZeroAndTheCoreIsCleared) {
  ASSERT_TRUE(core.open());
  ASSERT_EQ(keygen(), Outcome::kOk);
  ASSERT_EQ(encaps(), Outcome::kOk);
  fake.fault = GetParam().fault;
  const Buffer good_ek = ek, good_dk = dk, good_ct = ct;
  EXPECT_EQ(decaps(), GetParam().outcome);
  EXPECT_TRUE(all_zero(ss));
  EXPECT_NE(std::string(core.problem()).find(GetParam().words), std::string::npos) << core.problem();
  EXPECT_EQ(fake.holds_secrets(), GetParam().fault == Fault::kDead);
  EXPECT_EQ(encaps(), GetParam().outcome);
  EXPECT_TRUE(all_zero(ct) && all_zero(ss));
  EXPECT_EQ(keygen(), GetParam().outcome);
  EXPECT_TRUE(all_zero(ek) && all_zero(dk));
  fake.fault = Fault::kNone;
  ASSERT_EQ(core.encaps(set, good_ek, m, ct, ss), Outcome::kOk) << "it works again";
  EXPECT_EQ(ct, good_ct);
  EXPECT_STREQ(core.problem(), "");
}

INSTANTIATE_TEST_SUITE_P(All, Broken,
                         testing::Values(BrokenCase{Fault::kHangs, Outcome::kTimedOut, "in time"},
                                         BrokenCase{Fault::kDead, Outcome::kTimedOut, ""},
                                         BrokenCase{Fault::kEndsEarly, Outcome::kBadOutput, "less"},
                                         BrokenCase{Fault::kSendsMore, Outcome::kBadOutput, "more"},
                                         BrokenCase{Fault::kRefuses, Outcome::kRefused, "refused"}),
                         [](const auto& info) { return kFaultNames[static_cast<size_t>(info.param.fault)].first; });

TEST_F(Driver, ADeadCoreGetsNoCommandUntilItIsCleared) {
  ASSERT_TRUE(core.open());
  fake.fault = Fault::kDead;
  EXPECT_EQ(keygen(), Outcome::kTimedOut);
  const size_t commands = fake.commands;
  EXPECT_EQ(keygen(), Outcome::kTimedOut);
  EXPECT_EQ(fake.commands, commands);
  EXPECT_NE(std::string(core.problem()).find("does not answer"), std::string::npos);
}

TEST_F(Driver, InputsOfTheWrongLength) {
  ASSERT_TRUE(core.open());
  EXPECT_EQ(core.keygen(set, noise(56, 1), ek, dk), Outcome::kRefused);
  EXPECT_NE(std::string(core.problem()).find("too short or too long"), std::string::npos);
  EXPECT_EQ(core.keygen(set, noise(72, 1), ek, dk), Outcome::kRefused);
  EXPECT_EQ(core.keygen({.k = 5}, coins, ek, dk), Outcome::kRefused);
  EXPECT_TRUE(all_zero(ek) && all_zero(dk));
}

}  // namespace
}  // namespace polykem::rtl::test
