// SPDX-License-Identifier: Apache-2.0
// Tests keys through libcrypto's functions: i2d, d2i, PEM, PKCS #8.
#include <gtest/gtest.h>

#include <openssl/decoder.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

namespace {

template <class Type, void (*kFree)(Type*)>
struct Free {
  void operator()(Type* object) const { kFree(object); }
};
using Pkey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, EVP_PKEY_free>>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, Free<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using Pkcs8 = std::unique_ptr<PKCS8_PRIV_KEY_INFO, Free<PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO, BIO_free_all>>;
using Bytes = std::vector<unsigned char>;

constexpr const char* kMlkem[] = {"ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"};
constexpr const char* kSets[] = {"ML-KEM-512",           "ML-KEM-768",          "ML-KEM-1024",
                                 "FrodoKEM-976-SHAKE",   "FrodoKEM-1344-SHAKE", "eFrodoKEM-976-SHAKE",
                                 "eFrodoKEM-1344-SHAKE", "FrodoKEM-976-AES",    "FrodoKEM-1344-AES",
                                 "eFrodoKEM-976-AES",    "eFrodoKEM-1344-AES"};
/// One of each kind, for tests that are the same for every set.
constexpr const char* kKinds[] = {"ML-KEM-768", "FrodoKEM-976-AES"};

class Coding : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(OSSL_PROVIDER_set_default_search_path(library_.get(), POLYKEM_MODULES), 1);
    for (const char* name : {"polykem", "default"}) {
      providers_.emplace_back(OSSL_PROVIDER_load(library_.get(), name));
      ASSERT_NE(providers_.back(), nullptr) << name;
    }
    ERR_clear_error();
  }

  Pkey generate(const char* name) {
    const PkeyContext context(EVP_PKEY_CTX_new_from_name(library_.get(), name, "provider=polykem"));
    EVP_PKEY* key = nullptr;
    EXPECT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
    EXPECT_EQ(EVP_PKEY_generate(context.get(), &key), 1) << name;
    return Pkey(key);
  }

  Pkey public_key(const Bytes& der) {
    const unsigned char* in = der.data();
    Pkey key(d2i_PUBKEY_ex(nullptr, &in, static_cast<long>(der.size()), library_.get(), nullptr));
    EXPECT_TRUE(key == nullptr || in == der.data() + der.size());
    return key;
  }

  Pkey private_key(const Bytes& der, std::size_t behind = 0) {
    const unsigned char* in = der.data();
    Pkey key(d2i_AutoPrivateKey_ex(nullptr, &in, static_cast<long>(der.size()), library_.get(), nullptr));
    EXPECT_TRUE(key == nullptr || in + behind == der.data() + der.size());
    return key;
  }

  Pkey from_file(const std::string& name) {
    const Bio file(BIO_new_file((std::string(POLYKEM_TEST_DATA) + "/rfc9935/" + name).c_str(), "r"));
    EXPECT_NE(file, nullptr) << name;
    return Pkey(PEM_read_bio_PrivateKey_ex(file.get(), nullptr, nullptr, nullptr, library_.get(), nullptr));
  }

  OSSL_LIB_CTX* library() { return library_.get(); }

 private:
  std::unique_ptr<OSSL_LIB_CTX, Free<OSSL_LIB_CTX, OSSL_LIB_CTX_free>> library_{OSSL_LIB_CTX_new()};
  struct Unload {
    void operator()(OSSL_PROVIDER* provider) const { OSSL_PROVIDER_unload(provider); }
  };
  std::vector<std::unique_ptr<OSSL_PROVIDER, Unload>> providers_;
};

template <class Write>
Bytes der_of(const Pkey& key, Write write) {
  const int size = write(key.get(), nullptr);
  EXPECT_GT(size, 0);
  Bytes out(size > 0 ? static_cast<std::size_t>(size) : 0);
  unsigned char* to = out.data();
  EXPECT_EQ(write(key.get(), &to), size);
  return out;
}

/// Expects that `with` decapsulates what was encapsulated to `to`.
void expect_pair(OSSL_LIB_CTX* library, const Pkey& to, const Pkey& with) {
  const PkeyContext sender(EVP_PKEY_CTX_new_from_pkey(library, to.get(), nullptr));
  const PkeyContext receiver(EVP_PKEY_CTX_new_from_pkey(library, with.get(), nullptr));
  ASSERT_EQ(EVP_PKEY_encapsulate_init(sender.get(), nullptr), 1);
  ASSERT_EQ(EVP_PKEY_decapsulate_init(receiver.get(), nullptr), 1);
  std::size_t ct_bytes = 0, sent_bytes = 0, got_bytes = 0;
  ASSERT_EQ(EVP_PKEY_encapsulate(sender.get(), nullptr, &ct_bytes, nullptr, &sent_bytes), 1);
  Bytes ct(ct_bytes), sent(sent_bytes), got(sent_bytes);
  ASSERT_EQ(EVP_PKEY_encapsulate(sender.get(), ct.data(), &ct_bytes, sent.data(), &sent_bytes), 1);
  got_bytes = got.size();
  ASSERT_EQ(EVP_PKEY_decapsulate(receiver.get(), got.data(), &got_bytes, ct.data(), ct.size()), 1);
  EXPECT_EQ(sent, got);
}

TEST_F(Coding, KeysGoThroughDer) {
  for (const char* name : kSets) {
    SCOPED_TRACE(name);
    const Pkey key = generate(name);
    const Pkey pub = public_key(der_of(key, i2d_PUBKEY));
    const Pkey priv = private_key(der_of(key, i2d_PrivateKey));
    ASSERT_NE(pub, nullptr);
    ASSERT_NE(priv, nullptr);
    EXPECT_EQ(EVP_PKEY_eq(key.get(), pub.get()), 1);
    EXPECT_EQ(EVP_PKEY_eq(key.get(), priv.get()), 1);
    EXPECT_EQ(der_of(priv, i2d_PrivateKey), der_of(key, i2d_PrivateKey));
    expect_pair(library(), pub, priv);
    EXPECT_EQ(ERR_peek_error(), 0U) << "reading a key leaves no error behind";
  }
}

TEST_F(Coding, KeysGoThroughPkcs8) {
  for (const char* name : kKinds) {
    const Pkey key = generate(name);
    const Pkcs8 info(EVP_PKEY2PKCS8(key.get()));
    ASSERT_NE(info, nullptr) << name;
    const Pkey again(EVP_PKCS82PKEY_ex(info.get(), library(), nullptr));
    ASSERT_NE(again, nullptr) << name;
    expect_pair(library(), key, again);
  }
}

TEST_F(Coding, KeysGoThroughEncryptedPem) {
  const std::unique_ptr<EVP_CIPHER, Free<EVP_CIPHER, EVP_CIPHER_free>> cipher(
      EVP_CIPHER_fetch(library(), "AES-256-CBC", nullptr));
  std::string word = "a passphrase";
  auto* bytes = reinterpret_cast<unsigned char*>(word.data());
  for (const char* name : kSets) {
    SCOPED_TRACE(name);
    const Pkey key = generate(name);
    const Bio memory(BIO_new(BIO_s_mem()));
    ASSERT_EQ(PEM_write_bio_PrivateKey_ex(memory.get(), key.get(), cipher.get(), bytes, static_cast<int>(word.size()),
                                          nullptr, nullptr, library(), nullptr),
              1);
    const Pkey again(PEM_read_bio_PrivateKey_ex(memory.get(), nullptr, nullptr, word.data(), library(), nullptr));
    ASSERT_NE(again, nullptr);
    expect_pair(library(), key, again);
  }
}

/// With an unavailable cipher, no unencrypted key may be written.
TEST_F(Coding, NothingIsWrittenWithoutTheCipherOrThePassphrase) {
  const Pkey key = generate("ML-KEM-512");
  const auto written = [&](const char* cipher, bool with_passphrase) {
    const std::unique_ptr<OSSL_ENCODER_CTX, Free<OSSL_ENCODER_CTX, OSSL_ENCODER_CTX_free>> context(
        OSSL_ENCODER_CTX_new_for_pkey(key.get(), OSSL_KEYMGMT_SELECT_KEYPAIR, "PEM", "PrivateKeyInfo", nullptr));
    unsigned char* out = nullptr;
    std::size_t size = 0;
    bool ok = OSSL_ENCODER_CTX_set_cipher(context.get(), cipher, nullptr) == 1;
    if (with_passphrase) {
      const auto* word = reinterpret_cast<const unsigned char*>("word");
      ok = ok && OSSL_ENCODER_CTX_set_passphrase(context.get(), word, 4) == 1;
    }
    ok = ok && OSSL_ENCODER_to_data(context.get(), &out, &size) == 1;
    OPENSSL_clear_free(out, size);
    return ok;
  };
  EXPECT_TRUE(written("AES-128-CBC", true));
  EXPECT_FALSE(written("no such cipher", true));
  ERR_clear_error();
  EXPECT_FALSE(written("AES-128-CBC", false));
}

TEST_F(Coding, ReadsOneKeyAndNothingBehindIt) {
  for (const char* name : kKinds) {
    Bytes der = der_of(generate(name), i2d_PrivateKey);
    der.insert(der.end(), {1, 2, 3});
    EXPECT_NE(private_key(der, 3), nullptr) << name;
    der.resize(der.size() - 4);
    EXPECT_EQ(private_key(der), nullptr) << name;
  }
}

/// Its secret part, its public part and its hash, which FrodoKEM-976's keys have at these places.
TEST_F(Coding, DamagedKeysAreRefused) {
  const Bytes der = der_of(generate("FrodoKEM-976-AES"), i2d_PrivateKey);
  for (const std::size_t from_the_end : {1U, 24U + 2, 24U + 15616, 24U + 15616 + 15632}) {
    Bytes other = der;
    other[other.size() - from_the_end] ^= 1;
    EXPECT_EQ(private_key(other), nullptr) << from_the_end;
  }
}

TEST_F(Coding, HostileLengthsAreRefused) {
  for (const bool is_private : {false, true}) {
    const Pkey key = generate("FrodoKEM-976-AES");
    const Bytes der = der_of(key, is_private ? i2d_PrivateKey : i2d_PUBKEY);
    for (const unsigned char length : {0x00, 0x7F, 0x80, 0xFF}) {
      for (const std::size_t place : {2U, 3U, is_private ? 21U : 18U, is_private ? 25U : 19U}) {
        Bytes other = der;
        other[place] = length;
        if (other == der) continue;
        const unsigned char* in = other.data();
        const auto size = static_cast<long>(other.size());
        const Pkey read(is_private ? d2i_AutoPrivateKey_ex(nullptr, &in, size, library(), nullptr)
                                   : d2i_PUBKEY_ex(nullptr, &in, size, library(), nullptr));
        EXPECT_EQ(read, nullptr) << place << ' ' << static_cast<int>(length);
      }
    }
  }
}

TEST_F(Coding, ExamplesOfTheStandard) {
  for (const char* name : kMlkem) {
    const Pkey seed = from_file(std::string(name) + "-seed.priv");
    for (const char* form : {"-expanded.priv", "-both.priv"}) {
      const Pkey other = from_file(std::string(name) + form);
      ASSERT_NE(other, nullptr) << name << form;
      EXPECT_EQ(EVP_PKEY_eq(seed.get(), other.get()), 1);
    }
  }
  for (const char* number : {"1", "2", "3", "4"}) {
    EXPECT_EQ(from_file(std::string("bad-ML-KEM-512-") + number + ".priv"), nullptr) << number;
  }
}

TEST_F(Coding, SetsWithoutAFormAreRefused) {
  for (const char* name : {"NTRU-HPS-2048-509", "FrodoKEM-640-AES"}) {
    const Pkey key = generate(name);
    EXPECT_LE(i2d_PUBKEY(key.get(), nullptr), 0) << name;
    EXPECT_LE(i2d_PrivateKey(key.get(), nullptr), 0) << name;
  }
}

}  // namespace
