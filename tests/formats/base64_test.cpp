// SPDX-License-Identifier: Apache-2.0
#include "formats/base64.hpp"

#include "support.hpp"

namespace polykem::formats {
namespace {

SecretBytes decode(std::string_view text) {
  Base64Decoder decoder;
  decoder.line(text);
  return decoder.finish();
}

TEST(Base64, AgreesWithItsStandard) {  // the examples of RFC 4648, section 10
  const std::pair<const char*, const char*> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [plain, encoded] : examples) {
    SecretBytes out;
    append_base64(out, bytes_of(plain));
    EXPECT_EQ(text_of(out), *plain == 0 ? "" : std::string(encoded) + '\n');
    EXPECT_EQ(text_of(decode(encoded)), plain);
  }
}

TEST(Base64, HasEveryDigitInLinesOf64Characters) {
  SecretBytes all;
  for (unsigned i = 0; i < 64; i += 4) {  // the six-bit values 0, 1, ... 63
    const unsigned word = (i << 18) | ((i + 1) << 12) | ((i + 2) << 6) | (i + 3);
    all.insert(all.end(), {static_cast<std::uint8_t>(word >> 16), static_cast<std::uint8_t>(word >> 8),
                           static_cast<std::uint8_t>(word)});
  }
  SecretBytes twice = all;
  twice.insert(twice.end(), all.begin(), all.end());
  const std::string line = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  SecretBytes out;
  append_base64(out, twice);
  EXPECT_EQ(text_of(out), line + '\n' + line + '\n');
  EXPECT_EQ(decode(line), all);
}

TEST(Base64, GoesOnFromLineToLine) {
  Base64Decoder decoder;
  for (const char* line : {"Zm", "9vY", "", "mF", "y"})
    decoder.line(line);
  EXPECT_EQ(text_of(decoder.finish()), "foobar");
}

TEST(Base64, RefusesWhatIsNotCanonical) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "=", "====", "Zm9v="}) {
    SCOPED_TRACE(text);
    expect_refused([&] { decode(text); }, "incomplete");
  }
  for (const char* text : {"Zh==", "Zm9="}) {
    SCOPED_TRACE(text);
    expect_refused([&] { decode(text); }, "stray bits");
  }
  for (const char* text : {"Zg==Zg==", "Z=g="}) {
    SCOPED_TRACE(text);
    expect_refused([&] { decode(text); }, "after its padding");
  }
  for (const char* text : {"Zm9-", "Zm9_", "Zm 9v", "Zm9v\r", "Zm9\xE9", "Zm9@", "Zm9[", "Zm9`", "Zm9{", "Zm9:"}) {
    SCOPED_TRACE(text);
    expect_refused([&] { decode(text); }, "not base64");
  }
}

TEST(Base64, PassesOverBlanksAndStrayBitsWhereThatIsAllowed) {
  const auto lenient = [](std::string_view text) {
    Base64Decoder decoder(Base64Decoder::Style::kLenient);
    decoder.line(text);
    return text_of(decoder.finish());
  };
  EXPECT_EQ(lenient(" Zm\t9v  Y\rmFy "), "foobar");
  EXPECT_EQ(lenient("Zg = ="), "f");
  EXPECT_EQ(lenient("Zh=="), "f");
  EXPECT_EQ(lenient("Zm9="), "fo");
  for (const char* text : {"Zm9-", "Zm9\v", "Zm9\xE9", "Zm9:"}) {
    SCOPED_TRACE(text);
    expect_refused([&] { lenient(text); }, "not base64");
  }
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zm8==", "="}) {
    SCOPED_TRACE(text);
    expect_refused([&] { lenient(text); }, "incomplete");
  }
}

TEST(Base64, HasAnEnd) {
  Base64Decoder decoder;
  const std::string line(1 << 12, 'A');
  expect_refused(
      [&] {
        for (std::size_t i = 0; i < 2 * kMaxBytes / line.size(); ++i)
          decoder.line(line);
      },
      "longer than any key");
}

}  // namespace
}  // namespace polykem::formats
