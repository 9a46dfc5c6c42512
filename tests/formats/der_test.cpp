// SPDX-License-Identifier: Apache-2.0
#include "formats/der.hpp"

#include "support.hpp"

namespace polykem::formats {
namespace {

SecretBytes element(std::size_t size) {
  SecretBytes out;
  append_der(out, der::kOctetString, {SecretBytes(size, 7)});
  return out;
}

TEST(Der, WritesLengthsInAsFewBytesAsTheyTake) {  // [X690, 10.1]
  const std::pair<std::size_t, SecretBytes> headers[] = {
      {0, {4, 0}},
      {1, {4, 1}},
      {127, {4, 127}},
      {128, {4, 0x81, 128}},
      {255, {4, 0x81, 255}},
      {256, {4, 0x82, 1, 0}},
      {65535, {4, 0x82, 255, 255}},
      {65536, {4, 0x83, 1, 0, 0}},
  };
  for (const auto& [size, header] : headers) {
    const SecretBytes written = element(size);
    ASSERT_EQ(written.size(), header.size() + size);
    EXPECT_TRUE(std::equal(header.begin(), header.end(), written.begin())) << size;
    DerReader reader(written);
    EXPECT_EQ(reader.take(der::kOctetString, "x").size(), size);
    reader.finish("x");
  }
}

TEST(Der, RefusesOtherEncodings) {
  struct Case {
    const char* what;
    SecretBytes bytes;
    const char* words;
  };
  const Case cases[] = {
      {"nothing", {}, "thing is missing"},
      {"another tag", {5, 0}, "thing is missing or has another tag"},
      {"a tag alone", {4}, "length that DER does not allow"},
      {"indefinite length", {4, 0x80, 1, 0, 0}, "length that DER does not allow"},
      {"a long form of a short length", {4, 0x81, 1, 0}, "length that DER does not allow"},
      {"127 in the long form", {4, 0x81, 127}, "length that DER does not allow"},
      {"a leading zero", {4, 0x82, 0, 200}, "length that DER does not allow"},
      {"a length that is cut off", {4, 0x82, 1}, "length that DER does not allow"},
      {"the reserved length", {4, 0xFF, 1}, "length that DER does not allow"},
      {"a length of eight bytes", {4, 0x88, 1, 0, 0, 0, 0, 0, 0, 0}, "length that DER does not allow"},
      {"contents that are cut off", {4, 3, 1, 2}, "thing is cut off"},
      {"a length of 4 GiB", {4, 0x84, 255, 255, 255, 255, 1}, "thing is cut off"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    expect_refused([&] { DerReader(c.bytes).take(der::kOctetString, "thing"); }, c.words);
  }
}

TEST(Der, SaysWhatIsLeft) {
  const SecretBytes two = {4, 1, 9, 4, 0};
  DerReader reader(two);
  reader.take(der::kOctetString, "x");
  expect_refused([&] { reader.finish("the pair"); }, "the pair goes on after its end");
  reader.take(der::kOctetString, "x");
  EXPECT_TRUE(reader.empty());
  EXPECT_FALSE(reader.next_is(der::kOctetString));
}

}  // namespace
}  // namespace polykem::formats
