// SPDX-License-Identifier: Apache-2.0
#include "formats/pem.hpp"

#include <sstream>
#include <vector>

#include "support.hpp"

namespace polykem::formats {
namespace {

using Event = PemReader::Event;
using Outside = PemReader::Outside;

/** Label and contents of each block. */
std::vector<std::pair<std::string, std::string>> blocks(const std::string& text, Outside outside) {
  PemReader reader(outside);
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
  const auto read = blocks(text_of(out), Outside::kRefused);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0], std::pair(std::string("PUBLIC KEY"), std::string("foo")));
  EXPECT_EQ(read[1], std::pair(std::string("X"), std::string()));
}

TEST(Pem, TakesForeignLineEndsAndBlanksAtTheEndOfLines) {
  const std::string text = "\r\n-----BEGIN K-----\r\nZm9v\t\r\nYmFy  \r\n\r\n-----END K----- \r\n\r\n";
  EXPECT_EQ(blocks(text, Outside::kRefused)[0].second, "foobar");
}

TEST(Pem, PassesOverTextWhereThatIsAllowed) {  // [RFC7468, 2]
  const std::string text = std::string("Subject: a key\n\n") + kBlock + "words between\n" + kBlock + "and after\n";
  EXPECT_EQ(blocks(text, Outside::kSkipped).size(), 2U);
  expect_refused([&] { blocks(text, Outside::kRefused); }, "line 1: text outside of a block");
}

TEST(Pem, RefusesDamage) {
  const std::string begin = "-----BEGIN K-----\n", end = "-----END K-----\n";
  const std::pair<std::string, const char*> cases[] = {
      {begin, "cut off"},
      {begin + "Zm9v\n", "line 2: the file ends inside a block"},
      {begin + "Zm9v\n-----END K----\n", "line 3: the END line does not fit"},
      {begin + "Zm9v\n-----END L-----\n", "line 3: the END line does not fit"},
      {begin + begin + end, "line 2: a character that is not base64"},
      {begin + "Zm9*\n" + end, "line 2: a character that is not base64"},
      {begin + " Zm9v\n" + end, "line 2: a character that is not base64"},
      {begin + "Proc-Type: 4,ENCRYPTED\n\nZm9v\n" + end, "line 2: a character that is not base64"},
      {begin + "Zm9vZg\n" + end, "line 3: the base64 text is incomplete"},
      {"-----BEGIN K----\nZm9v\n" + end, "line 1: text outside of a block"},
      {"-----BEGIN -----\nZm9v\n" + end, "line 1: text outside of a block"},
      {end, "line 1: text outside of a block"},
  };
  for (const auto& [text, words] : cases) {
    SCOPED_TRACE(text);
    expect_refused([&] { blocks(text, Outside::kSkipped); }, words);
  }
}

TEST(Pem, FindsTheFirstLabel) {
  const auto label = [](std::string_view text) { return std::string(first_label(bytes_of(text))); };
  EXPECT_EQ(label(kBlock), "PUBLIC KEY");
  EXPECT_EQ(label("words\r\n-----BEGIN A B-----\r\n"), "A B");
  EXPECT_EQ(label("words -----BEGIN A-----\n"), "");
  EXPECT_EQ(label("-----BEGIN A----"), "");
  EXPECT_EQ(label(""), "");
}

}  // namespace
}  // namespace polykem::formats
