// SPDX-License-Identifier: Apache-2.0
// Tests every algorithm of the provider through EVP_PKEY.
#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

class Algorithm : public testing::TestWithParam<std::string> {
 protected:
  const std::string name = GetParam();
  Library library;
  KeyPtr key = generate(library, name);
};

/// Hybrids with a curve of libcrypto; those of the standards are sets of the registry.
bool is_hybrid(const std::string& name) {
  return name.find('_') != std::string::npos;
}

TEST_P(Algorithm, RoundTrip) {
  ASSERT_NE(key, nullptr) << errors();
  const auto sent = encapsulate(library, key.get());
  ASSERT_TRUE(sent) << errors();
  EXPECT_EQ(decapsulate(library, key.get(), sent->ciphertext), sent->secret) << errors();
  EXPECT_GT(EVP_PKEY_get_bits(key.get()), 0);
  EXPECT_GE(EVP_PKEY_get_security_bits(key.get()), 128);
  EXPECT_EQ(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())), sent->ciphertext.size());
}

TEST_P(Algorithm, AsTls) {
  const ContextPtr context = context_of(library, key.get());
  EVP_PKEY* made = nullptr;
  ASSERT_EQ(EVP_PKEY_paramgen_init(context.get()), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), name.c_str()), 1) << errors();
  ASSERT_EQ(EVP_PKEY_paramgen(context.get(), &made), 1) << errors();
  const KeyPtr peer(made);
  EXPECT_EQ(EVP_PKEY_CTX_set_group_name(context.get(), "P-256"), 0);
  EXPECT_FALSE(encapsulate(library, peer.get()));

  unsigned char* share = nullptr;
  const std::size_t bytes = EVP_PKEY_get1_encoded_public_key(key.get(), &share);
  ASSERT_GT(bytes, 0U);
  EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(peer.get(), share, bytes - 1), 0);
  ASSERT_EQ(EVP_PKEY_set1_encoded_public_key(peer.get(), share, bytes), 1) << errors();
  OPENSSL_free(share);
  const auto sent = encapsulate(library, peer.get());
  ASSERT_TRUE(sent) << errors();
  EXPECT_EQ(decapsulate(library, key.get(), sent->ciphertext), sent->secret);
  EXPECT_TRUE(decapsulate(library, peer.get(), sent->ciphertext).empty());
  EXPECT_NE(errors().find("no private key"), std::string::npos);
}

TEST_P(Algorithm, Lengths) {
  const auto sent = encapsulate(library, key.get());
  ASSERT_TRUE(sent);
  Bytes longer = sent->ciphertext, shorter = sent->ciphertext;
  longer.push_back(0);
  shorter.pop_back();
  EXPECT_TRUE(decapsulate(library, key.get(), longer).empty());
  EXPECT_TRUE(decapsulate(library, key.get(), shorter).empty());
  EXPECT_NE(errors().find("wrong length"), std::string::npos);

  const ContextPtr context = context_of(library, key.get());
  ASSERT_EQ(EVP_PKEY_encapsulate_init(context.get(), nullptr), 1);
  Bytes ciphertext(sent->ciphertext.size()), secret(sent->secret.size());
  std::size_t bytes = ciphertext.size() - 1, secret_bytes = secret.size();
  EXPECT_NE(EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes), 1);
  bytes = ciphertext.size();
  secret_bytes = secret.size() - 1;
  EXPECT_NE(EVP_PKEY_encapsulate(context.get(), ciphertext.data(), &bytes, secret.data(), &secret_bytes), 1);
  ASSERT_EQ(EVP_PKEY_decapsulate_init(context.get(), nullptr), 1);
  EXPECT_NE(EVP_PKEY_decapsulate(context.get(), secret.data(), &secret_bytes, sent->ciphertext.data(),
                                 sent->ciphertext.size()),
            1);
}

TEST_P(Algorithm, OtherCiphertext) {
  auto sent = encapsulate(library, key.get());
  ASSERT_TRUE(sent);
  sent->ciphertext[sent->ciphertext.size() / 2] ^= 1;
  const Bytes secret = decapsulate(library, key.get(), sent->ciphertext);
  EXPECT_NE(secret, sent->secret);
}

TEST_P(Algorithm, Copies) {
  const KeyPtr copy(EVP_PKEY_dup(key.get()));
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(EVP_PKEY_eq(copy.get(), key.get()), 1);
  const KeyPtr other = generate(library, name);
  EXPECT_EQ(EVP_PKEY_eq(other.get(), key.get()), 0);
  const auto sent = encapsulate(library, key.get());
  key.reset();
  ASSERT_TRUE(sent);
  EXPECT_EQ(decapsulate(library, copy.get(), sent->ciphertext), sent->secret);
}

TEST_P(Algorithm, Transfer) {
  const Bytes pub = get(key.get(), OSSL_PKEY_PARAM_PUB_KEY), priv = get(key.get(), OSSL_PKEY_PARAM_PRIV_KEY);
  const KeyPtr only_public = import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}});
  ASSERT_NE(only_public, nullptr) << errors();
  EXPECT_EQ(EVP_PKEY_eq(only_public.get(), key.get()), 1);
  const auto sent = encapsulate(library, only_public.get());
  ASSERT_TRUE(sent);
  EXPECT_EQ(decapsulate(library, key.get(), sent->ciphertext), sent->secret);
  EXPECT_EQ(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", {pub.data(), pub.size() - 1}}}), nullptr);
  EXPECT_EQ(import(library, name, EVP_PKEY_KEYPAIR, {}), nullptr);
  if (is_hybrid(name)) {
    EXPECT_TRUE(priv.empty());
    return;
  }
  ASSERT_FALSE(priv.empty());
  const KeyPtr pair = import(library, name, EVP_PKEY_KEYPAIR, {{"pub", pub}, {"priv", priv}});
  ASSERT_NE(pair, nullptr) << errors();
  EXPECT_EQ(decapsulate(library, pair.get(), sent->ciphertext), sent->secret);
  const Bytes other = get(generate(library, name).get(), OSSL_PKEY_PARAM_PUB_KEY);
  EXPECT_EQ(import(library, name, EVP_PKEY_KEYPAIR, {{"pub", other}, {"priv", priv}}), nullptr);
  EXPECT_NE(errors().find("not match"), std::string::npos);
  EXPECT_EQ(import(library, name, EVP_PKEY_KEYPAIR, {{"priv", {priv.data(), priv.size() - 1}}}), nullptr);

  const KeyPtr only_private = import(library, name, EVP_PKEY_KEYPAIR, {{"priv", priv}});
  ASSERT_NE(only_private, nullptr) << errors();
  EXPECT_EQ(decapsulate(library, only_private.get(), sent->ciphertext), sent->secret);
  if (name.rfind("NTRU", 0) != 0 && name.find("MLKEM") == std::string::npos) {
    // The others' secret keys contain the public key.
    EXPECT_EQ(get(only_private.get(), OSSL_PKEY_PARAM_PUB_KEY), pub);
  }
}

TEST_P(Algorithm, Checks) {
  const ContextPtr context = context_of(library, key.get());
  EXPECT_EQ(EVP_PKEY_public_check(context.get()), 1) << errors();
  if (is_hybrid(name)) return;
  EXPECT_EQ(EVP_PKEY_private_check(context.get()), 1) << errors();
  EXPECT_EQ(EVP_PKEY_pairwise_check(context.get()), 1) << errors();
}

TEST_P(Algorithm, Seed) {
  if (is_hybrid(name)) {
    EXPECT_EQ(generate(library, name, Bytes(64)), nullptr);
    return;
  }
  const Scheme scheme = Scheme::find(name);
  const Bytes seed(scheme.info().keygen_coin_bytes, 7);
  const KeyPtr a = generate(library, name, seed), b = generate(library, name, seed);
  ASSERT_NE(a, nullptr) << errors();
  EXPECT_EQ(EVP_PKEY_eq(a.get(), b.get()), 1);
  EXPECT_NE(EVP_PKEY_eq(a.get(), key.get()), 1);
  EXPECT_EQ(generate(library, name, Bytes(seed.size() + 1)), nullptr);
  const bool has_form = scheme.info().secret_seed_bytes != 0;
  EXPECT_EQ(get(a.get(), "seed"), has_form ? seed : Bytes());
  const KeyPtr from_seed = import(library, name, EVP_PKEY_KEYPAIR, {{"seed", seed}});
  ASSERT_EQ(from_seed != nullptr, has_form) << errors();
  if (!has_form) return;
  EXPECT_EQ(EVP_PKEY_eq(a.get(), from_seed.get()), 1);
  EXPECT_EQ(get(a.get(), "priv"), get(from_seed.get(), "priv"));
  const Bytes other = get(key.get(), "priv");
  EXPECT_EQ(import(library, name, EVP_PKEY_KEYPAIR, {{"seed", seed}, {"priv", other}}), nullptr);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = identifier(info.param);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  name.erase(std::remove(name.begin(), name.end(), '_'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Algorithm, testing::ValuesIn(algorithm_names(Library().provider())), test_name);

TEST(Provider, HasEverySet) {
  const Library library;
  for (const Scheme& scheme : Scheme::all()) {
    for (const char* name : {scheme.name(), scheme.info().title})
      EXPECT_NE(context_of(library, std::string(name)), nullptr) << name;
  }
  for (const char* name :
       {"2.16.840.1.101.3.4.4.2", "id-alg-ml-kem-768", "1.0.18033.2.2.7.8", "id-kem-frodokem976-shake"})
    EXPECT_NE(context_of(library, std::string(name)), nullptr) << name;
}

TEST(Provider, RefusesMalformedKeys) {
  const Library library;
  const KeyPtr key = generate(library, "mlkem768");
  Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv");
  pub[0] = 0xFF;
  pub[1] |= 0x0F;
  EXPECT_EQ(import(library, "mlkem768", EVP_PKEY_PUBLIC_KEY, {{"pub", pub}}), nullptr);
  EXPECT_NE(errors().find("malformed public key"), std::string::npos);
  EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(key.get(), pub.data(), pub.size()), 0);
  priv[priv.size() - 40] ^= 1;  // in the hash of the public key
  EXPECT_EQ(import(library, "mlkem768", EVP_PKEY_KEYPAIR, {{"priv", priv}}), nullptr);
  EXPECT_NE(errors().find("malformed private key"), std::string::npos);

  const KeyPtr hybrid = generate(library, "p256_frodo640aes");
  Bytes share = get(hybrid.get(), "pub");
  share[40] ^= 1;  // not on the curve
  EXPECT_EQ(import(library, "p256_frodo640aes", EVP_PKEY_PUBLIC_KEY, {{"pub", share}}), nullptr);
  errors();
}

TEST(Provider, OrderOfShares) {
  const Library library;
  // An uncompressed point begins with 4: the curve comes first.
  const auto length = [&](const char* name) { return get(generate(library, name).get(), "pub").size(); };
  EXPECT_EQ(get(generate(library, "p384_frodo976aes").get(), "pub")[0], 4);
  if (openssl_has_mlkem()) return;
  // Random bytes are hardly ever a public key of ML-KEM with reduced coefficients.
  const Bytes share = get(generate(library, "X25519MLKEM768").get(), "pub");
  ASSERT_EQ(share.size(), 1184U + 32);
  EXPECT_NE(import(library, "mlkem768", EVP_PKEY_PUBLIC_KEY, {{"pub", {share.data(), 1184}}}), nullptr);
  EXPECT_EQ(length("SecP256r1MLKEM768"), 65U + 1184);
  EXPECT_EQ(length("SecP384r1MLKEM1024"), 97U + 1568);
  EXPECT_EQ(get(generate(library, "SecP256r1MLKEM768").get(), "pub")[0], 4);
}

}  // namespace
}  // namespace polykem::provider::test
