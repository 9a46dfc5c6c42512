// SPDX-License-Identifier: Apache-2.0
#include "formats/pem.hpp"

#include <sstream>
#include <vector>

#include "support.hpp"

namespace polykem::formats {
namespace {

using Event = PemReader::Event;
using Style = PemReader::Style;

/// Label and contents of each block.
std::vector<std::pair<std::string, std::string>> blocks(const std::string& text, Style style) {
  PemReader reader(style);
  std::vector<std::pair<std::string, std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (reader.line(line) == Event::kEnd) out.emplace_back(reader.label(), text_of(reader.bytes()));
  }
  reader.finish();
  return out;
}

constexpr const char* kBlock = "-----BEGIN PUBLIC KEY-----\nZm9v\n-----END PUBLIC KEY-----\n";

TEST(Pem, WritesWhatItReads) {
  SecretBytes out;
  append_pem(out, "PUBLIC KEY", bytes_of("foo"));
  EXPECT_EQ(text_of(out), kBlock);
  append_pem(out, "X", {});
  const auto read = blocks(text_of(out), Style::kStrict);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0], std::pair(std::string("PUBLIC KEY"), std::string("foo")));
  EXPECT_EQ(read[1], std::pair(std::string("X"), std::string()));
}

TEST(Pem, TakesForeignLineEndsAndBlanksAtTheEndOfLines) {
  const std::string text = "\r\n-----BEGIN K-----\r\nZm9v\t\r\nYmFy  \r\n\r\n-----END K----- \r\n\r\n";
  EXPECT_EQ(blocks(text, Style::kStrict)[0].second, "foobar");
}

TEST(Pem, PassesOverTextWhereThatIsAllowed) {  // [RFC7468, 2]
  const std::string text = std::string("Subject: a key\n\n") + kBlock + "words between\n" + kBlock + "and after\n";
  EXPECT_EQ(blocks(text, Style::kLenient).size(), 2U);
  expect_refused([&] { blocks(text, Style::kStrict); }, "line 1: text outside of a block");
}

TEST(Pem, TakesAByteOrderMarkBeforeABlock) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const Style style : {Style::kStrict, Style::kLenient}) {
    EXPECT_EQ(blocks(mark + kBlock + mark + kBlock, style).size(), 2U);
    expect_refused([&] { blocks(mark + mark + kBlock, style); }, "line");
  }
}

/// Texts that OpenSSL 3.0 accepts, as tests/cli/test_pem_as_openssl.py checks.
TEST(Pem, TakesWhatOpenSslTakes) {
  const std::string begin = "-----BEGIN K-----\n", end = "-----END K-----\n", full(64, 'A');
  const std::string bytes(48, '\0');
  const std::pair<std::string, std::string> cases[] = {
      {begin + " Zm9v\n\tYmFy\n" + end, "foobar"},
      {begin + "Zm 9v Ym\tFy\n" + end, "foobar"},
      {begin + "Zm9v\xC2\xA0\n" + end, "foo"},
      {begin + "\nZm9v\n" + end, "foo"},
      {begin + "  \n" + full + "\n" + full + "\nZm9v\n" + end, bytes + bytes + "foo"},
      {begin + std::string(200, 'A') + "\n" + end, std::string(150, '\0')},
      {"Schl\xC3\xBCssel f\xC3\xBCr Zo\xC3\xAB\n-----\n---- BEGIN ----\n" + begin + "Zm9v\n-----END K-----", "foo"},
  };
  for (const auto& [text, contents] : cases) {
    SCOPED_TRACE(text);
    const auto read = blocks(text, Style::kLenient);
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].second, contents);
    expect_refused([&, &text = text] { blocks(text + "x\n", Style::kStrict); }, "line");
  }
}

TEST(Pem, PassesOverABlockThatIsNotWanted) {
  PemReader reader(Style::kLenient);
  ASSERT_EQ(reader.line("-----BEGIN RSA PRIVATE KEY-----"), Event::kBegin);
  reader.pass_over();
  for (const char* line : {"Proc-Type: 4,ENCRYPTED", "", "*", "-----END"})
    EXPECT_EQ(reader.line(line), Event::kNone);
  EXPECT_EQ(reader.line("-----END RSA PRIVATE KEY-----"), Event::kEnd);
  EXPECT_TRUE(reader.bytes().empty());
  EXPECT_EQ(reader.line("-----BEGIN K-----"), Event::kBegin);
  EXPECT_EQ(reader.line("Zm9v"), Event::kNone);
  EXPECT_EQ(reader.line("-----END K-----"), Event::kEnd);
  EXPECT_EQ(text_of(reader.bytes()), "foo");
}

TEST(Pem, SaysWhatHindersTheOnlyBlock) {
  PemReader reader(Style::kLenient);
  reader.line("words");
  EXPECT_NO_THROW(reader.finish_without_block());
  reader.line("  -----BEGIN K-----");
  expect_refused([&] { reader.finish_without_block(); }, "line 2: the BEGIN line has text or blanks before it");
}

TEST(Pem, RefusesDamage) {
  const std::string begin = "-----BEGIN K-----\n", end = "-----END K-----\n";
  const std::pair<std::string, const char*> cases[] = {
      {begin, "cut off"},
      {begin + "Zm9v\n", "line 2: the file ends inside a block"},
      {begin + "Zm9v\n-----END K----\n", "line 3: the END line does not fit"},
      {begin + "Zm9v\n-----END L-----\n", "line 3: the END line does not fit"},
      {begin + begin + end, "line 2: a BEGIN line inside a block"},
      {begin + "Zm9*\n" + end, "line 2: a character that is not base64"},
      {begin + "Zm9v\n\nYmFy\n" + end, "line 3: an empty line inside the block"},
      {begin + "\n\nZm9v\n" + end, "line 3: an empty line inside the block"},
      {begin + "\nZm9v\nYmFy\n" + end, "line 4: after an empty line"},
      {begin + "\n" + std::string(68, 'A') + "\n" + end, "line 3: after an empty line"},
      {begin + "Proc-Type: 4,ENCRYPTED\n\nZm9v\n" + end, "line 2: a header inside the block"},
      {begin + "Zm9vZg\n" + end, "line 3: the base64 text is incomplete"},
      {"-----BEGIN K----\nZm9v\n" + end, "line 1: the BEGIN line is damaged"},
      {"-----BEGIN -----\nZm9v\n" + end, "line 1: the BEGIN line is damaged"},
      {end, "line 1: an END line without a BEGIN line"},
      {"\n " + begin + "Zm9v\n" + end, "line 4: an END line without a BEGIN line; that on line 2 has text or blanks"},
  };
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text);
    expect_refused([&text = text] { blocks(text, Style::kLenient); }, words);
  }
}

TEST(Pem, FindsTheFirstLabel) {
  const auto label = [](std::string_view text) { return std::string(first_label(bytes_of(text))); };
  EXPECT_EQ(label(kBlock), "PUBLIC KEY");
  EXPECT_EQ(label("words\r\n-----BEGIN A B-----\r\n"), "A B");
  EXPECT_EQ(label("words -----BEGIN A-----\n"), "");
  EXPECT_EQ(label("\xEF\xBB\xBF-----BEGIN A-----\n"), "A");
  EXPECT_EQ(label("-----BEGIN A----"), "");
  EXPECT_EQ(label(""), "");
}

}  // namespace
}  // namespace polykem::formats
