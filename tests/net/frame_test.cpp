// SPDX-License-Identifier: Apache-2.0
#include "net/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace polykem::cli::net {
namespace {

Bytes sample_frame() {
  Bytes out;
  append_frame(out, FrameType::kCiphertext, Bytes{1, 2, 3, 4, 5});
  return out;
}

TEST(Frame, LooksAsDocumented) {
  EXPECT_EQ(sample_frame(), (Bytes{'P', 'K', 'E', 'X', 1, 3, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 5}));
}

TEST(Frame, IsTakenWholeAndLeavesWhatFollows) {
  Bytes bytes = sample_frame();
  bytes.push_back(0xff);
  const ParseResult result = parse_frame(bytes);
  ASSERT_EQ(result.status, ParseStatus::kComplete);
  EXPECT_EQ(result.type, FrameType::kCiphertext);
  EXPECT_EQ(Bytes(result.payload.begin(), result.payload.end()), (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(result.consumed, bytes.size() - 1);
}

TEST(Frame, EveryPrefixNeedsMore) {
  const Bytes frame = sample_frame();
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const ParseResult result = parse_frame(ByteView(frame).first(size));
    EXPECT_EQ(result.status, ParseStatus::kNeedMore) << size;
    EXPECT_EQ(result.consumed, 0U) << size;
    EXPECT_EQ(result.header_known, size >= kHeaderBytes) << size;
    EXPECT_EQ(result.length, result.header_known ? 5U : 0U) << size;
  }
}

TEST(Frame, AWrongHeaderByteIsSeenAsSoonAsItIsThere) {
  const ParseStatus expected[] = {ParseStatus::kBadMagic, ParseStatus::kBadMagic,   ParseStatus::kBadMagic,
                                  ParseStatus::kBadMagic, ParseStatus::kBadVersion, ParseStatus::kBadType,
                                  ParseStatus::kBadType,  ParseStatus::kBadType};
  for (std::size_t at = 0; at < std::size(expected); ++at) {
    Bytes frame = sample_frame();
    frame[at] ^= 0x80;
    for (std::size_t size = at + 1; size <= frame.size(); ++size) {
      EXPECT_EQ(parse_frame(ByteView(frame).first(size)).status, expected[at]) << at << " of " << size;
    }
  }
}

TEST(Frame, TypesOutsideTheListAreRefused) {
  for (unsigned type = 0; type < 256; ++type) {
    Bytes frame = sample_frame();
    frame[5] = static_cast<std::uint8_t>(type);
    const bool known = type >= 1 && type <= 5;
    EXPECT_EQ(parse_frame(frame).status, known ? ParseStatus::kComplete : ParseStatus::kBadType) << type;
  }
}

TEST(Frame, LengthIsCheckedBeforeThePayloadArrives) {
  Bytes header = sample_frame();
  header.resize(kHeaderBytes);
  header[8] = 0, header[9] = 1, header[10] = 0, header[11] = 0;
  EXPECT_EQ(parse_frame(header).status, ParseStatus::kNeedMore) << "65,536 is the longest";
  header[11] = 1;
  EXPECT_EQ(parse_frame(header).status, ParseStatus::kTooLong);
  header[8] = 0xff;
  EXPECT_EQ(parse_frame(header).status, ParseStatus::kTooLong);
}

TEST(Hello, RoundTrip) {
  const Bytes payload = encode_hello(Role::kServerEncaps, "ntruhps4096821");
  const auto hello = parse_hello(payload);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->role, Role::kServerEncaps);
  EXPECT_EQ(hello->scheme, "ntruhps4096821");
}

TEST(Hello, NonsenseIsRefused) {
  EXPECT_FALSE(parse_hello({}));
  EXPECT_FALSE(parse_hello(Bytes{1})) << "no name";
  EXPECT_FALSE(parse_hello(encode_hello(static_cast<Role>(0), "x")));
  EXPECT_FALSE(parse_hello(encode_hello(static_cast<Role>(3), "x")));
  EXPECT_FALSE(parse_hello(encode_hello(Role::kServerDecaps, "line\nbreak")));
  EXPECT_FALSE(parse_hello(encode_hello(Role::kServerDecaps, "\xc3\xa9")));
  EXPECT_TRUE(parse_hello(encode_hello(Role::kServerDecaps, std::string(64, 'x'))));
  EXPECT_FALSE(parse_hello(encode_hello(Role::kServerDecaps, std::string(65, 'x'))));
}

TEST(ErrorFrame, RoundTripAndLimits) {
  const Bytes payload = encode_error(12, "the secrets differ");
  const auto message = parse_error(payload);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->code, 12);
  EXPECT_EQ(message->text, "the secrets differ");
  EXPECT_TRUE(parse_error(Bytes{7})) << "the text may be missing";
  EXPECT_FALSE(parse_error({}));
  EXPECT_FALSE(parse_error(Bytes{7, '\x1b', '['})) << "no escape sequences on somebody's terminal";
  EXPECT_EQ(encode_error(1, std::string(1000, 'x')).size(), 1 + kMaxErrorTextBytes);
}

}  // namespace
}  // namespace polykem::cli::net
