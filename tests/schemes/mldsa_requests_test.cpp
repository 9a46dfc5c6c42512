// SPDX-License-Identifier: Apache-2.0
// Tests batches of signatures through the C API: every form of keys and messages, and invalid requests.
#include <algorithm>
#include <bit>

#include "prim/keccak/keccak.hpp"
#include "support/signer.hpp"

namespace polykem::test {
namespace {

class Requests : public testing::TestWithParam<const char*> {
 protected:
  static constexpr size_t kCount = 37;  // neither a multiple of the lanes nor of a chunk
};

TEST_P(Requests, EveryBackendSignsAlike) {
  const Bytes xi = pattern(kCount * 32, 7), rnd = pattern(kCount * 32, 11), all = pattern(10'000, 3);
  std::vector<size_t> offsets{0};
  for (size_t i = 0; i < kCount; ++i)
    offsets.push_back(offsets.back() + i * 13 % 300);
  const polykem_strings messages{all.data(), offsets.data(), 0, 0};
  const Bytes context = pattern(255, 5);
  Bytes first;
  for (const std::string& backend : backends()) {
    const Signer signer(GetParam(), backend, 2);
    Bytes pk, sk;
    signer.keygen(kCount, xi, pk, sk);
    const polykem_messages m = Signer::messages(messages, strings(context, 255, true));
    const Bytes sig = signer.sign(kCount, sk, m, rnd);
    EXPECT_EQ(signer.verify(kCount, pk, m, sig), std::vector<polykem_status>(kCount, POLYKEM_OK));
    if (first.empty()) first = sig;
    EXPECT_EQ(sig, first) << backend;
  }
}

TEST_P(Requests, OneKeyForAll) {
  for (const std::string& backend : backends()) {
    const Signer signer(GetParam(), backend);
    Bytes pk, sk;
    signer.keygen(1, pattern(32, 9), pk, sk);
    const Bytes text = pattern(kCount * 20, 17);
    const polykem_messages m = deterministic(strings(text, 20));
    const Bytes sig = signer.sign(kCount, sk, m);
    EXPECT_EQ(signer.verify(kCount, pk, m, sig), std::vector<polykem_status>(kCount, POLYKEM_OK));
    Bytes keys;
    for (size_t i = 0; i < kCount; ++i)
      keys.insert(keys.end(), sk.begin(), sk.end());
    EXPECT_EQ(signer.sign(kCount, keys, m), sig);
  }
}

TEST_P(Requests, HedgedSignaturesDiffer) {
  const Signer signer(GetParam());
  Bytes pk, sk;
  signer.keygen(1, {}, pk, sk);
  const Bytes text = pattern(20, 1);
  const polykem_messages m = Signer::messages(strings(text, 20, true));
  const Bytes two = signer.sign(2, sk, m);
  const auto half = two.begin() + static_cast<ptrdiff_t>(two.size() / 2);
  EXPECT_NE(Bytes(two.begin(), half), Bytes(half, two.end()));
  EXPECT_EQ(signer.verify(2, pk, m, two), std::vector<polykem_status>(2, POLYKEM_OK));
}

TEST_P(Requests, PublicKeysOfSecretKeys) {
  const Signer signer(GetParam());
  const size_t bytes = signer.info.secret_key_bytes;
  Bytes pk, sk, found(signer.info.public_key_bytes);
  signer.keygen(3, pattern(96, 5), pk, sk);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(polykem_public_key_of(signer.scheme, sk.data() + i * bytes, found.data()), POLYKEM_OK);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), pk.data() + i * found.size()));
  }
  sk.back() ^= 1;
  EXPECT_EQ(polykem_public_key_of(signer.scheme, sk.data() + 2 * bytes, found.data()), POLYKEM_ERR_SECRET_KEY);
  EXPECT_EQ(found, Bytes(found.size()));
  EXPECT_EQ(polykem_public_key_of(nullptr, sk.data(), found.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_public_key_of(signer.scheme, nullptr, found.data()), POLYKEM_ERR_ARGUMENT);
  EXPECT_EQ(polykem_public_key_of(signer.scheme, sk.data(), nullptr), POLYKEM_ERR_ARGUMENT);
}

TEST(PublicKeys, OfKemsAreCopiedWhereTheSecretKeyHoldsThem) {
  const polykem_scheme* scheme = nullptr;
  ASSERT_EQ(polykem_scheme_find("mlkem512", &scheme), POLYKEM_OK);
  const Bytes sk = pattern(1632, 3);
  Bytes pk(800);
  EXPECT_EQ(polykem_public_key_of(scheme, sk.data(), pk.data()), POLYKEM_OK);
  EXPECT_TRUE(std::equal(pk.begin(), pk.end(), sk.data() + 768));
  ASSERT_EQ(polykem_scheme_find("x25519mlkem768", &scheme), POLYKEM_OK);
  const Bytes hybrid = pattern(10'000, 3);
  EXPECT_EQ(polykem_public_key_of(scheme, hybrid.data(), pk.data()), POLYKEM_ERR_ARGUMENT);
}

/// Seeds and key sets give the same signatures as expanded keys.
TEST_P(Requests, FormsOfKeys) {
  const Signer signer(GetParam(), "", 2);
  const Bytes xi = pattern(kCount * 32, 7), text = pattern(kCount * 8, 2);
  Bytes pk, sk, sig(kCount * signer.info.signature_bytes);
  signer.keygen(kCount, xi, pk, sk);
  const polykem_messages m = deterministic(strings(text, 8));
  const Bytes expected = signer.sign(kCount, sk, m);
  polykem_request r = signer.request(POLYKEM_SIGN, kCount);
  r.messages = &m;
  r.sig_out = sig.data();
  r.sk = xi.data();
  r.secret_form = POLYKEM_SECRET_SEED;
  ASSERT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_OK);
  EXPECT_EQ(sig, expected);

  const KeySet secret = signer.import(POLYKEM_SECRET_SEEDS, kCount, xi);
  const KeySet pub = signer.import(POLYKEM_PUBLIC_KEYS, kCount, pk);
  std::vector<size_t> index;
  for (size_t i = 0; i < kCount; ++i)
    index.push_back(kCount - 1 - i);
  const Bytes backward = [&] {
    Bytes keys;
    for (const size_t i : index)
      keys.insert(keys.end(), sk.begin() + static_cast<ptrdiff_t>(i * signer.info.secret_key_bytes),
                  sk.begin() + static_cast<ptrdiff_t>((i + 1) * signer.info.secret_key_bytes));
    return signer.sign(kCount, keys, m);
  }();
  r.sk = nullptr;
  r.secret_form = POLYKEM_SECRET_EXPANDED;
  r.keyset = secret.get();
  r.key_index = index.data();
  ASSERT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_OK);
  EXPECT_EQ(sig, backward);
  polykem_request v = signer.request(POLYKEM_VERIFY, kCount);
  v.messages = &m;
  v.sig = sig.data();
  v.keyset = pub.get();
  v.key_index = index.data();
  EXPECT_EQ(polykem_run(signer.context.get(), &v), POLYKEM_OK);
  v.keyset = secret.get();
  EXPECT_EQ(polykem_run(signer.context.get(), &v), POLYKEM_ERR_ARGUMENT) << "a key set of another kind";
}

/// Expanded keys of a key set give the same results as records: for one item, one key for all, and a key for each.
TEST_P(Requests, KeySetsOnEveryBackend) {
  for (const std::string& backend : backends()) {
    const Signer signer(GetParam(), backend);
    Bytes pk, sk;
    signer.keygen(kCount, pattern(kCount * 32, 7), pk, sk);
    const Bytes text = pattern(kCount * 8, 2);
    const polykem_messages m = deterministic(strings(text, 8));
    const KeySet secret = signer.import(POLYKEM_SECRET_KEYS, kCount, sk);
    const KeySet pub = signer.import(POLYKEM_PUBLIC_KEYS, kCount, pk);
    const size_t shared = 5, bytes = signer.info.secret_key_bytes;
    const Bytes one(sk.begin() + static_cast<ptrdiff_t>(shared * bytes),
                    sk.begin() + static_cast<ptrdiff_t>((shared + 1) * bytes));
    for (const size_t count : {size_t{1}, kCount}) {
      for (const bool each : {false, true}) {
        if (each && count == 1) continue;
        Bytes sig(count * signer.info.signature_bytes);
        polykem_request r = signer.request(POLYKEM_SIGN, count);
        r.key_mode = each ? POLYKEM_KEY_PER_ITEM : POLYKEM_KEY_SHARED;
        r.messages = &m;
        r.keyset = secret.get();
        r.key_index = each ? nullptr : &shared;
        r.sig_out = sig.data();
        ASSERT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_OK);
        EXPECT_EQ(sig, signer.sign(count, each ? sk : one, m)) << backend << ' ' << count << ' ' << each;
        sig[sig.size() - 1] ^= 1;
        std::vector<polykem_status> items(count), expected(count, POLYKEM_OK);
        expected.back() = POLYKEM_ERR_SIGNATURE;
        polykem_request v = signer.request(POLYKEM_VERIFY, count);
        v.key_mode = r.key_mode;
        v.messages = &m;
        v.keyset = pub.get();
        v.key_index = r.key_index;
        v.sig = sig.data();
        v.item_status = items.data();
        EXPECT_EQ(polykem_run(signer.context.get(), &v), POLYKEM_ERR_ITEMS);
        EXPECT_EQ(items, expected) << backend << ' ' << count << ' ' << each;
      }
    }
  }
}

/// More items than a chunk has, and counts that leave places empty; a signature takes one attempt to dozens.
TEST_P(Requests, ManyItemsOnEveryBackend) {
  constexpr size_t kMany = 300;
  const Bytes xi = pattern(kMany * 32, 3), text = pattern(kMany * 16, 5);
  const polykem_messages m = deterministic(strings(text, 16));
  Bytes pk, sk, all;
  const auto front = [](const Bytes& records, size_t count) {
    return Bytes(records.begin(), records.begin() + static_cast<ptrdiff_t>(records.size() / kMany * count));
  };
  for (const std::string& backend : backends()) {
    const Signer signer(GetParam(), backend);
    if (sk.empty()) signer.keygen(kMany, xi, pk, sk);
    if (all.empty()) all = signer.sign(kMany, sk, m);
    for (const size_t count : {kMany, size_t{65}, size_t{9}, size_t{2}}) {
      const Bytes sig = signer.sign(count, front(sk, count), m);
      EXPECT_EQ(sig, front(all, count)) << backend << ' ' << count;
      EXPECT_EQ(signer.verify(count, front(pk, count), m, sig), std::vector<polykem_status>(count, POLYKEM_OK));
    }
  }
}

TEST_P(Requests, WrongSignaturesAreFound) {
  for (const std::string& backend : backends()) {
    const Signer signer(GetParam(), backend);
    Bytes pk, sk;
    signer.keygen(kCount, pattern(kCount * 32, 7), pk, sk);
    Bytes text = pattern(kCount * 8, 2);
    polykem_messages m = Signer::messages(strings(text, 8));
    Bytes sig = signer.sign(kCount, sk, m);
    sig[2 * signer.info.signature_bytes] ^= 1;                                     // c~
    sig[4 * signer.info.signature_bytes - 1] ^= 1;                                 // the hint
    sig[20 * signer.info.signature_bytes + signer.info.signature_bytes / 2] ^= 4;  // z
    pk[30 * signer.info.public_key_bytes + 100] ^= 1;
    text[36 * 8] ^= 1;
    const auto items = signer.verify(kCount, pk, m, sig);
    for (size_t i = 0; i < kCount; ++i)
      EXPECT_EQ(items[i] == POLYKEM_ERR_SIGNATURE, i == 2 || i == 3 || i == 20 || i == 30 || i == 36) << i;
  }
}

/// M' of HashML-DSA: 1, the context, the hash's identifier and the digest. [FIPS204, Alg 4, L23]
TEST_P(Requests, DigestsAreSignedAsHashMlDsa) {
  const Signer signer(GetParam());
  Bytes pk, sk;
  signer.keygen(1, pattern(32, 7), pk, sk);
  const Bytes oid{6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1}, digest = pattern(32, 3), context{1, 2, 3};
  polykem_messages m = deterministic(strings(digest, 32), strings(context, 3));
  m.kind = POLYKEM_MESSAGE_DIGEST;
  m.digest_oid = oid.data();
  m.digest_oid_bytes = oid.size();
  const uint8_t head[] = {1, 3};
  Bytes mu(64);
  Shake xof(Shake::Strength::kShake256);
  xof.absorb(std::span(sk).subspan(64, 64));
  xof.absorb(head);
  xof.absorb(context);
  xof.absorb(oid);
  xof.absorb(digest);
  xof.squeeze(mu);
  polykem_messages of_mu = deterministic(strings(mu, 64));
  of_mu.kind = POLYKEM_MESSAGE_MU;
  const Bytes sig = signer.sign(1, sk, m);
  EXPECT_EQ(sig, signer.sign(1, sk, of_mu));
  EXPECT_EQ(signer.verify(1, pk, m, sig)[0], POLYKEM_OK);
  m.kind = POLYKEM_MESSAGE;
  m.digest_oid = nullptr;
  m.digest_oid_bytes = 0;
  EXPECT_EQ(signer.verify(1, pk, m, sig)[0], POLYKEM_ERR_SIGNATURE) << "a digest is not its own message";
}

TEST_P(Requests, NonsenseIsRefused) {
  const Signer signer(GetParam());
  Bytes pk, sk, sig(2 * signer.info.signature_bytes, 0xee);
  signer.keygen(2, pattern(64, 7), pk, sk);
  const Bytes before = sig, text = pattern(600, 3);
  const auto refused = [&](const polykem_messages* m, auto&& change) {
    polykem_request r = signer.request(POLYKEM_SIGN, 2);
    r.sk = sk.data();
    r.messages = m;
    r.sig_out = sig.data();
    change(r);
    return polykem_run(signer.context.get(), &r) == POLYKEM_ERR_ARGUMENT && sig == before;
  };
  const auto nothing = [](polykem_request&) {};
  polykem_messages m = Signer::messages(strings(text, 10));
  EXPECT_TRUE(refused(nullptr, nothing));
  EXPECT_TRUE(refused(&m, [](polykem_request& r) { r.sig_out = nullptr; }));
  EXPECT_TRUE(refused(&m, [](polykem_request& r) { r.op = POLYKEM_ENCAPS; }));
  EXPECT_TRUE(refused(&m, [](polykem_request& r) { r.op = static_cast<polykem_op>(5); }));
  EXPECT_TRUE(refused(&m, [](polykem_request& r) { r.scheme = polykem_scheme_at(0); })) << "a KEM's set";
  m.contexts = strings(text, 256);
  EXPECT_TRUE(refused(&m, nothing)) << "a context of 256 bytes";
  m.contexts = {};
  m.kind = POLYKEM_MESSAGE_MU;
  EXPECT_TRUE(refused(&m, nothing)) << "mu of 10 bytes";
  m.kind = POLYKEM_MESSAGE_DIGEST;
  EXPECT_TRUE(refused(&m, nothing)) << "a digest without its hash";
  m.kind = static_cast<polykem_message_kind>(3);
  EXPECT_TRUE(refused(&m, nothing));
  const size_t falling[] = {0, 20, 10};
  m = Signer::messages({text.data(), falling, 0, 0});
  EXPECT_TRUE(refused(&m, nothing)) << "offsets that fall";
  m = Signer::messages(strings(text, 10));
  m.struct_size = 8;
  EXPECT_TRUE(refused(&m, nothing));
}

INSTANTIATE_TEST_SUITE_P(All, Requests, testing::Values("mldsa44", "mldsa65", "mldsa87"),
                         [](const auto& info) { return std::string(info.param); });

/// With extreme t0, whose hints are too long, a signature of most keys, these among them, would take thousands of
/// attempts, or for ever.
TEST(DamagedKeys, FailTheirItemsAfterManyAttempts) {
  constexpr size_t kItems = 12, kT0At = 128 + 8 * 96;  // of ML-DSA-44
  const Bytes text = pattern(kItems * 8, 2);
  const polykem_messages m = deterministic(strings(text, 8));
  for (const std::string& backend : backends()) {
    const Signer signer("mldsa44", backend);
    const size_t sk_bytes = signer.info.secret_key_bytes, sig_bytes = signer.info.signature_bytes;
    Bytes pk, sk, sig(kItems * sig_bytes, 0xee);
    signer.keygen(kItems, pattern(kItems * 32, 1), pk, sk);
    Bytes expected = signer.sign(kItems, sk, m);
    std::vector<polykem_status> items(kItems), expected_items(kItems, POLYKEM_OK);
    for (size_t i = 0; i < kItems; i += 4) {
      expected_items[i] = POLYKEM_ERR_SECRET_KEY;
      std::fill_n(&expected[i * sig_bytes], sig_bytes, 0);
      for (size_t n = 0; n < 4 * 256 * 13; ++n) {  // fields of 13 bits, all 0 or all 1
        const size_t field = n / 13, byte = i * sk_bytes + kT0At + n / 8;
        const bool ones = std::popcount(field * field * 0x9e3779b9) % 2 != 0;
        sk[byte] = static_cast<uint8_t>((sk[byte] & ~(1 << n % 8)) | (ones ? 1 << n % 8 : 0));
      }
    }
    polykem_request r = signer.request(POLYKEM_SIGN, kItems);
    r.sk = sk.data();
    r.messages = &m;
    r.sig_out = sig.data();
    r.item_status = items.data();
    EXPECT_EQ(polykem_run(signer.context.get(), &r), POLYKEM_ERR_ITEMS) << backend;
    EXPECT_EQ(items, expected_items) << backend;
    EXPECT_EQ(sig, expected) << backend;
  }
}

TEST(Sets, AreListedApartFromKems) {
  ASSERT_EQ(polykem_signature_count(), 3U);
  EXPECT_EQ(polykem_signature_at(3), nullptr);
  const polykem_scheme* found = nullptr;
  EXPECT_EQ(polykem_signature_find("ML-DSA-65", &found), POLYKEM_OK);
  EXPECT_EQ(found, polykem_signature_at(1));
  EXPECT_EQ(polykem_scheme_find("ML-DSA-65", &found), POLYKEM_ERR_UNKNOWN_SCHEME);
  EXPECT_EQ(polykem_signature_find("ML-KEM-768", &found), POLYKEM_ERR_UNKNOWN_SCHEME);
}

}  // namespace
}  // namespace polykem::test
