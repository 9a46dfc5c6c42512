// SPDX-License-Identifier: Apache-2.0
// Signatures through polykem.hpp: each form of messages, and sizes that do not fit.
#include <gtest/gtest.h>

#include <polykem/polykem.hpp>
#include <string>
#include <vector>

namespace polykem::test {
namespace {

polykem_status status_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return POLYKEM_OK;
}

class Wrapper : public testing::Test {
 protected:
  Signatures sign(std::size_t count, const Messages& messages) const {
    return context_.sign(set_, count, KeyMode::kShared, keys_.sk, messages);
  }
  Verification verify(std::size_t count, const Messages& messages, const Bytes& sig) const {
    return context_.verify(set_, count, KeyMode::kShared, keys_.pk, messages, sig);
  }

  const Scheme set_ = Scheme::find_signature("ML-DSA-44");
  const Context context_{1};
  const Bytes seed_ = Bytes(32, 7);
  const KeyPairs keys_ = context_.keygen(set_, 1, seed_);
  const Bytes text_ = Bytes{'a', 'b', 'c', 'd', 'e', 'f'};
};

TEST_F(Wrapper, EachFormOfMessagesIsTheSameToVerify) {
  const std::vector<std::string> list{"ab", "cd", "ef"};
  const Signatures made = sign(3, Strings::copies(list));
  EXPECT_TRUE(verify(3, Strings::of_width(text_, 2), made.sig).all_valid());
  EXPECT_TRUE(verify(3, Strings::at(text_, {0, 2, 4, 6}), made.sig).all_valid());
  const Verification one_for_all = verify(3, Strings::shared(ByteView(text_.data(), 2)), made.sig);
  EXPECT_TRUE(one_for_all.valid(0));
  EXPECT_FALSE(one_for_all.valid(1));
  EXPECT_FALSE(one_for_all.all_valid());
  const Verification without = verify(3, Strings(), made.sig);
  EXPECT_EQ(without.items, std::vector<polykem_status>(3, POLYKEM_ERR_SIGNATURE)) << "empty messages";
}

TEST_F(Wrapper, EmptyMessagesAreMessages) {
  const Signatures made = sign(2, Strings::copies(std::vector<std::string>{"", ""}));
  EXPECT_TRUE(verify(2, Strings(), made.sig).all_valid());
  EXPECT_TRUE(verify(2, Strings::shared(Bytes{}), made.sig).all_valid());
}

TEST_F(Wrapper, ContextsAreSigned) {
  const Strings texts = Strings::shared(text_), other = Strings::shared(seed_);
  const Signatures made = sign(1, {texts, other});
  EXPECT_TRUE(verify(1, {texts, other}, made.sig).all_valid());
  EXPECT_FALSE(verify(1, texts, made.sig).all_valid());
}

TEST_F(Wrapper, SeedsAndCoinsGiveTheSameSignatures) {
  Messages texts(Strings::shared(text_));
  const Bytes zeros(32);
  const Signatures of_coins = context_.sign(set_, 1, KeyMode::kShared, keys_.sk, texts, zeros);
  texts.deterministic = true;
  EXPECT_EQ(sign(1, texts).sig, of_coins.sig);
  EXPECT_EQ(context_.sign(set_, 1, KeyMode::kShared, seed_, texts, {}, SecretForm::kSeed).sig, of_coins.sig);
}

TEST_F(Wrapper, WhatDoesNotFitIsRefused) {
  const Bytes sig(set_.signature_bytes());
  EXPECT_EQ(status_of([&] { verify(2, Strings::of_width(text_, 2), Bytes(2 * sig.size())); }), POLYKEM_ERR_SIZE);
  EXPECT_EQ(status_of([&] { verify(1, {Strings(), Strings::of_width(text_, 2)}, sig); }), POLYKEM_ERR_SIZE);
  EXPECT_EQ(status_of([&] { verify(2, Strings(), sig); }), POLYKEM_ERR_SIZE);
  EXPECT_EQ(status_of([&] { Strings::of_width(text_, 4); }), POLYKEM_ERR_SIZE);
  for (const Strings& none : {Strings::of_width(Bytes(), 4), Strings::at({}, {0}), Strings::at({}, {0, 0, 0})})
    EXPECT_EQ(status_of([&] { verify(1, none, sig); }), POLYKEM_ERR_SIZE) << "not one message";
  EXPECT_EQ(status_of([&] { Strings::at(text_, {0, 7}); }), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { Strings::at(text_, {4, 2}); }), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { verify(1, {Strings(), Strings::shared(Bytes(256))}, sig); }), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(status_of([] { Scheme::find_signature("mldsa66"); }), POLYKEM_ERR_UNKNOWN_SCHEME);
}

}  // namespace
}  // namespace polykem::test
