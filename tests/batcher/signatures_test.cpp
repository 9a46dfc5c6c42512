// SPDX-License-Identifier: Apache-2.0
// Tests signatures in the batcher: messages of all lengths, kinds and contexts share batches.
#include <sys/mman.h>

#include "executors.hpp"
#include "schemes/registry.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

struct FreeBatcher {
  void operator()(polykem_batcher* batcher) const { polykem_batcher_free(batcher); }
};
struct FreeTicket {
  void operator()(polykem_ticket* ticket) const { polykem_ticket_free(ticket); }
};
using OneTicket = std::unique_ptr<polykem_ticket, FreeTicket>;

polykem_messages message(const Bytes& text, polykem_message_kind kind = POLYKEM_MESSAGE) {
  polykem_messages out{};
  out.struct_size = sizeof out;
  out.kind = kind;
  out.strings = {text.data(), nullptr, text.size(), 0};
  return out;
}

struct BatchedSignatures : testing::TestWithParam<const char*> {
  Context context = make_context(nullptr, 2);
  const polykem_scheme* set = [] {
    const polykem_scheme* found = nullptr;
    EXPECT_EQ(polykem_signature_find(GetParam(), &found), POLYKEM_OK);
    return found;
  }();
  const polykem_scheme_info_t sizes = info(set);
  Bytes pk = Bytes(sizes.public_key_bytes), sk = Bytes(sizes.secret_key_bytes);
  std::unique_ptr<polykem_batcher, FreeBatcher> batcher = [this] {
    polykem_batcher* out = nullptr;
    EXPECT_EQ(polykem_batcher_new(context.get(), nullptr, &out), POLYKEM_OK);
    return std::unique_ptr<polykem_batcher, FreeBatcher>(out);
  }();

  void SetUp() override {
    const OneTicket pair = add(make_request(POLYKEM_KEYGEN, set, 1));
    ASSERT_EQ(polykem_ticket_take(pair.get(), pk.data(), sk.data()), POLYKEM_OK);
  }
  polykem_status try_add(const polykem_request& request, polykem_ticket*& out) {
    return polykem_batcher_add(batcher.get(), &request, nullptr, nullptr, &out);
  }
  OneTicket add(const polykem_request& request) {
    polykem_ticket* out = nullptr;
    EXPECT_EQ(try_add(request, out), POLYKEM_OK);
    return OneTicket(out);
  }
  polykem_request sign_request(const polykem_messages& messages) const {
    polykem_request request = make_request(POLYKEM_SIGN, set, 1);
    request.sk = sk.data();
    request.messages = &messages;
    return request;
  }
  polykem_request verify_request(const polykem_messages& messages, const Bytes& sig) const {
    polykem_request request = make_request(POLYKEM_VERIFY, set, 1);
    request.pk = pk.data();
    request.messages = &messages;
    request.sig = sig.data();
    return request;
  }
  Bytes signature_of(const OneTicket& ticket) const {
    Bytes sig(sizes.signature_bytes);
    EXPECT_EQ(polykem_ticket_take(ticket.get(), sig.data(), nullptr), POLYKEM_OK);
    return sig;
  }
  Bytes sign(const polykem_messages& messages) { return signature_of(add(sign_request(messages))); }
  polykem_status verify(const polykem_messages& messages, const Bytes& sig) {
    return polykem_ticket_wait(add(verify_request(messages, sig)).get());
  }
  Bytes signed_at_once(const polykem_messages& messages) const {
    Bytes sig(sizes.signature_bytes);
    polykem_request request = sign_request(messages);
    request.sig_out = sig.data();
    EXPECT_EQ(polykem_run(context.get(), &request), POLYKEM_OK);
    return sig;
  }
  polykem_batcher_stats_t stats(polykem_op op) const {
    polykem_batcher_stats_t out{};
    out.struct_size = sizeof out;
    EXPECT_EQ(polykem_batcher_stats(batcher.get(), set, op, &out), POLYKEM_OK);
    return out;
  }
};

/// Messages of every kind, and lengths around the hash's blocks and beyond a batch's memory.
TEST_P(BatchedSignatures, AreThoseOfBatchesOfTheCaller) {
  const uint8_t oid[] = {6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1};
  std::vector<Bytes> texts, contexts;
  std::vector<polykem_messages> all;
  const std::vector<size_t> lengths{0, 1, 64, 70, 71, 72, 135, 136, 137, 1000, 3'000'000};
  for (const size_t length : lengths) {
    texts.push_back(pattern(length, length));
    contexts.push_back(pattern(length % 256, 3));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    all.push_back(message(texts[i]));
    all.back().contexts = {contexts[i].data(), nullptr, contexts[i].size(), 1};
  }
  const Bytes digest = pattern(32, 1), mu = pattern(64, 2);
  all.push_back(message(digest, POLYKEM_MESSAGE_DIGEST));
  all.back().digest_oid = oid;
  all.back().digest_oid_bytes = sizeof oid;
  all.push_back(message(mu, POLYKEM_MESSAGE_MU));
  for (polykem_messages& each : all)
    each.deterministic = 1;

  ASSERT_EQ(polykem_batcher_hold(batcher.get()), POLYKEM_OK);
  std::vector<OneTicket> tickets;
  for (const polykem_messages& each : all)
    tickets.push_back(add(sign_request(each)));
  ASSERT_EQ(polykem_batcher_release(batcher.get()), POLYKEM_OK);
  std::vector<Bytes> signatures;
  for (size_t i = 0; i < all.size(); ++i) {
    signatures.push_back(signature_of(tickets[i]));
    EXPECT_EQ(signatures[i], signed_at_once(all[i])) << i;
  }
  EXPECT_LT(stats(POLYKEM_SIGN).batches, all.size());

  ASSERT_EQ(polykem_batcher_hold(batcher.get()), POLYKEM_OK);
  tickets.clear();
  for (size_t i = 0; i < all.size(); ++i) {
    tickets.push_back(add(verify_request(all[i], signatures[i])));
    tickets.push_back(add(verify_request(all[i], signatures[(i + 1) % all.size()])));
  }
  ASSERT_EQ(polykem_batcher_release(batcher.get()), POLYKEM_OK);
  for (size_t i = 0; i < tickets.size(); ++i)
    EXPECT_EQ(polykem_ticket_wait(tickets[i].get()), i % 2 == 0 ? POLYKEM_OK : POLYKEM_ERR_SIGNATURE) << i;
  EXPECT_LT(stats(POLYKEM_VERIFY).batches, tickets.size());
  EXPECT_EQ(stats(POLYKEM_VERIFY).failed, all.size());
}

TEST_P(BatchedSignatures, CoinsAreTheCallersRandomOrZero) {
  const Bytes text = pattern(20, 1), rnd = pattern(32, 2);
  polykem_messages m = message(text);
  EXPECT_NE(sign(m), sign(m)) << "hedged";
  polykem_request request = sign_request(m);
  request.coins = rnd.data();
  const Bytes with_rnd = signature_of(add(request));
  EXPECT_EQ(signature_of(add(request)), with_rnd);
  m.deterministic = 1;
  const Bytes deterministic = sign(m);
  EXPECT_NE(deterministic, with_rnd);
  EXPECT_EQ(signature_of(add(request)), deterministic) << "which counts for more than coins";
  EXPECT_EQ(verify(m, with_rnd), POLYKEM_OK);
}

TEST_P(BatchedSignatures, RequestsThatMakeNoSenseAreRefused) {
  const Bytes text = pattern(20, 1), long_context(256, 1), sig(sizes.signature_bytes), seed(32, 1);
  const polykem_messages m = message(text);
  polykem_messages bad = m;
  bad.contexts = {long_context.data(), nullptr, 256, 1};
  polykem_ticket* none = nullptr;
  EXPECT_EQ(try_add(sign_request(bad), none), POLYKEM_ERR_ARGUMENT) << "a context of 256 bytes";
  const polykem_messages short_mu = message(text, POLYKEM_MESSAGE_MU);
  EXPECT_EQ(try_add(verify_request(short_mu, sig), none), POLYKEM_ERR_ARGUMENT) << "mu of 20 bytes";
  polykem_request request = sign_request(m);
  request.sk = seed.data();
  request.secret_form = POLYKEM_SECRET_SEED;
  EXPECT_EQ(try_add(request, none), POLYKEM_ERR_ARGUMENT) << "a seed";
  request = verify_request(m, sig);
  request.sig = nullptr;
  EXPECT_EQ(try_add(request, none), POLYKEM_ERR_ARGUMENT) << "no signature";
  EXPECT_EQ(try_add(make_request(POLYKEM_ENCAPS, set, 1), none), POLYKEM_ERR_ARGUMENT) << "a KEM's operation";
  EXPECT_EQ(none, nullptr);
  polykem_batcher_stats_t out{};
  out.struct_size = sizeof out;
  EXPECT_EQ(polykem_batcher_stats(batcher.get(), set, POLYKEM_DECAPS, &out), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(verify(m, sig), POLYKEM_ERR_SIGNATURE);
}

/// An operation whose message must not be hashed, since its memory cannot be read.
TEST_P(BatchedSignatures, WhatIsRefusedCostsNothing) {
  polykem_batcher_config config{};
  config.struct_size = sizeof config;
  config.hard_limit = 1;
  polykem_batcher* small = nullptr;
  ASSERT_EQ(polykem_batcher_new(context.get(), &config, &small), POLYKEM_OK);
  batcher.reset(small);
  constexpr size_t kBytes = 4096;
  void* const unreadable = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(unreadable, MAP_FAILED);
  const Bytes text = pattern(20, 1), sig(sizes.signature_bytes);
  const polykem_messages m = message(text);
  polykem_messages hidden = m;
  hidden.strings = {static_cast<const uint8_t*>(unreadable), nullptr, kBytes, 0};

  ASSERT_EQ(polykem_batcher_hold(small), POLYKEM_OK);
  OneTicket first = add(sign_request(m));
  polykem_ticket* none = nullptr;
  EXPECT_EQ(try_add(sign_request(hidden), none), POLYKEM_ERR_BUSY);
  EXPECT_EQ(try_add(verify_request(hidden, sig), none), POLYKEM_ERR_BUSY);
  EXPECT_EQ(none, nullptr);
  ASSERT_EQ(polykem_batcher_release(small), POLYKEM_OK);
  EXPECT_EQ(verify(m, signature_of(first)), POLYKEM_OK) << "there is room again";
  EXPECT_EQ(stats(POLYKEM_SIGN).refused, 1u);
  munmap(unreadable, kBytes);
}

INSTANTIATE_TEST_SUITE_P(All, BatchedSignatures, testing::Values("mldsa44", "mldsa65", "mldsa87"),
                         [](const auto& info) { return std::string(info.param); });

/// A device computes signatures after probes of both operations, with the CPU's results.
TEST_F(Executors, ADeviceSignsAndVerifies) {
  make();
  const Scheme& set = *find_signature("mldsa44");
  Bytes pk(set.public_key_bytes), sk(set.secret_key_bytes), sig(set.signature_bytes);
  Request keygen{.op = Op::kKeygen, .scheme = &set};
  keygen.records.count = 1;
  ASSERT_EQ(add(keygen)->take(pk.data(), sk.data()), Status::kOk);
  const Bytes mu(kMuBytes, 7);
  Request sign{.op = Op::kSign, .scheme = &set}, verify{.op = Op::kVerify, .scheme = &set};
  sign.records.count = verify.records.count = 1;
  sign.records.message = verify.records.message = Messages::of_mu(mu.data());
  sign.records.sk = sk.data();
  verify.records.pk = pk.data();
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(add(sign)->take(sig.data(), nullptr), Status::kOk);
    verify.records.sig = sig.data();
    EXPECT_EQ(add(verify)->wait(), Status::kOk);
    return batcher->stats(set, Op::kSign).on_accelerator > 0 && batcher->stats(set, Op::kVerify).on_accelerator > 0;
  }));
  sig[0] ^= 1;
  EXPECT_EQ(add(verify)->wait(), Status::kSignature);
  EXPECT_EQ(health().opened, 0u);
}

}  // namespace
}  // namespace polykem::test
