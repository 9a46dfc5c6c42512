// SPDX-License-Identifier: Apache-2.0
// Tests ML-DSA through EVP, X.509 and, if libssl supports signature algorithms of providers, TLS.
#include <openssl/async.h>
#include <openssl/x509.h>

#include <array>
#include <cstring>

#include "provider/tls_pair.hpp"

namespace polykem::provider::test {
namespace {

struct DigestFree {
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
};
using DigestPtr = std::unique_ptr<EVP_MD_CTX, DigestFree>;
using Params = std::vector<OSSL_PARAM>;

/// libssl asks providers for signature algorithms.
bool libssl_asks() {
  return OPENSSL_version_major() > 3 || OPENSSL_version_minor() >= 2;
}

Bytes text(const char* words) {
  return {words, words + std::strlen(words)};
}

int one = 1;
OSSL_PARAM number(const char* name, int& value) {
  return OSSL_PARAM_construct_int(name, &value);
}

class Signatures : public testing::TestWithParam<const char*> {
 protected:
  /// Empty on failure.
  Bytes sign(const Bytes& message, Params params = {}, const char* properties = "provider=polykem") {
    params.push_back(OSSL_PARAM_construct_end());
    const DigestPtr context(EVP_MD_CTX_new());
    std::size_t bytes = 0;
    if (EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, library.get(), properties, key.get(), params.data()) !=
            1 ||
        EVP_DigestSign(context.get(), nullptr, &bytes, message.data(), message.size()) != 1)
      return {};
    Bytes out(bytes);
    if (EVP_DigestSign(context.get(), out.data(), &bytes, message.data(), message.size()) != 1) return {};
    out.resize(bytes);
    return out;
  }
  int verify(const Bytes& message, const Bytes& signature, Params params = {},
             const char* properties = "provider=polykem") {
    params.push_back(OSSL_PARAM_construct_end());
    const DigestPtr context(EVP_MD_CTX_new());
    if (EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, library.get(), properties, key.get(), params.data()) !=
        1)
      return -1;
    return EVP_DigestVerify(context.get(), signature.data(), signature.size(), message.data(), message.size());
  }
  /// Returns the library's signature with rnd = 0.
  Bytes expected(const Bytes& message, polykem_message_kind kind, const Bytes& context = {}) {
    const Bytes sk = get(key.get(), "priv");
    const polykem::Context own(1);
    polykem_messages messages{};
    messages.struct_size = sizeof messages;
    messages.kind = kind;
    messages.strings = {message.data(), nullptr, message.size(), 0};
    messages.contexts = {context.data(), nullptr, context.size(), 0};
    messages.deterministic = 1;
    polykem_request request = polykem::Context::request(POLYKEM_SIGN, set, 1);
    Bytes out(set.info().signature_bytes);
    request.sk = sk.data();
    request.messages = &messages;
    request.sig_out = out.data();
    EXPECT_EQ(own.run(request), POLYKEM_OK);
    return out;
  }

  const std::string name = GetParam();
  const Scheme set = Scheme::find_signature(name);
  const Library library;
  KeyPtr key = generate(library, name);
};

TEST_P(Signatures, SignAndVerify) {
  ASSERT_NE(key, nullptr) << errors();
  EXPECT_EQ(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())), set.info().signature_bytes);
  EXPECT_GE(EVP_PKEY_get_security_bits(key.get()), 128);
  char digest[20] = "unset";
  EXPECT_EQ(EVP_PKEY_get_default_digest_name(key.get(), digest, sizeof digest), 2) << "a digest is not allowed";
  const Bytes message = text("a message");
  Bytes signature = sign(message);
  ASSERT_EQ(signature.size(), set.info().signature_bytes) << errors();
  EXPECT_EQ(verify(message, signature), 1) << errors();
  EXPECT_EQ(verify({}, sign({})), 1) << "of nothing";
  EXPECT_NE(sign(message), signature) << "hedged";
  EXPECT_EQ(verify(text("another"), signature), 0);
  signature.back() ^= 1;
  EXPECT_EQ(verify(message, signature), 0);
  signature.pop_back();
  EXPECT_EQ(verify(message, signature), 0);
  EXPECT_EQ(errors().find("internal error"), std::string::npos) << "a wrong signature is no fault";
}

TEST_P(Signatures, Parameters) {
  const Bytes message = text("a message"), context = text("a context"), rnd(32, 7), zeros(32), mu(64, 3);
  const OSSL_PARAM with_context = octets("context-string", context);
  EXPECT_EQ(sign(message, {number("deterministic", one)}), expected(message, POLYKEM_MESSAGE));
  EXPECT_EQ(sign(message, {number("deterministic", one), with_context}), expected(message, POLYKEM_MESSAGE, context));
  EXPECT_EQ(sign(mu, {number("deterministic", one), number("mu", one)}), expected(mu, POLYKEM_MESSAGE_MU));
  EXPECT_EQ(sign(message, {octets("test-entropy", zeros)}), expected(message, POLYKEM_MESSAGE));
  const Bytes with_rnd = sign(message, {octets("test-entropy", rnd), number("deterministic", one)});
  EXPECT_EQ(sign(message, {octets("test-entropy", rnd)}), with_rnd);
  EXPECT_NE(with_rnd, expected(message, POLYKEM_MESSAGE));

  const Bytes signature = sign(message, {with_context});
  EXPECT_EQ(verify(message, signature, {with_context}), 1);
  EXPECT_EQ(verify(message, signature), 0) << "without the context";
  EXPECT_EQ(verify(mu, expected(mu, POLYKEM_MESSAGE_MU), {number("mu", one)}), 1);
  EXPECT_EQ(sign(message, {number("message-encoding", one)}).size(), signature.size());
  errors();

  int zero = 0;
  const Bytes too_long(256), too_short(31);
  for (const OSSL_PARAM& wrong : {octets("context-string", too_long), octets("test-entropy", too_short),
                                  number("message-encoding", zero), octets("deterministic", too_short)}) {
    EXPECT_TRUE(sign(message, {wrong}).empty()) << wrong.key;
    EXPECT_NE(errors().find(wrong.key), std::string::npos) << wrong.key;
  }
  EXPECT_TRUE(sign(message, {number("mu", one)}).empty());
  EXPECT_NE(errors().find("mu has 9 bytes, expected 64"), std::string::npos);
  const DigestPtr digest(EVP_MD_CTX_new());
  EXPECT_EQ(
      EVP_DigestSignInit_ex(digest.get(), nullptr, "SHA256", library.get(), "provider=polykem", key.get(), nullptr), 0);
  EXPECT_NE(errors().find("not a digest by SHA256"), std::string::npos);
}

/// EVP_PKEY_sign signs the message itself, and a copy of a context signs like the context.
TEST_P(Signatures, WithoutADigest) {
  const Bytes message = text("a message"), context_string = text("c");
  const ContextPtr context = context_of(library, key.get());
  const OSSL_PARAM params[] = {number("deterministic", one), octets("context-string", context_string),
                               OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_sign_init_ex(context.get(), params), 1) << errors();
  const ContextPtr copy(EVP_PKEY_CTX_dup(context.get()));
  ASSERT_NE(copy, nullptr) << errors();
  Bytes signature(set.info().signature_bytes);
  std::size_t bytes = signature.size() - 1;
  EXPECT_EQ(EVP_PKEY_sign(context.get(), signature.data(), &bytes, message.data(), message.size()), 0) << "no room";
  for (EVP_PKEY_CTX* each : {context.get(), copy.get()}) {
    bytes = signature.size();
    ASSERT_EQ(EVP_PKEY_sign(each, signature.data(), &bytes, message.data(), message.size()), 1) << errors();
    EXPECT_EQ(signature, expected(message, POLYKEM_MESSAGE, context_string));
  }
  const OSSL_PARAM for_verify[] = {octets("context-string", context_string), OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_PKEY_verify_init_ex(context.get(), for_verify), 1) << errors();
  EXPECT_EQ(EVP_PKEY_verify(context.get(), signature.data(), signature.size(), message.data(), message.size()), 1);
}

/// Signs like the program openssl signs files, from OpenSSL 3.0 on.
TEST_P(Signatures, MessagesInParts) {
  const Bytes first(100, 1), second = text("the rest"), message = [&] {
    Bytes all = first;
    all.insert(all.end(), second.begin(), second.end());
    return all;
  }();
  const OSSL_PARAM params[] = {number("deterministic", one), OSSL_PARAM_construct_end()};
  const DigestPtr context(EVP_MD_CTX_new());
  const auto add_parts = [&](auto* add) {
    return add(context.get(), first.data(), first.size()) == 1 && add(context.get(), second.data(), 0) == 1 &&
           add(context.get(), second.data(), second.size()) == 1;
  };
  Bytes signature(set.info().signature_bytes);
  for (int twice = 0; twice < 2; ++twice) {  // nothing of the last message is left
    ASSERT_EQ(
        EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, library.get(), "provider=polykem", key.get(), params), 1)
        << errors();
    ASSERT_TRUE(add_parts(EVP_DigestSignUpdate)) << errors();
    std::size_t bytes = 0;
    ASSERT_EQ(EVP_DigestSignFinal(context.get(), nullptr, &bytes), 1) << errors();
    ASSERT_EQ(bytes, signature.size());
    ASSERT_EQ(EVP_DigestSignFinal(context.get(), signature.data(), &bytes), 1) << errors();
    EXPECT_EQ(signature, expected(message, POLYKEM_MESSAGE));
  }
  for (const int valid : {1, 0}) {
    signature[0] ^= valid == 1 ? 0 : 1;
    ASSERT_EQ(
        EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, library.get(), "provider=polykem", key.get(), nullptr),
        1);
    ASSERT_TRUE(add_parts(EVP_DigestVerifyUpdate)) << errors();
    EXPECT_EQ(EVP_DigestVerifyFinal(context.get(), signature.data(), signature.size()), valid);
  }
}

TEST_P(Signatures, KeysAreImportedWholeAndChecked) {
  const Bytes pub = get(key.get(), "pub"), priv = get(key.get(), "priv"), seed = get(key.get(), "seed");
  ASSERT_EQ(seed.size(), 32U);
  const int pair = EVP_PKEY_KEYPAIR;
  EXPECT_NE(import(library, name, pair, {{"pub", pub}, {"priv", priv}, {"seed", seed}}), nullptr) << errors();
  for (const auto& [part, bytes] : {std::pair("seed", seed), std::pair("priv", priv)}) {
    const KeyPtr other = import(library, name, pair, {{part, bytes}});
    ASSERT_NE(other, nullptr) << part << errors();
    EXPECT_EQ(get(other.get(), "pub"), pub) << "it follows";
    EXPECT_EQ(EVP_PKEY_eq(key.get(), other.get()), 1);
    EXPECT_EQ(EVP_PKEY_pairwise_check(context_of(library, other.get()).get()), 1);
  }
  Bytes wrong = priv;
  wrong.back() ^= 1;
  EXPECT_EQ(import(library, name, pair, {{"priv", wrong}}), nullptr);
  Bytes other_pub = pub;
  other_pub[40] ^= 1;
  EXPECT_EQ(import(library, name, pair, {{"pub", other_pub}, {"priv", priv}}), nullptr);
  Bytes other_seed = seed;
  other_seed[0] ^= 1;
  EXPECT_EQ(import(library, name, pair, {{"seed", other_seed}, {"priv", priv}}), nullptr);
  EXPECT_EQ(import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", Bytes(pub.size() - 1)}}), nullptr);
  const KeyPtr public_only = import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}});
  ASSERT_NE(public_only, nullptr);
  const Bytes message = text("m"), signature = sign(message);
  errors();
  key = import(library, name, EVP_PKEY_PUBLIC_KEY, {{"pub", pub}});
  EXPECT_EQ(verify(message, signature), 1);
  EXPECT_TRUE(sign(message).empty());
  EXPECT_NE(errors().find("no private key"), std::string::npos);
}

TEST_P(Signatures, OpensslsOwnAgrees) {
  if (!openssl_has_mlkem()) GTEST_SKIP() << "this OpenSSL has no ML-DSA";
  const Bytes message = text("a message"), context = text("a context");
  const Params params{number("deterministic", one), octets("context-string", context)};
  const Params for_verify{octets("context-string", context)};
  const Bytes own = sign(message, params), theirs = sign(message, params, "provider=default");
  EXPECT_EQ(own, theirs) << errors();
  EXPECT_EQ(verify(message, theirs, for_verify), 1);
  EXPECT_EQ(verify(message, own, for_verify, "provider=default"), 1);
}

TEST_P(Signatures, AreVerifiedBeforeTheyLeaveIfAskedFor) {
  const Bytes message = text("a message");
  const Library careful("verify_after_sign = on");
  const KeyPtr own = generate(careful, name);
  const auto sign_with_it = [&](Bytes& out) {
    const DigestPtr context(EVP_MD_CTX_new());
    std::size_t bytes = out.size();
    EXPECT_EQ(
        EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, careful.get(), "provider=polykem", own.get(), nullptr),
        1);
    return EVP_DigestSign(context.get(), out.data(), &bytes, message.data(), message.size());
  };
  Bytes signature(set.info().signature_bytes, 1);
  EXPECT_EQ(sign_with_it(signature), 1) << errors();
  polykem_slow_device_forge(true);
  EXPECT_FALSE(sign(message).empty()) << "who does not ask gets a wrong one";
  EXPECT_EQ(sign_with_it(signature), 0);
  polykem_slow_device_forge(false);
  EXPECT_NE(errors().find("the new signature does not verify"), std::string::npos);
  EXPECT_EQ(signature, Bytes(signature.size()));
}

struct Handed {
  DigestPtr context;
  const Bytes* message;
  Bytes* out;
};

int sign_in_job(void* argument) {
  auto& handed = **static_cast<Handed**>(argument);
  std::size_t bytes = handed.out->size();
  return EVP_DigestSign(handed.context.get(), handed.out->data(), &bytes, handed.message->data(),
                        handed.message->size());
}

TEST_P(Signatures, PauseTheirJob) {
  const Bytes message = text("a message");
  Bytes signature(set.info().signature_bytes);
  Handed handed{DigestPtr(EVP_MD_CTX_new()), &message, &signature};
  ASSERT_EQ(EVP_DigestSignInit_ex(handed.context.get(), nullptr, nullptr, library.get(), "provider=polykem", key.get(),
                                  nullptr),
            1);
  ASYNC_WAIT_CTX* const wait = ASYNC_WAIT_CTX_new();
  ASYNC_JOB* job = nullptr;
  Handed* argument = &handed;
  int result = 0;
  polykem_slow_device_hold();
  ASSERT_EQ(ASYNC_start_job(&job, wait, &result, sign_in_job, &argument, sizeof argument), ASYNC_PAUSE);
  polykem_slow_device_release();
  int state = ASYNC_PAUSE;
  while (state == ASYNC_PAUSE) {
    OSSL_ASYNC_FD fd = -1;
    std::size_t count = 1;
    ASYNC_WAIT_CTX_get_all_fds(wait, &fd, &count);
    pollfd ready{fd, POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, 100000), 1) << "nobody woke the job";
    state = ASYNC_start_job(&job, wait, &result, sign_in_job, &argument, sizeof argument);
  }
  polykem_slow_device_set(0);
  EXPECT_EQ(state, ASYNC_FINISH);
  EXPECT_EQ(result, 1) << errors();
  EXPECT_EQ(verify(message, signature), 1);
  ASYNC_WAIT_CTX_free(wait);
}

INSTANTIATE_TEST_SUITE_P(All, Signatures, testing::Values("ML-DSA-44", "ML-DSA-65", "ML-DSA-87"),
                         [](const auto& info) { return identifier(info.param); });

/// The algorithms by their names in TLS, and code points; from TLS 1.3 on, never in DTLS.
TEST(SignatureAlgorithms, LibsslIsTold) {
  const Library library;
  std::vector<std::string> found;
  const auto add = [](const OSSL_PARAM params[], void* out) {
    const char* iana = nullptr;
    const char* oid = nullptr;
    unsigned code_point = 0;
    int min_tls = 0, max_tls = -1, min_dtls = 0, max_dtls = 0;
    EXPECT_TRUE(OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-min-tls"), &min_tls) == 1 &&
                OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-max-tls"), &max_tls) == 1 &&
                OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-min-dtls"), &min_dtls) == 1 &&
                OSSL_PARAM_get_int(OSSL_PARAM_locate_const(params, "tls-max-dtls"), &max_dtls) == 1);
    EXPECT_EQ((std::array{min_tls, max_tls, min_dtls, max_dtls}), (std::array{TLS1_3_VERSION, 0, -1, -1}));
    if (OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, "tls-sigalg-iana-name"), &iana) == 1 &&
        OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, "tls-sigalg-oid"), &oid) == 1 &&
        OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, "tls-sigalg-code-point"), &code_point) == 1)
      static_cast<std::vector<std::string>*>(out)->push_back(std::string(iana) + " " + oid + " " +
                                                             std::to_string(code_point));
    return 1;
  };
  EXPECT_EQ(OSSL_PROVIDER_get_capabilities(library.provider(), "TLS-SIGALG", add, &found), 1);
  const std::vector<std::string> expected{"mldsa44 2.16.840.1.101.3.4.3.17 2308",
                                          "mldsa65 2.16.840.1.101.3.4.3.18 2309",
                                          "mldsa87 2.16.840.1.101.3.4.3.19 2310"};
  EXPECT_EQ(found, expected);
}

struct Handshake {
  const char* properties;
  long mode;
};

class Certificates : public testing::TestWithParam<Handshake> {};

TEST_P(Certificates, OfMldsaInTls) {
  if (!libssl_asks()) GTEST_SKIP() << "this libssl knows no signature algorithms of providers";
  const Library library;
  const auto [properties, mode] = GetParam();
  Pair pair(library.get(), "X25519MLKEM768", "X25519MLKEM768", mode, properties, "ML-DSA-65");
  polykem_slow_device_set(mode == 0 ? 0 : 1000);
  const bool connected = pair.handshake();
  polykem_slow_device_set(0);
  ASSERT_TRUE(connected) << errors();
  EXPECT_GE(pair.pauses, mode == 0 ? 0 : 2) << "the group's operation and the signature";
  const std::unique_ptr<X509, TlsFree> certificate(SSL_get1_peer_certificate(pair.client.get()));
  EXPECT_EQ(EVP_PKEY_is_a(X509_get0_pubkey(certificate.get()), "ML-DSA-65"), 1);
  EXPECT_EQ(X509_verify(certificate.get(), X509_get0_pubkey(certificate.get())), 1) << errors();
}

/// Returns the alert that a client sends, whichever provider verifies.
TEST(Alerts, AWrongSignatureIsADecryptError) {
  if (!libssl_asks()) GTEST_SKIP() << "this libssl knows no signature algorithms of providers";
  const Library library;
  for (const char* properties : {"?provider=polykem", "?provider=default"}) {
    Pair pair(library.get(), "X25519MLKEM768", "X25519MLKEM768", 0, "?provider=polykem", "ML-DSA-65");
    const SslContextPtr verifies(SSL_CTX_new_ex(library.get(), properties, TLS_client_method()));
    SSL_set_SSL_CTX(pair.client.get(), verifies.get());
    pair.client_context.reset();
    static int alert;
    alert = -1;
    SSL_set_info_callback(pair.client.get(), [](const SSL*, int where, int value) {
      if ((where & SSL_CB_WRITE_ALERT) == SSL_CB_WRITE_ALERT) alert = value & 0xFF;
    });
    polykem_slow_device_forge(true);
    EXPECT_FALSE(pair.handshake());
    polykem_slow_device_forge(false);
    EXPECT_EQ(alert, SSL_AD_DECRYPT_ERROR) << properties;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Certificates,
                         testing::Values(Handshake{"?provider=polykem", 0},
                                         Handshake{"?provider=polykem", SSL_MODE_ASYNC},
                                         Handshake{"?provider=default", 0}),
                         [](const auto& info) { return "case" + std::to_string(info.index); });

}  // namespace
}  // namespace polykem::provider::test
