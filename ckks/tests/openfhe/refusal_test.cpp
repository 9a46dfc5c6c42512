// SPDX-License-Identifier: Apache-2.0
// Tests what is refused, and which place the error names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "support.hpp"

namespace polykem::openfhe::test {
namespace {

/// Expects these words in the error.
void expect_says(const std::string& text, const std::string& part) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, part, text);
}

/// Replaces the occurrence number `which`, from 0, of `from`.
std::string replaced(std::string text, const std::string& from, const std::string& to, int which = 0) {
  std::size_t at = text.find(from);
  for (; which > 0; --which)
    at = text.find(from, at + 1);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <class T>
void refuse_every_truncation(const std::string& bytes, std::size_t step) {
  for (std::size_t size = 0; size < bytes.size(); size += step)
    ASSERT_NE(refusal<T>(bytes.substr(0, size)), "accepted") << size;
}

TEST(Refusals, BinaryFilesCutOffAnywhere) {
  refuse_every_truncation<Context>(file("context.bin"), 1);
  refuse_every_truncation<Context>(file("bootstrapping.bin"), 1);
  refuse_every_truncation<PublicKey>(file("public.bin"), 1);
  refuse_every_truncation<SecretKey>(file("secret.bin"), 1);
  refuse_every_truncation<Ciphertext>(file("rotated.bin"), 1);
  refuse_every_truncation<RelinearisationKeys>(file("mult.bin"), 1);
  refuse_every_truncation<AutomorphismKeys>(file("auto.bin"), 7);
}

TEST(Refusals, JsonFilesCutOff) {
  refuse_every_truncation<Context>(file("context.json"), 17);
  refuse_every_truncation<SecretKey>(file("secret.json"), 61);
  refuse_every_truncation<Ciphertext>(file("fresh.json"), 61);
  refuse_every_truncation<RelinearisationKeys>(file("mult.json"), 509);
}

TEST(Refusals, ACutOffFileIsSaidToBe) {
  EXPECT_EQ(refusal<Ciphertext>(file("fresh.bin").substr(0, 1000)),
            "value0.ptr_wrapper.data.v[0].v[1].v.ptr_wrapper.data.v is cut off: the file ends at byte 1000");
  EXPECT_EQ(refusal<Ciphertext>(""), "the file is empty");
  expect_says(refusal<Ciphertext>(file("fresh.json").substr(0, 1000)), "not valid JSON at byte 1001");
}

TEST(Refusals, BytesAfterTheObject) {
  expect_says(refusal<Context>(file("context.bin") + '\0'), "but the file goes on");
  expect_says(refusal<Context>(file("context.json") + "{}"), "not valid JSON");
}

/// No changed byte may crash the reader; sanitizers find more.
TEST(Refusals, ChangedBytes) {
  for (const unsigned char change : {0x01, 0x80, 0xFF}) {
    std::string bytes = file("rotated.bin");
    for (char& byte : bytes) {
      const char before = byte;
      byte = static_cast<char>(byte ^ change);
      refusal<Ciphertext>(bytes);
      byte = before;
    }
  }
}

TEST(Refusals, OtherObjects) {
  EXPECT_NE(refusal<PublicKey>(file("secret.bin")), "accepted");
  EXPECT_NE(refusal<SecretKey>(file("public.bin")), "accepted");
  EXPECT_NE(refusal<Context>(file("fresh.bin")), "accepted");
  EXPECT_NE(refusal<Ciphertext>(file("context.bin")), "accepted");
  EXPECT_EQ(refusal<Ciphertext>(file("context.json")), "value0.ptr_wrapper.data.value0 is missing");
  EXPECT_NE(refusal<RelinearisationKeys>(file("auto.bin")), "accepted");
  EXPECT_NE(refusal<AutomorphismKeys>(file("mult.bin")), "accepted");
}

TEST(Refusals, OtherSchemes) {
  expect_says(refusal<Context>(file("bgv.bin")), "belongs to the scheme BGV: only CKKS is supported");
  expect_says(refusal<Context>(file("bfv.bin")), "belongs to the scheme BFV: only CKKS is supported");
  expect_says(refusal<Context>(replaced(file("context.json"), "\"si\": 1", "\"si\": 3")), "not CKKS");
}

TEST(Refusals, LengthsThatTheFileCannotHold) {
  const std::string bytes = file("fresh.bin");
  const std::string length("\x10\0\0\0\0\0\0\0", 8);  // of the residues of a tower
  for (const unsigned char high : {0x01, 0x10, 0x80, 0xFF}) {
    for (std::size_t at = bytes.find(length); at != std::string::npos; at = bytes.find(length, at + 1)) {
      std::string hostile = bytes;
      hostile[at + 7] = static_cast<char>(high);
      EXPECT_NE(refusal<Ciphertext>(hostile), "accepted") << at;
    }
  }
}

TEST(Refusals, JsonThatIsNotOfOpenFhe) {
  const std::string json = file("fresh.json");
  expect_says(refusal<Ciphertext>("[]"), "not an object");
  expect_says(refusal<Ciphertext>("{\"value0\": null}"), "null");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\"", "\"seed\"")), "a field 'seed'");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\"", "\"sl\": 8, \"sl\"")), "sl does not belong there");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\": 8", "\"sl\": -8")), "negative");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\": 8", "\"sl\": 8.5")), "sl is not an integer");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\": 8", "\"sl\": 4294967304")), "sl is too large");
  expect_says(refusal<Ciphertext>(replaced(json, "\"sl\": 8", "\"sl\": {}")), "sl is not an integer");
  expect_says(refusal<Ciphertext>("{\"value0\": [1, {}]}"), "a list of integers and something else");
  expect_says(refusal<Ciphertext>("{\"value0\": \"" + std::string(300, 'x') + "\"}"), "too long");
  std::string deep = "{\"v\": ";
  for (int i = 0; i < 100000; ++i)
    deep += "[";
  expect_says(refusal<Ciphertext>(deep), "nests too deep");
  std::string many = "{\"v\": [[]";
  for (int i = 0; i < (1 << 20); ++i)
    many += ",[]";
  expect_says(refusal<Ciphertext>(many + "]}"), "too many parts");
  std::string wide = "{\"v\": [1";
  for (int i = 0; i < (1 << 17); ++i)
    wide += ",1";
  expect_says(refusal<Ciphertext>(wide + "]}"), "a list that is too long");
}

TEST(Refusals, WhatPolykemDoesNotSupport) {
  const std::string json = file("fresh.json");
  const std::string version = "\"cereal_class_version\": 1";
  expect_says(refusal<Ciphertext>(replaced(json, version, "\"cereal_class_version\": 2")),
              "value0.ptr_wrapper.data.cereal_class_version is 2: OpenFHE 1.5 and 1.6 write another");
  expect_says(refusal<Ciphertext>(replaced(json, "\"f\": 0", "\"f\": 1")), "coefficient form");
  expect_says(refusal<Ciphertext>(replaced(json, "\"e\": 4", "\"e\": 2")), "only packed values");
  expect_says(refusal<Ciphertext>(replaced(json, "\"valid\": 1", "\"valid\": 0")), "no residues");
  expect_says(refusal<Ciphertext>(replaced(json, "\"data\": []", "\"data\": [{}]")), "is not empty");
}

TEST(Refusals, PointersThatLeadNowhere) {
  const std::string json = file("fresh.json");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 5", "\"id\": 1")), "nothing of that kind");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 5", "\"id\": 4")), "nothing of that kind");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 5", "\"id\": 99")), "nothing of that kind");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 5", "\"id\": 0")), "nothing of that kind");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 5", "\"id\": 6")), "two different moduli");
  expect_says(refusal<Ciphertext>(replaced(json, "\"id\": 2147483649", "\"id\": 2147483650")), "not the next number");
  expect_says(refusal<Ciphertext>(replaced(json, "\"polymorphic_id\": 1073741824", "\"polymorphic_id\": 0")),
              "null pointer");
  expect_says(refusal<Ciphertext>(replaced(json, "lbcrypto::SchemeCKKSRNS", "lbcrypto::Other")),
              "polymorphic_name is not lbcrypto::SchemeCKKSRNS");
}

TEST(Refusals, DescriptionsOfModuliThatContradictThemselves) {
  const std::string json = file("context.json");
  expect_says(refusal<Context>(replaced(json, "\"rd\": 16", "\"rd\": 17")), "not a power of two");
  expect_says(refusal<Context>(replaced(json, "\"rd\": 16", "\"rd\": 262144")), "not a power of two");
  expect_says(refusal<Context>(replaced(json, "\"rd\": 16", "\"rd\": 32", 1)), "not the ring dimension");
  expect_says(refusal<Context>(replaced(json, "\"co\": 32", "\"co\": 16")), "not twice the ring dimension");
  expect_says(refusal<Context>(replaced(json, "\"m\": 130", "\"m\": 129")), "not the number of bits");
  const auto context = load<Context>("context.json");
  const std::string q = std::to_string(context.moduli[1].value);
  expect_says(refusal<Context>(replaced(json, q, std::to_string(context.moduli[1].value + 32))),
              "another product than its moduli");
}

/// An error in an object is reported when it is written and when it is read.
template <class T>
void expect_refusal(const T& sound, const std::function<void(T&)>& spoil, const std::string& what) {
  T object = sound;
  ASSERT_EQ(refusal_of(object), "accepted");
  spoil(object);
  expect_says(refusal_of(object), what);
}

TEST(Refusals, FaultsInAContext) {
  const auto sound = load<Context>("context.bin");
  const auto expect = [&](const std::function<void(Context&)>& spoil, const std::string& what) {
    expect_refusal<Context>(sound, spoil, what);
  };
  expect([](Context& c) { c.ring_dimension = 24; }, "ring dimension is not a power of two");
  expect([](Context& c) { c.ring_dimension = 1U << 18; }, "ring dimension is not a power of two");
  expect([](Context& c) { c.moduli.clear(); }, "number of moduli");
  expect([](Context& c) { c.moduli[2].value += 2; }, "modulus 2 of the crypto context: the modulus is not 1 modulo 2N");
  expect([](Context& c) { c.moduli[0].value = (std::uint64_t{1} << 62) + 1; }, "not below 2^62");
  expect([](Context& c) { c.moduli[1].root += 1; }, "modulus 1 of the crypto context: the root is not");
  expect([](Context& c) { c.moduli[1].root += c.moduli[1].value; }, "the root is not");
  expect([](Context& c) { c.moduli[1].root = 1; }, "the root is not");
  expect([](Context& c) { c.moduli[2] = c.moduli[1]; }, "it is there for the second time");
  expect([](Context& c) { c.batch_size = 9; }, "a batch size of more than N/2");
  expect([](Context& c) { c.scaling = static_cast<ScalingTechnique>(7); }, "scaling technique");
  expect([](Context& c) { c.key_switch = static_cast<KeySwitchTechnique>(0); }, "key switching");
  expect([](Context& c) { c.secret_distribution = static_cast<SecretDistribution>(4); }, "secret keys");
  expect([](Context& c) { c.data_type = static_cast<DataType>(2); }, "type of values");
  expect([](Context& c) { c.register_bits = 65; }, "registers");
  expect([](Context& c) { c.composite_degree = 0; }, "composite degree");
  expect([](Context& c) { c.digits = 0; }, "number of digits");
  expect([](Context& c) { c.noise_deviation = -1; }, "standard deviation");
  expect([](Context& c) { c.noise_estimate = std::nan(""); }, "not finite");
}

TEST(Refusals, FaultsInACiphertext) {
  const auto sound = load<Ciphertext>("fresh.bin");
  const auto expect = [&](const std::function<void(Ciphertext&)>& spoil, const std::string& what) {
    expect_refusal<Ciphertext>(sound, spoil, what);
  };
  expect([](Ciphertext& c) { c.parts[1][2].values[7] = c.parts[1][2].modulus; },
         "tower 2 of part 1: residue 7 is not below its modulus");
  expect([](Ciphertext& c) { c.parts[0][1].values.pop_back(); }, "tower 1 of part 0: 15 residues instead of 16");
  expect([](Ciphertext& c) { std::swap(c.parts[0][1], c.parts[0][2]); },
         "tower 1 of part 0: the modulus is not the one");
  expect([](Ciphertext& c) { c.parts[0][1].root += 1; }, "tower 1 of part 0: the root is not the one");
  expect([](Ciphertext& c) { c.parts[1].pop_back(); }, "part 1: not as many towers as part 0");
  expect([](Ciphertext& c) { c.parts[0].clear(); }, "part 0: 0 towers");
  expect([](Ciphertext& c) { c.parts[0].push_back(c.parts[0][0]); }, "part 0: 4 towers");
  expect([](Ciphertext& c) { c.parts.pop_back(); }, "not 2 or 3 parts");
  expect([](Ciphertext& c) { c.context = nullptr; }, "there is no crypto context");
  expect([](Ciphertext& c) { c.key_tag = "a\"b"; }, "key tag");
  expect([](Ciphertext& c) { c.key_tag = std::string(257, 'a'); }, "key tag");
  expect([](Ciphertext& c) { c.slots = 3; }, "number of slots");
  expect([](Ciphertext& c) { c.slots = 16; }, "number of slots");
  expect([](Ciphertext& c) { c.level = 3; }, "a level of all moduli");
  expect([](Ciphertext& c) { c.noise_degree = 5; }, "noise degree");
  expect([](Ciphertext& c) { c.scale = 0; }, "a scale");
  expect([](Ciphertext& c) { c.scale = std::numeric_limits<double>::infinity(); }, "a scale");
}

TEST(Refusals, FaultsInKeys) {
  const auto sound = load<RelinearisationKeys>("mult.bin");
  const auto expect = [&](const std::function<void(SwitchingKey&)>& spoil, const std::string& what) {
    expect_refusal<RelinearisationKeys>(
        sound, [&](RelinearisationKeys& keys) { spoil(keys.keys.begin()->second[0]); }, what);
  };
  expect([](SwitchingKey& k) { k.b[1][4].values[3] = k.b[1][4].modulus; },
         "tower 4 of b[1] of the relinearisation key for s^2: residue 3 is not below its modulus");
  expect([](SwitchingKey& k) { k.key_tag = "other"; }, "its key tag is not the one it is listed under");
  expect([](SwitchingKey& k) { k.b.pop_back(); }, "same number of digits");
  expect([](SwitchingKey& k) { k.a.push_back(k.a[0]), k.b.push_back(k.b[0]); }, "same number of digits");
  expect([](SwitchingKey& k) { k.a.clear(), k.b.clear(); }, "same number of digits");
  expect([](SwitchingKey& k) { k.b[1].pop_back(); }, "b[1] of the relinearisation key for s^2: other moduli than a[0]");
  expect([](SwitchingKey& k) { k.a[0].resize(3); }, "no tower beyond");
  expect([](SwitchingKey& k) { k.a[0].resize(2); }, "do not begin with the moduli");
  expect([](SwitchingKey& k) { k.a[0].push_back(k.a[0].back()); }, "a modulus for the second time");
  expect([](SwitchingKey& k) { k.a[0].back().root = 1; }, "the root is not");
}

TEST(Refusals, FaultsInOtherKeys) {
  auto automorphisms = load<AutomorphismKeys>("auto.bin");
  auto& by_index = automorphisms.keys.begin()->second;
  by_index[4] = by_index.at(5);
  expect_says(refusal_of(automorphisms), "automorphism key 4: the index is not odd and below 2N");

  auto public_key = load<PublicKey>("public.bin");
  public_key.h.pop_back();
  expect_says(refusal_of(public_key), "does not have two parts");

  auto secret_key = load<SecretKey>("secret.bin");
  secret_key.s[1].values[0] = secret_key.s[1].modulus;
  expect_says(refusal_of(secret_key), "tower 1 of the secret key: residue 0 is not below its modulus");
}

TEST(Refusals, AResidueInAFile) {
  auto ciphertext = load<Ciphertext>("fresh.bin");
  const std::uint64_t value = ciphertext.parts[1][2].values[9];
  const std::uint64_t modulus = ciphertext.parts[1][2].modulus;
  const std::string here(reinterpret_cast<const char*>(&value), sizeof value);
  const std::string other(reinterpret_cast<const char*>(&modulus), sizeof modulus);
  EXPECT_EQ(refusal<Ciphertext>(replaced(file("fresh.bin"), here, other)),
            "tower 2 of part 1: residue 9 is not below its modulus");
  EXPECT_EQ(refusal<Ciphertext>(replaced(file("fresh.json"), std::to_string(value), std::to_string(modulus))),
            "tower 2 of part 1: residue 9 is not below its modulus");
}

}  // namespace
}  // namespace polykem::openfhe::test
