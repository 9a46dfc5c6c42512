// SPDX-License-Identifier: Apache-2.0
// Tests keys that do not belong together, and objects of a file with a context that is not theirs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ckks/openfhe/handles.hpp"
#include "ckks/tests/handles.hpp"
#include "hostile_files.hpp"
#include "support.hpp"

namespace polykem::openfhe::test {
namespace {

using ckks::test::CiphertextsHandle;
using ckks::test::ContextHandle;
using ckks::test::PublicKeyHandle;
using ckks::test::SecretKeyHandle;
using ckks::test::SwitchingKeyHandle;

/// Compares the binary files, since JSON would have thousands of lines. POLYKEM_UPDATE_HOSTILE=1 writes the files
/// again.
TEST(Hostile, TheFilesAreThoseOfTheFolder) {
  const std::filesystem::path folder = std::filesystem::path(POLYKEM_TEST_DATA) / "openfhe" / "hostile";
  const bool update = std::getenv("POLYKEM_UPDATE_HOSTILE") != nullptr;
  if (update) std::filesystem::create_directories(folder);
  auto files = hostile_files();
  std::erase_if(files, [](const auto& file) { return file.first.ends_with(".json"); });
  for (const auto& [name, bytes] : files) {
    if (update) std::ofstream(folder / name, std::ios::binary) << bytes;
    EXPECT_TRUE(file("hostile/" + name) == bytes) << name;
  }
  std::size_t there = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++there;
  EXPECT_EQ(there, files.size());
}

TEST(Hostile, KeysOfOneTagHaveOneRing) {
  for (const auto& [name, bytes] : hostile_files()) {
    const bool automorphisms = name.rfind("auto", 0) == 0;
    const std::string said = automorphisms ? refusal<AutomorphismKeys>(bytes) : refusal<RelinearisationKeys>(bytes);
    if (name.find("digits") != std::string::npos) {
      EXPECT_EQ(said, "accepted") << name;
      continue;
    }
    const bool contexts = name.find("special") == std::string::npos;
    EXPECT_EQ(said, (automorphisms ? "automorphism key 5" : "the relinearisation key for s^3") +
                        std::string(contexts ? ": its crypto context is not that of the other keys with its key tag"
                                             : ": its moduli are not those of the other keys with its key tag"))
        << name;
  }
}

TEST(Hostile, KeysOfSeveralTagsMayHaveSeveralRings) {
  AutomorphismKeys keys;
  SwitchingKey large = key_of(kLarge, 1);
  large.key_tag = "large";
  keys.keys["tag"].emplace(3, key_of(kSmall, 1));
  keys.keys["large"].emplace(3, large);
  const auto again = parse<AutomorphismKeys>(bytes_of(keys, Form::kBinary));
  EXPECT_EQ(again.keys.at("large").at(3).context->ring_dimension, 32U);
}

template <class Handle, class From>
std::string made(const From& from, const ContextHandle& context) {
  typename Handle::pointer out = nullptr;
  std::string said;
  try {
    said = make(from, context.get(), &out) == POLYKEM_CKKS_OK ? "made" : polykem_ckks_error_text();
  } catch (const FormatError& e) {
    said = e.what();
  }
  EXPECT_EQ(out != nullptr, said == "made");
  const Handle owner(out);
  return said;
}

ContextHandle handle_of(const Context& from, const Moduli& special) {
  polykem_ckks_context* out = nullptr;
  EXPECT_EQ(make(from, special, 1, true, &out), POLYKEM_CKKS_OK) << polykem_ckks_error_text();
  return ContextHandle(out);
}

/// Combines each key with each context. Objects are made only if all parameters are equal.
TEST(Hostile, AKeyIsMadeForItsOwnContextOnly) {
  const std::vector<SwitchingKey> keys = {key_of(kSmall, 1),
                                          key_of(kLarge, 1),
                                          key_of({16, {353, 97}, {65537, 193}}, 1),
                                          key_of({16, {97}, {65537, 193}}, 1),
                                          key_of({16, {97, 353}, {65537, 257}}, 1),
                                          key_of({16, {97, 353}, {65537, 193, 257}}, 1),
                                          key_of({16, {97, 353}, {65537}, 2}, 2)};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const ContextHandle context = handle_of(*keys[i].context, special_moduli(keys[i]));
    for (std::size_t j = 0; j < keys.size(); ++j)
      EXPECT_EQ(made<SwitchingKeyHandle>(keys[j], context) == "made", i == j) << i << ' ' << j;
  }
  const ContextHandle two_digits = handle_of(*keys[6].context, special_moduli(keys[6]));
  const std::string said = made<SwitchingKeyHandle>(key_of({16, {97, 353}, {65537}, 2}, 1), two_digits);
  EXPECT_NE(said.find("192 elements are needed, and the array has 96"), std::string::npos) << said;
}

/// Objects that claim to belong to the context but do not fit, as objects that were not checked may.
TEST(Hostile, TowersOfOtherLengthsAreRefused) {
  const SwitchingKey sound = key_of({16, {97, 353}, {65537}, 2}, 2);
  const ContextHandle context = handle_of(*sound.context, special_moduli(sound));
  ASSERT_EQ(made<SwitchingKeyHandle>(sound, context), "made");
  for (const std::size_t digit : {0, 1}) {
    for (const std::size_t tower : {0, 1, 2}) {
      for (auto half : {&SwitchingKey::a, &SwitchingKey::b}) {
        SwitchingKey spoilt = sound;
        (spoilt.*half)[digit][tower].values.resize(8);
        EXPECT_NE(made<SwitchingKeyHandle>(spoilt, context).find("another parameter set"), std::string::npos);
        spoilt = sound;
        (spoilt.*half)[digit][tower].root += 1;
        EXPECT_NE(made<SwitchingKeyHandle>(spoilt, context).find("another parameter set"), std::string::npos);
        spoilt = sound;
        (spoilt.*half)[digit].pop_back();
        EXPECT_NE(made<SwitchingKeyHandle>(spoilt, context), "made");
      }
    }
  }
}

TEST(Hostile, EveryObjectIsMadeForItsOwnContextOnly) {
  const auto ciphertext = load<Ciphertext>("fresh.bin");
  const auto key = load<PublicKey>("public.bin");
  const auto secret = load<SecretKey>("secret.bin");
  const Moduli special = special_moduli(load<AutomorphismKeys>("auto.bin").keys.begin()->second.begin()->second);
  const ContextHandle own = handle_of(*ciphertext.context, special);
  EXPECT_EQ(made<CiphertextsHandle>(ciphertext, own), "made");
  EXPECT_EQ(made<PublicKeyHandle>(key, own), "made");
  EXPECT_EQ(made<SecretKeyHandle>(secret, own), "made");
  Context fewer = *ciphertext.context, turned = *ciphertext.context;
  fewer.moduli.resize(2);
  std::swap(turned.moduli[0], turned.moduli[1]);
  for (const Context& other : {fewer, turned, *key_of(kLarge, 1).context}) {
    const ContextHandle context = handle_of(other, {});
    for (const std::string& said : {made<CiphertextsHandle>(ciphertext, context), made<PublicKeyHandle>(key, context),
                                    made<SecretKeyHandle>(secret, context)})
      EXPECT_NE(said.find("it belongs to another parameter set"), std::string::npos) << said;
  }
}

TEST(Hostile, WordsEnd) {
  const Moduli moduli = {modulus_of(97, 16), modulus_of(193, 16)};
  const std::vector<std::uint64_t> rows(31, 1);
  Words words = {rows.data(), rows.size()};
  EXPECT_THROW(take_polynomial(words, 16, moduli, 2), FormatError);
  EXPECT_EQ(take_polynomial(words, 16, moduli, 1).size(), 1U);
  EXPECT_EQ(words.left, 15U);
  EXPECT_THROW(take_polynomial(words, 16, moduli, 1), FormatError);
}

}  // namespace
}  // namespace polykem::openfhe::test
