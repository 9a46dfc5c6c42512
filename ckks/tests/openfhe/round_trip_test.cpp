// SPDX-License-Identifier: Apache-2.0
// Tests that files of OpenFHE are written again byte for byte, from either form into either form.
#include <gtest/gtest.h>

#include "support.hpp"

namespace polykem::openfhe::test {
namespace {

/// Reads and writes every form that exists.
template <class T>
void expect_same_bytes(const std::string& name) {
  const std::string binary = file(name + ".bin");
  const std::string json = file(name + ".json");
  ASSERT_FALSE(binary.empty());
  const T from_binary = parse<T>(binary);
  EXPECT_EQ(bytes_of(from_binary, Form::kBinary), binary);
  const std::string own_json = bytes_of(from_binary, Form::kJson);
  EXPECT_EQ(bytes_of(parse<T>(own_json), Form::kBinary), binary);
  if (json.empty()) return;
  EXPECT_EQ(own_json, json);
  EXPECT_EQ(bytes_of(parse<T>(json), Form::kBinary), binary);
}

TEST(RoundTrip, Contexts) {
  expect_same_bytes<Context>("context");
  expect_same_bytes<Context>("bootstrapping");
}

TEST(RoundTrip, Keys) {
  expect_same_bytes<PublicKey>("public");
  expect_same_bytes<SecretKey>("secret");
  expect_same_bytes<RelinearisationKeys>("mult");
  expect_same_bytes<AutomorphismKeys>("auto");
}

TEST(RoundTrip, Ciphertexts) {
  for (const char* name : {"fresh", "rescaled", "rotated", "composite", "product"})
    expect_same_bytes<Ciphertext>(name);
}

TEST(RoundTrip, TheSharingOfANewObjectIsChosen) {
  Ciphertext made = load<Ciphertext>("rotated.bin");
  const std::vector<Polynomial> parts = made.parts;
  made.sharing.labels.clear();
  const Ciphertext again = parse<Ciphertext>(bytes_of(made, Form::kBinary));
  EXPECT_EQ(again.parts, parts);
  EXPECT_LT(bytes_of(made, Form::kBinary).size(), file("rotated.bin").size());
}

TEST(RoundTrip, ASharingThatDoesNotFitDoesNoHarm) {
  Ciphertext made = load<Ciphertext>("rotated.bin");
  for (Polynomial& part : made.parts)
    part.pop_back();
  for (const std::vector<std::uint32_t>& labels :
       {made.sharing.labels, std::vector<std::uint32_t>{7}, std::vector<std::uint32_t>(100, 9)}) {
    made.sharing.labels = labels;
    EXPECT_EQ(parse<Ciphertext>(bytes_of(made, Form::kBinary)).parts, made.parts);
    EXPECT_EQ(parse<Ciphertext>(bytes_of(made, Form::kJson)).parts, made.parts);
  }
}

TEST(RoundTrip, NumbersInJson) {
  Ciphertext made = load<Ciphertext>("fresh.bin");
  const struct {
    double scale;
    const char* text;
  } cases[] = {{1, "1.0"},         {0.1, "0.1"},
               {1e-6, "0.000001"}, {1.5e-7, "1.5e-7"},
               {123.25, "123.25"}, {1e20, "100000000000000000000.0"},
               {1e21, "1e21"},     {1.25e22, "1.25e22"},
               {5e-324, "5e-324"}, {1099511627776.0, "1099511627776.0"}};
  for (const auto& [scale, text] : cases) {
    made.scale = scale;
    const std::string json = bytes_of(made, Form::kJson);
    EXPECT_NE(json.find(std::string("\"s\": ") + text + ","), std::string::npos) << text;
    EXPECT_EQ(parse<Ciphertext>(json).scale, scale);
  }
}

}  // namespace
}  // namespace polykem::openfhe::test
