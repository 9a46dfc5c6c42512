// SPDX-License-Identifier: Apache-2.0
// Tests the hybrids of RFC 10024 between polykem and OpenSSL 3.5's own, through EVP, in both directions.
#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

constexpr int kPairs = 1000;

class OfOpenssl : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!openssl_has_mlkem()) GTEST_SKIP() << "this OpenSSL has no hybrids";
  }

  ContextPtr context(const char* from) const {
    return ContextPtr(EVP_PKEY_CTX_new_from_name(library.get(), GetParam(), from));
  }
  KeyPtr generate(const char* from) const {
    const ContextPtr maker = context(from);
    EVP_PKEY* key = nullptr;
    EXPECT_EQ(EVP_PKEY_keygen_init(maker.get()), 1) << errors();
    EXPECT_EQ(EVP_PKEY_keygen(maker.get(), &key), 1) << errors();
    return KeyPtr(key);
  }
  static Bytes share(const KeyPtr& key) {
    unsigned char* bytes = nullptr;
    const std::size_t size = EVP_PKEY_get1_encoded_public_key(key.get(), &bytes);
    Bytes out(bytes, bytes + size);
    OPENSSL_free(bytes);
    return out;
  }
  /// Makes the other side's key from its share, as TLS does.
  KeyPtr from_share(const char* from, const Bytes& bytes) const {
    const ContextPtr maker = context(from);
    EVP_PKEY* key = nullptr;
    EXPECT_EQ(EVP_PKEY_paramgen_init(maker.get()), 1) << errors();
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, const_cast<char*>(GetParam()), 0),
        OSSL_PARAM_construct_end()};
    EXPECT_EQ(EVP_PKEY_CTX_set_params(maker.get(), params), 1) << errors();
    EXPECT_EQ(EVP_PKEY_paramgen(maker.get(), &key), 1) << errors();
    EXPECT_EQ(EVP_PKEY_set1_encoded_public_key(key, bytes.data(), bytes.size()), 1) << errors();
    return KeyPtr(key);
  }

  /// `client` has the key pair, `server` encapsulates.
  void exchange(const char* client, const char* server) const {
    for (int i = 0; i < kPairs; ++i) {
      const KeyPtr own = generate(client), peer = from_share(server, share(own));
      const ContextPtr sender(EVP_PKEY_CTX_new_from_pkey(library.get(), peer.get(), server));
      const ContextPtr receiver(EVP_PKEY_CTX_new_from_pkey(library.get(), own.get(), client));
      std::size_t bytes = 0, secret_bytes = 0;
      ASSERT_EQ(EVP_PKEY_encapsulate_init(sender.get(), nullptr), 1) << errors();
      ASSERT_EQ(EVP_PKEY_encapsulate(sender.get(), nullptr, &bytes, nullptr, &secret_bytes), 1) << errors();
      Bytes ciphertext(bytes);
      SecretBytes sent(secret_bytes), received(secret_bytes);
      ASSERT_EQ(EVP_PKEY_encapsulate(sender.get(), ciphertext.data(), &bytes, sent.data(), &secret_bytes), 1)
          << errors();
      ASSERT_EQ(EVP_PKEY_decapsulate_init(receiver.get(), nullptr), 1) << errors();
      ASSERT_EQ(EVP_PKEY_decapsulate(receiver.get(), received.data(), &secret_bytes, ciphertext.data(), bytes), 1)
          << errors();
      ASSERT_EQ(received, sent);
    }
  }

  const Library library;
};

constexpr const char *kOurs = "provider=polykem", *kTheirs = "provider=default";

TEST_P(OfOpenssl, ClientsOfPolykem) {
  exchange(kOurs, kTheirs);
}

TEST_P(OfOpenssl, ServersOfPolykem) {
  exchange(kTheirs, kOurs);
}

INSTANTIATE_TEST_SUITE_P(All, OfOpenssl, testing::Values("X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace polykem::provider::test
