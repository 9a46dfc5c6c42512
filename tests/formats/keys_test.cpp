// SPDX-License-Identifier: Apache-2.0
#include "formats/keys.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "formats/der.hpp"
#include "formats/pem.hpp"
#include "support.hpp"

namespace polykem::formats {
namespace {

const Context& context() {
  static const Context instance(1);
  return instance;
}

std::string example_text(const std::string& name) {
  std::ifstream file(std::string(POLYKEM_TEST_DATA) + "/rfc9935/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The DER of a file with one block.
SecretBytes example(const std::string& name) {
  PemReader reader(PemReader::Style::kStrict);
  std::istringstream lines(example_text(name));
  for (std::string line; std::getline(lines, line);) {
    if (reader.line(line) == PemReader::Event::kEnd) return reader.bytes();
  }
  return {};
}

PrivateKey completed(ByteView der) {
  PrivateKey key = read_private_key(der);
  complete(context().handle(), key);
  return key;
}

SecretBytes seed_of_the_examples() {
  SecretBytes seed(64);
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = static_cast<std::uint8_t>(i);
  return seed;
}

class Rfc9935 : public testing::TestWithParam<const char*> {};

TEST_P(Rfc9935, ExamplesAreReadAndWritten) {
  const std::string title = GetParam();
  const Scheme scheme = Scheme::find(title);
  const KeyPairs pair = context().keygen(scheme, 1, seed_of_the_examples());
  const SecretBytes pub = example(title + ".pub");
  EXPECT_EQ(read_public_key(pub).scheme, scheme);
  EXPECT_EQ(read_public_key(pub).bytes, pair.pk);
  EXPECT_EQ(write_public_key(scheme, pair.pk), pub);
  EXPECT_EQ(key_der_bytes(pub), pub.size());
  const std::pair<const char*, PrivateForm> forms[] = {
      {"seed", PrivateForm::kSeed}, {"expanded", PrivateForm::kExpanded}, {"both", PrivateForm::kBoth}};
  for (const auto& [name, form] : forms) {
    SCOPED_TRACE(name);
    const std::string file = title + '-' + name + ".priv";
    const SecretBytes der = example(file);
    const PrivateKey key = completed(der);
    EXPECT_EQ(key.scheme, scheme);
    EXPECT_EQ(key.form, form);
    EXPECT_EQ(key.seed, form == PrivateForm::kExpanded ? SecretBytes() : seed_of_the_examples());
    EXPECT_EQ(key.expanded, pair.sk);
    EXPECT_EQ(write_private_key(key), der);
    EXPECT_EQ(key_der_bytes(der), der.size());
    SecretBytes pem;
    append_pem(pem, kPrivateKeyLabel, der);
    EXPECT_EQ(text_of(pem), example_text(file));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Rfc9935, testing::Values("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"));

TEST(Keys, ExamplesOfInconsistentKeysAreRefused) {
  for (const int number : {1, 4}) {
    const SecretBytes der = example("bad-ML-KEM-512-" + std::to_string(number) + ".priv");
    expect_refused([&] { completed(der); }, "the seed does not match the expanded private key");
  }
  for (const int number : {2, 3}) {  // a coefficient of s; the hash of the public key
    const SecretBytes der = example("bad-ML-KEM-512-" + std::to_string(number) + ".priv");
    expect_refused([&] { completed(der); }, "the expanded private key is damaged");
  }
}

/// Bytes from hexadecimal text with blanks.
SecretBytes hex(const std::string& text) {
  SecretBytes out;
  std::istringstream in(text);
  for (std::string byte; in >> byte;)
    out.push_back(static_cast<std::uint8_t>(std::stoi(byte, nullptr, 16)));
  return out;
}

SecretBytes joined(std::initializer_list<SecretBytes> parts) {
  SecretBytes out;
  for (const SecretBytes& part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

SecretBytes wrapped(std::uint8_t tag, const SecretBytes& contents) {
  SecretBytes out;
  append_der(out, tag, {contents});
  return out;
}

const SecretBytes kVersion0 = hex("02 01 00"), kVersion1 = hex("02 01 01");
const SecretBytes kOid512 = hex("06 09 60 86 48 01 65 03 04 04 01");
const SecretBytes kAlgorithm = wrapped(der::kSequence, kOid512);

SecretBytes octets(const SecretBytes& contents) {
  return wrapped(der::kOctetString, contents);
}

SecretBytes sequence(std::initializer_list<SecretBytes> parts) {
  return wrapped(der::kSequence, joined(parts));
}

SecretBytes seed_element(std::size_t size = 64) {
  return wrapped(der::context(0), SecretBytes(size, 5));
}

struct Malformed {
  const char* what;
  SecretBytes der;
  const char* words;
};

void expect_all_refused(const std::vector<Malformed>& cases) {
  for (const Malformed& c : cases) {
    SCOPED_TRACE(c.what);
    expect_refused([&] { read_key(c.der); }, c.words);
  }
}

TEST(Keys, MalformedPrivateKeysAreRefused) {
  const SecretBytes seed = octets(seed_element()), null = hex("05 00");
  const SecretBytes expanded = octets(SecretBytes(1632, 1));
  ASSERT_NO_THROW(read_key(sequence({kVersion0, kAlgorithm, seed})));
  expect_all_refused({
      {"nothing", {}, "the key's SEQUENCE is missing"},
      {"trailing byte", joined({sequence({kVersion0, kAlgorithm, seed}), {0}}), "the key goes on after its end"},
      {"empty", sequence({}), "AlgorithmIdentifier is missing"},
      {"version alone", sequence({kVersion0}), "AlgorithmIdentifier is missing"},
      {"version 2", sequence({hex("02 01 02"), kAlgorithm, seed}), "unknown version"},
      {"version -1", sequence({hex("02 01 FF"), kAlgorithm, seed}), "unknown version"},
      {"long version", sequence({hex("02 02 00 00"), kAlgorithm, seed}), "unknown version"},
      {"no version bytes", sequence({hex("02 00"), kAlgorithm, seed}), "unknown version"},
      {"no algorithm", sequence({kVersion0, seed}), "AlgorithmIdentifier is missing or"},
      {"parameters", sequence({kVersion0, sequence({kOid512, null}), seed}), "which has no parameters"},
      {"RSA", sequence({kVersion0, sequence({hex("06 09 2A 86 48 86 F7 0D 01 01 01"), null}), seed}),
       "of algorithm 1.2.840.113549.1.1.1"},
      {"ML-DSA-44", sequence({kVersion0, sequence({hex("06 09 60 86 48 01 65 03 04 03 11")}), seed}),
       "of algorithm 2.16.840.1.101.3.4.3.17"},
      {"no arcs", sequence({kVersion0, sequence({hex("06 00")}), seed}), "of algorithm unreadable"},
      {"no key", sequence({kVersion0, kAlgorithm}), "the private key is missing"},
      {"empty key", sequence({kVersion0, kAlgorithm, octets({})}), "SEQUENCE of both) is missing"},
      {"bare bytes", sequence({kVersion0, kAlgorithm, octets(SecretBytes(65, 1))}), "SEQUENCE of both) is missing"},
      {"explicit seed", sequence({kVersion0, kAlgorithm, octets(wrapped(0xA0, octets(SecretBytes(64, 5))))}),
       "SEQUENCE of both) is missing"},
      {"short seed", sequence({kVersion0, kAlgorithm, octets(seed_element(63))}),
       "the seed has 63 bytes, expected 64 for ML-KEM-512"},
      {"long seed", sequence({kVersion0, kAlgorithm, octets(seed_element(65))}), "the seed has 65 bytes"},
      {"seed and more", sequence({kVersion0, kAlgorithm, octets(joined({seed_element(), null}))}),
       "the private key goes on after its end"},
      {"of ML-KEM-768", sequence({kVersion0, kAlgorithm, octets(octets(SecretBytes(2400, 1)))}), "has 2400 bytes"},
      {"seed in both alone", sequence({kVersion0, kAlgorithm, octets(sequence({octets(SecretBytes(64, 1))}))}),
       "the expanded key is missing"},
      {"both in the other order",
       sequence({kVersion0, kAlgorithm, octets(sequence({expanded, octets(SecretBytes(64, 1))}))}),
       "the seed has 1632 bytes"},
      {"both and more",
       sequence({kVersion0, kAlgorithm, octets(sequence({octets(SecretBytes(64, 1)), expanded, null}))}),
       "SEQUENCE of seed and expanded key goes on"},
      {"public key in version 0",
       sequence({kVersion0, kAlgorithm, seed, wrapped(der::context(1), SecretBytes(801, 0))}),
       "OneAsymmetricKey goes on after its end"},
      {"attributes after the public key",
       sequence({kVersion1, kAlgorithm, seed, wrapped(der::context(1), SecretBytes(801, 0)), hex("A0 00")}),
       "OneAsymmetricKey goes on after its end"},
  });
}

TEST(Keys, MalformedPublicKeysAreRefused) {
  const auto bits = [](std::size_t size, std::uint8_t unused = 0) {
    SecretBytes contents(size + 1, 3);
    contents[0] = unused;
    return wrapped(der::kBitString, contents);
  };
  ASSERT_NO_THROW(read_key(sequence({kAlgorithm, bits(800)})));
  expect_all_refused({
      {"trailing byte", joined({sequence({kAlgorithm, bits(800)}), {0}}), "the key goes on after its end"},
      {"no key", sequence({kAlgorithm}), "the public key is missing"},
      {"no bits", sequence({kAlgorithm, wrapped(der::kBitString, {})}), "unused bits"},
      {"unused bits", sequence({kAlgorithm, bits(800, 1)}), "unused bits"},
      {"short", sequence({kAlgorithm, bits(799)}), "the public key has 799 bytes, expected 800 for ML-KEM-512"},
      {"of ML-KEM-768", sequence({kAlgorithm, bits(1184)}),
       "the public key has 1184 bytes, expected 800 for ML-KEM-512"},
      {"more", sequence({kAlgorithm, bits(800), hex("05 00")}), "SubjectPublicKeyInfo goes on"},
      {"parameters", sequence({sequence({kOid512, hex("05 00")}), bits(800)}), "which has no parameters"},
      {"constructed bits", sequence({kAlgorithm, wrapped(0x23, bits(800))}), "the public key is missing or"},
  });
}

TEST(Keys, SeedsAndExpandedKeysWithoutATagAreRead) {  // as programs older than RFC 9935 wrote them
  const KeyPairs pair = context().keygen(Scheme::find("mlkem512"), 1, seed_of_the_examples());
  const PrivateKey seed = completed(sequence({kVersion0, kAlgorithm, octets(seed_of_the_examples())}));
  EXPECT_EQ(seed.form, PrivateForm::kSeed);
  EXPECT_EQ(seed.expanded, pair.sk);
  const PrivateKey expanded = completed(sequence({kVersion0, kAlgorithm, octets(pair.sk)}));
  EXPECT_EQ(expanded.form, PrivateForm::kExpanded);
  EXPECT_EQ(expanded.expanded, pair.sk);
  SecretBytes damaged = pair.sk;
  damaged[5] ^= 1;
  expect_refused([&] { completed(sequence({kVersion0, kAlgorithm, octets(damaged)})); }, "is damaged");
}

TEST(Keys, EncryptedKeysAreRecognised) {
  const SecretBytes pbes2 = hex("30 0B 06 09 2A 86 48 86 F7 0D 01 05 0D");
  const SecretBytes der = sequence({pbes2, octets(SecretBytes(100, 9))});
  expect_refused([&] { read_key(der); }, "the private key is encrypted");
  EXPECT_TRUE(is_encrypted_key(der));
  EXPECT_FALSE(is_encrypted_key(example("ML-KEM-512.pub")));
  EXPECT_FALSE(is_encrypted_key(example("ML-KEM-512-seed.priv")));
  EXPECT_FALSE(is_encrypted_key(hex("30 00")));
  EXPECT_EQ(key_der_bytes(der), der.size());
}

TEST(Keys, TheOtherKindIsRefused) {
  expect_refused([] { read_public_key(example("ML-KEM-512-seed.priv")); }, "a private key, expected a public key");
  expect_refused([] { read_private_key(example("ML-KEM-512.pub")); }, "a public key, expected a private key");
}

TEST(Keys, APublicKeyBesideThePrivateKeyMustFit) {
  const Bytes pk = read_public_key(example("ML-KEM-512.pub")).bytes;
  SecretBytes bits(1, 0);
  bits.insert(bits.end(), pk.begin(), pk.end());
  const SecretBytes seed = octets(wrapped(der::context(0), seed_of_the_examples()));
  const SecretBytes attributes = hex("A0 03 31 01 00");
  const auto key = [&] { return sequence({kVersion1, kAlgorithm, seed, attributes, wrapped(der::context(1), bits)}); };
  EXPECT_EQ(completed(key()).public_key, pk);
  bits.back() ^= 1;
  expect_refused([&] { completed(key()); }, "the public key does not match the private key");
  bits.pop_back();
  expect_refused([&] { completed(key()); }, "the public key has 799 bytes");
}

/// Only the version and the last byte of the identifier have other values that are right.
TEST(Keys, EveryCutAndEveryChangedHeaderIsRefused) {
  constexpr std::size_t kVersionPlace = 4, kSetPlace = 17;
  const SecretBytes der = example("ML-KEM-512-seed.priv");
  for (std::size_t size = 0; size < der.size(); ++size) {
    EXPECT_THROW(read_key(ByteView(der.data(), size)), FormatError) << size;
  }
  for (std::size_t place = 0; place < der.size() - 64; ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      SecretBytes other = der;
      other[place] = static_cast<std::uint8_t>(value);
      if (other == der || (place == kVersionPlace && value == 1)) continue;
      if (place == kSetPlace && (value == 2 || value == 3)) continue;
      EXPECT_THROW(read_key(other), FormatError) << place << ' ' << value;
    }
  }
}

TEST(Keys, OnlySetsWithAnIdentifierHaveTheseForms) {
  std::vector<std::string> names;
  for (const Scheme& scheme : Scheme::all()) {
    if (has_key_format(scheme)) names.emplace_back(scheme.name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"mlkem512", "mlkem768", "mlkem1024"}));
  const Scheme other = Scheme::find("kyber512");
  expect_refused([&] { write_public_key(other, Bytes(other.public_key_bytes())); }, "no object identifier");
}

TEST(Keys, TheSetIsKnownBeforeTheKeyIsRead) {
  EXPECT_EQ(scheme_in(example("ML-KEM-768.pub")), Scheme::find("mlkem768"));
  EXPECT_EQ(scheme_in(example("ML-KEM-1024-seed.priv")), Scheme::find("mlkem1024"));
  EXPECT_EQ(scheme_in(sequence({kVersion0, kAlgorithm})), Scheme::find("mlkem512"));
  EXPECT_EQ(scheme_in(sequence({sequence({hex("06 03 2B 65 6E")})})), std::nullopt);
  EXPECT_EQ(scheme_in(hex("30 00")), std::nullopt);
  EXPECT_EQ(scheme_in({}), std::nullopt);
}

TEST(Keys, ACertificatesKeyIsFound) {
  const SecretBytes pub = example("ML-KEM-512.pub"), something = sequence({hex("05 00")});
  const SecretBytes version = hex("A0 03 02 01 02"), serial = hex("02 01 07");
  const auto certificate = [&](const SecretBytes& key) {
    return sequence({sequence({version, serial, something, something, something, something, key, hex("A3 00")}),
                     something, hex("03 01 00")});
  };
  const SecretBytes der = certificate(pub);
  EXPECT_EQ(public_key_in_certificate(der), pub);
  EXPECT_EQ(certificate_der_bytes(der), der.size());
  EXPECT_EQ(certificate_der_bytes(ByteView(der.data(), 20)), der.size());
  EXPECT_FALSE(key_der_bytes(der));
  for (const SecretBytes& other : {pub, example("ML-KEM-512-seed.priv"), hex("30 00"), SecretBytes()})
    EXPECT_FALSE(certificate_der_bytes(other));
  const SecretBytes first = sequence({sequence({serial, something, something, something, something, pub}), something});
  EXPECT_EQ(public_key_in_certificate(first), pub);  // version 1, which does not say so
  EXPECT_EQ(certificate_der_bytes(first), first.size());
  const SecretBytes rsa = sequence({sequence({hex("06 09 2A 86 48 86 F7 0D 01 01 01"), hex("05 00")})});
  EXPECT_EQ(public_key_in_certificate(certificate(rsa)), rsa);
  EXPECT_EQ(algorithm_of(rsa), "1.2.840.113549.1.1.1 (RSA)");
  for (std::size_t size = 0; size < der.size(); ++size)
    EXPECT_THROW(public_key_in_certificate(ByteView(der.data(), size)), FormatError) << size;
  expect_refused(
      [&] {
        public_key_in_certificate(sequence({sequence({version, serial, something})}));
      },
      "the issuer is missing");
}

TEST(Keys, WhatLooksLikeAKeyInDer) {
  EXPECT_FALSE(key_der_bytes(hex("")));
  EXPECT_FALSE(key_der_bytes(hex("30")));
  EXPECT_FALSE(key_der_bytes(hex("30 80 02 01 00 30 0B 06 09")));
  EXPECT_FALSE(key_der_bytes(SecretBytes(100, 0x30)));
  EXPECT_FALSE(key_der_bytes(bytes_of("0123456789")));
  EXPECT_EQ(key_der_bytes(hex("30 2E 02 01 00 30 05 06 03 2B 65 6E")), 48U);  // X25519, cut off
}

}  // namespace
}  // namespace polykem::formats
