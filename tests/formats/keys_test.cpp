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

bool signs(const std::string& name) {
  return name.find("ML-DSA") != std::string::npos;
}

/// By title.
Scheme set_of(const std::string& title) {
  return signs(title) ? Scheme::find_signature(title) : Scheme::find(title);
}

std::string example_text(const std::string& name) {
  std::ifstream file(std::string(POLYKEM_TEST_DATA) + (signs(name) ? "/rfc9881/" : "/rfc9935/") + name);
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

SecretBytes seed_of_the_examples(std::size_t size = 64) {
  SecretBytes seed(size);
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = static_cast<std::uint8_t>(i);
  return seed;
}

/// The examples of RFC 9935 and RFC 9881.
class Examples : public testing::TestWithParam<const char*> {};

TEST_P(Examples, AreReadAndWritten) {
  const std::string title = GetParam();
  const Scheme scheme = set_of(title);
  const SecretBytes seed = seed_of_the_examples(scheme.info().secret_seed_bytes);
  const KeyPairs pair = context().keygen(scheme, 1, seed);
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
    EXPECT_EQ(key.seed, form == PrivateForm::kExpanded ? SecretBytes() : seed);
    EXPECT_EQ(key.expanded, pair.sk);
    EXPECT_EQ(key.public_key, pair.pk);
    EXPECT_EQ(write_private_key(key), der);
    EXPECT_EQ(key_der_bytes(der), der.size());
    SecretBytes pem;
    append_pem(pem, kPrivateKeyLabel, der);
    EXPECT_EQ(text_of(pem), example_text(file));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Examples,
                         testing::Values("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024", "ML-DSA-44", "ML-DSA-65",
                                         "ML-DSA-87"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Keys, ExamplesOfInconsistentKeysAreRefused) {
  for (const int number : {1, 4}) {
    const SecretBytes der = example("bad-ML-KEM-512-" + std::to_string(number) + ".priv");
    expect_refused([&] { completed(der); }, "the seed does not match the expanded private key");
  }
  for (const int number : {2, 3}) {  // a coefficient of s; the hash of the public key
    const SecretBytes der = example("bad-ML-KEM-512-" + std::to_string(number) + ".priv");
    expect_refused([&] { completed(der); }, "the expanded private key is damaged");
  }
  expect_refused([] { completed(example("bad-ML-DSA-44-1.priv")); }, "the seed does not match the expanded");
  for (const int number : {2, 3})  // tr; t0
    expect_refused([&] { completed(example("bad-ML-DSA-44-" + std::to_string(number) + ".priv")); },
                   "the expanded private key is damaged");
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
      {"SLH-DSA", sequence({kVersion0, sequence({hex("06 09 60 86 48 01 65 03 04 03 14")}), seed}),
       "of algorithm 2.16.840.1.101.3.4.3.20"},
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

TEST(Keys, SeedsAndExpandedKeysWithoutATagAreRead) {  // as in programs older than RFC 9935
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

const SecretBytes kAlgorithmDsa44 = sequence({hex("06 09 60 86 48 01 65 03 04 03 11")});

SecretBytes private_dsa44(const SecretBytes& inside) {
  return sequence({kVersion0, kAlgorithmDsa44, octets(inside)});
}

TEST(Keys, MalformedKeysOfMldsaAreRefused) {
  const SecretBytes null = hex("05 00"), seed = octets(SecretBytes(32, 5)), expanded = octets(SecretBytes(2560, 1));
  const SecretBytes with_null = sequence({hex("06 09 60 86 48 01 65 03 04 03 11"), null});
  const auto bits = [](std::size_t size) { return wrapped(der::kBitString, SecretBytes(size + 1, 0)); };
  ASSERT_NO_THROW(read_key(private_dsa44(seed_element(32))));
  ASSERT_NO_THROW(read_key(private_dsa44(sequence({seed, expanded}))));
  ASSERT_NO_THROW(read_key(sequence({kAlgorithmDsa44, bits(1312)})));
  expect_all_refused({
      {"parameters", sequence({kVersion0, with_null, octets(seed_element(32))}), "which has no parameters"},
      {"parameters of a public key", sequence({with_null, bits(1312)}), "which has no parameters"},
      {"trailing byte", joined({private_dsa44(seed_element(32)), {0}}), "the key goes on after its end"},
      {"short seed", private_dsa44(seed_element(31)), "the seed has 31 bytes, expected 32 for ML-DSA-44"},
      {"seed of ML-KEM", private_dsa44(seed_element(64)), "the seed has 64 bytes, expected 32"},
      {"seed and more", private_dsa44(joined({seed_element(32), null})), "the private key goes on after its end"},
      {"of ML-DSA-65", private_dsa44(octets(SecretBytes(4032, 1))), "has 4032 bytes, expected 2560 for ML-DSA-44"},
      {"both in the other order", private_dsa44(sequence({expanded, seed})), "the seed has 2560 bytes"},
      {"both and more", private_dsa44(sequence({seed, expanded, null})), "SEQUENCE of seed and expanded key goes on"},
      {"secret and public key", private_dsa44(octets(SecretBytes(2560 + 1312, 1))), "has 3872 bytes, expected 2560"},
      {"short public key", sequence({kAlgorithmDsa44, bits(1311)}), "has 1311 bytes, expected 1312 for ML-DSA-44"},
      {"public key of ML-DSA-65", sequence({kAlgorithmDsa44, bits(1952)}), "has 1952 bytes, expected 1312"},
  });
}

TEST(Keys, DamagedKeysOfMldsaAreRefused) {
  constexpr std::size_t kS1 = 128, kS2 = 512, kT0 = 896;
  const SecretBytes right = read_private_key(example("ML-DSA-44-expanded.priv")).expanded;
  // K, between rho and tr, is random, so it cannot be checked.
  for (const std::size_t place :
       {std::size_t{0}, std::size_t{64}, std::size_t{127}, kS1, kS2 - 1, kS2, kT0, right.size() - 1}) {
    SecretBytes damaged = right;
    damaged[place] ^= 1;
    expect_refused([&] { completed(private_dsa44(octets(damaged))); }, "the expanded private key is damaged");
  }
  // A coefficient of s2 becomes -5, and that of t0 changes as much, so that t1, tr and t0 are consistent.
  SecretBytes large = right;
  const int field = large[kS2] & 7;
  large[kS2] |= 7;
  const int t0 = (large[kT0] | (large[kT0 + 1] & 0x1F) << 8) + 7 - field;
  ASSERT_LT(t0, 1 << 13);
  large[kT0] = static_cast<std::uint8_t>(t0);
  large[kT0 + 1] = static_cast<std::uint8_t>((large[kT0 + 1] & 0xE0) | t0 >> 8);
  expect_refused([&] { completed(private_dsa44(octets(large))); }, "the expanded private key is damaged");
  const SecretBytes seed = octets(seed_of_the_examples(32));
  EXPECT_NO_THROW(completed(private_dsa44(sequence({seed, octets(right)}))));
  expect_refused([&] { completed(private_dsa44(sequence({seed, octets(large)}))); }, "the seed does not match");
}

TEST(Keys, OnlyKeysOfTheWantedUseAreRead) {
  const SecretBytes dsa = example("ML-DSA-65.pub"), kem = example("ML-KEM-768.pub");
  EXPECT_EQ(read_key(dsa, KeyUse::kSignature).index(), 0U);
  EXPECT_EQ(read_key(kem, KeyUse::kKem).index(), 0U);
  expect_refused([&] { read_key(dsa, KeyUse::kKem); }, "of algorithm 2.16.840.1.101.3.4.3.18 (ML-DSA-65)");
  expect_refused([&] { read_public_key(kem, KeyUse::kSignature); }, "of algorithm 2.16.840.1.101.3.4.4.2");
  EXPECT_EQ(scheme_in(dsa), Scheme::find_signature("mldsa65"));
  EXPECT_EQ(scheme_in(dsa, KeyUse::kKem), std::nullopt);
  EXPECT_EQ(scheme_in(kem, KeyUse::kSignature), std::nullopt);
}

struct FrodoSet {
  const char* name;
  const char* identifier;
  std::uint8_t number;
};

void PrintTo(const FrodoSet& set, std::ostream* out) {
  *out << set.name;
}

/// FrodoKEM's keys, whose private form is one OCTET STRING. One backend is enough for the key pairs.
class FrodoKeys : public testing::TestWithParam<FrodoSet> {
 protected:
  Scheme scheme() const { return Scheme::find(GetParam().name); }
  SecretBytes algorithm() const {
    SecretBytes oid = hex("06 08 28 81 8C 71 02 02 07");
    oid.push_back(GetParam().number);
    return sequence({oid});
  }
};

TEST_P(FrodoKeys, AreWrittenAndRead) {
  const KeyPairs pair = context().keygen(scheme(), 1, SecretBytes());
  EXPECT_EQ(object_identifier(scheme()), "1.0.18033.2.2.7." + std::to_string(GetParam().number));
  EXPECT_STREQ(identifier_name(scheme()), GetParam().identifier);
  const SecretBytes pub = write_public_key(scheme(), pair.pk);
  EXPECT_EQ(pub, sequence({algorithm(), wrapped(der::kBitString, joined({{0}, {pair.pk.begin(), pair.pk.end()}}))}));
  EXPECT_EQ(read_public_key(pub).scheme, scheme());
  EXPECT_EQ(read_public_key(pub).bytes, pair.pk);
  const SecretBytes priv = write_private_key({scheme(), PrivateForm::kExpanded, {}, pair.sk, {}});
  EXPECT_EQ(priv, sequence({kVersion0, algorithm(), octets(octets(pair.sk))}));
  for (const SecretBytes& der : {priv, sequence({kVersion0, algorithm(), octets(pair.sk)})}) {
    const PrivateKey key = completed(der);
    EXPECT_EQ(key.scheme, scheme());
    EXPECT_EQ(key.form, PrivateForm::kExpanded);
    EXPECT_EQ(key.expanded, pair.sk);
    EXPECT_EQ(scheme_in(der), scheme());
    EXPECT_EQ(key_der_bytes(der), der.size());
    EXPECT_EQ(key_der_bytes(ByteView(der.data(), 30)), der.size());
  }
}

TEST_P(FrodoKeys, DamagedKeysAreRefused) {
  const KeyPairs pair = context().keygen(scheme(), 1, SecretBytes());
  const std::size_t public_at = scheme().info().public_key_at;
  const std::size_t s_at = public_at + scheme().public_key_bytes(), hash_at = pair.sk.size() - 1;
  for (const std::size_t place : {public_at, public_at + 16, s_at, s_at + 101, hash_at}) {
    SecretBytes damaged = pair.sk;
    damaged[place] ^= 1;
    const SecretBytes der = sequence({kVersion0, algorithm(), octets(octets(damaged))});
    expect_refused([&] { completed(der); }, "the expanded private key is damaged");
  }
  Bytes other = pair.pk;
  other[20] ^= 1;
  const SecretBytes bits = joined({{0}, {other.begin(), other.end()}});
  const SecretBytes both = sequence({kVersion1, algorithm(), octets(octets(pair.sk)), wrapped(der::context(1), bits)});
  expect_refused([&] { completed(both); }, "the public key does not match the private key");
}

TEST_P(FrodoKeys, OtherStructuresAreRefused) {
  const std::size_t size = scheme().secret_key_bytes(), public_size = scheme().public_key_bytes();
  const SecretBytes null = hex("05 00"), bytes(size, 1);
  const auto key = [&](const SecretBytes& inside) { return sequence({kVersion0, algorithm(), octets(inside)}); };
  const auto bits = [](std::size_t n) { return wrapped(der::kBitString, SecretBytes(n + 1, 0)); };
  ASSERT_NO_THROW(read_key(key(octets(bytes))));
  const SecretBytes with_null = sequence({joined({hex("06 08 28 81 8C 71 02 02 07 01"), null})});
  expect_all_refused({
      {"parameters", sequence({kVersion0, with_null, octets(octets(bytes))}), "which has no parameters"},
      {"parameters of a public key", sequence({with_null, bits(public_size)}), "which has no parameters"},
      {"empty", key({}), "the expanded key is missing"},
      {"short", key(octets(SecretBytes(size - 1))), "the expanded private key has"},
      {"long", key(octets(SecretBytes(size + 1))), "the expanded private key has"},
      {"short and bare", key(SecretBytes(size - 1, 1)), "the expanded key is missing"},
      {"a seed", key(seed_element()), "the expanded key is missing"},
      {"64 bare bytes", key(SecretBytes(64, 1)), "the expanded key is missing"},
      {"both", key(sequence({octets(SecretBytes(64, 1)), octets(bytes)})), "the expanded key is missing"},
      {"three times", key(octets(octets(bytes))), "the expanded private key has"},
      {"and more", key(joined({octets(bytes), null})), "the private key goes on after its end"},
      {"a public key that is short", sequence({algorithm(), bits(public_size - 1)}), "the public key has"},
      {"a public key that is long", sequence({algorithm(), bits(public_size + 1)}), "the public key has"},
  });
  for (const PrivateForm form : {PrivateForm::kSeed, PrivateForm::kBoth})
    expect_refused([&] { write_private_key({scheme(), form, SecretBytes(64), bytes, {}}); }, "no form as a seed");
}

INSTANTIATE_TEST_SUITE_P(Formats, FrodoKeys,
                         testing::Values(FrodoSet{"frodokem976shake", "id-kem-frodokem976-shake", 1},
                                         FrodoSet{"frodokem1344shake", "id-kem-frodokem1344-shake", 2},
                                         FrodoSet{"efrodokem976shake", "id-kem-efrodokem976-shake", 3},
                                         FrodoSet{"efrodokem1344shake", "id-kem-efrodokem1344-shake", 4},
                                         FrodoSet{"frodokem976aes", "id-kem-frodokem976-aes", 5},
                                         FrodoSet{"frodokem1344aes", "id-kem-frodokem1344-aes", 6},
                                         FrodoSet{"efrodokem976aes", "id-kem-efrodokem976-aes", 7},
                                         FrodoSet{"efrodokem1344aes", "id-kem-efrodokem1344-aes", 8}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Keys, OtherArcsThanFrodoKemsAreRefused) {
  const SecretBytes inside = octets(octets(SecretBytes(31296, 1)));
  const std::pair<const char*, const char*> others[] = {
      {"06 08 28 81 8C 71 02 02 07 00", "1.0.18033.2.2.7.0"},
      {"06 08 28 81 8C 71 02 02 07 09", "1.0.18033.2.2.7.9"},
      {"06 07 28 81 8C 71 02 02 07", "1.0.18033.2.2.7"},
      {"06 09 28 81 8C 71 02 02 07 01 01", "1.0.18033.2.2.7.1.1"},
      {"06 08 28 81 8C 71 02 02 06 01", "1.0.18033.2.2.6.1"},  // Classic McEliece
      {"06 0B 2B 06 01 04 01 81 C5 2A 01 0E 02", "1.3.6.1.4.1.25258.1.14.2"},
  };
  for (const auto& [oid, dots] : others)
    expect_refused(
        [&, oid = oid] {
          read_key(sequence({kVersion0, sequence({hex(oid)}), inside}));
        },
        std::string("of algorithm ") + dots);
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

void expect_every_cut_refused(const SecretBytes& der) {
  for (std::size_t size = 0; size < der.size(); size += size < 64 ? 1 : 997)
    EXPECT_THROW(read_key(ByteView(der.data(), size)), FormatError) << size;
  EXPECT_THROW(read_key(ByteView(der.data(), der.size() - 1)), FormatError);
}

/// Only the version, and the identifier's last byte between sets of one size, have other valid values.
TEST(Keys, EveryCutAndEveryChangedHeaderOfFrodoKemIsRefused) {
  constexpr std::size_t kPrivateBytes = 31296, kPublicBytes = 15632;
  const Scheme scheme = Scheme::find("frodokem976shake");
  const SecretBytes sk(kPrivateBytes, 1);
  const SecretBytes priv = write_private_key({scheme, PrivateForm::kExpanded, {}, sk, {}});
  const SecretBytes pub = write_public_key(scheme, Bytes(kPublicBytes, 1));
  for (const bool is_private : {true, false}) {
    SecretBytes der = is_private ? priv : pub;
    expect_every_cut_refused(der);
    const std::size_t headers = der.size() - (is_private ? kPrivateBytes : kPublicBytes);
    const std::size_t set_place = is_private ? 18 : 15;
    for (std::size_t place = 0; place < headers; ++place) {
      const std::uint8_t right = der[place];
      for (unsigned value = 0; value < 256; ++value) {
        if (value == right || (is_private && place == 6 && value == 1)) continue;
        if (place == set_place && (value == 3 || value == 5 || value == 7)) continue;
        der[place] = static_cast<std::uint8_t>(value);
        EXPECT_THROW(read_key(der), FormatError) << place << ' ' << value;
      }
      der[place] = right;
    }
  }
}

TEST(Keys, HostileLengthsAreRefused) {
  for (const char* begin : {"30 84 FF FF FF FF 30 0A 06 08 28 81 8C 71 02 02 07 01",
                            "30 84 80 00 00 00 02 01 00 30 0A 06 08 28 81 8C 71 02 02 07 01 04 84 7F FF FF EA",
                            "30 82 00 20 02 01 00 30 0A 06 08 28 81 8C 71 02 02 07 01 04 84 FF FF FF FF",
                            "30 1D 02 01 00 30 0A 06 08 28 81 8C 71 02 02 07 01 04 0C 04 84 FF FF FF FF 01 02 03",
                            "30 88 FF FF FF FF FF FF FF FF 30 0A 06 08 28 81 8C 71 02 02 07 01"})
    EXPECT_THROW(read_key(hex(begin)), FormatError) << begin;
}

/// Only the version and the last byte of the identifier have other valid values.
void expect_changed_headers_refused(const SecretBytes& der, std::size_t seed_bytes,
                                    const std::vector<unsigned>& sets_of_one_size) {
  constexpr std::size_t kVersionPlace = 4, kSetPlace = 17;
  for (std::size_t size = 0; size < der.size(); ++size) {
    EXPECT_THROW(read_key(ByteView(der.data(), size)), FormatError) << size;
  }
  for (std::size_t place = 0; place < der.size() - seed_bytes; ++place) {
    for (unsigned value = 0; value < 256; ++value) {
      SecretBytes other = der;
      other[place] = static_cast<std::uint8_t>(value);
      if (other == der || (place == kVersionPlace && value == 1)) continue;
      if (place == kSetPlace && std::ranges::count(sets_of_one_size, value) != 0) continue;
      EXPECT_THROW(read_key(other), FormatError) << place << ' ' << value;
    }
  }
}

TEST(Keys, EveryCutAndEveryChangedHeaderIsRefused) {
  expect_changed_headers_refused(example("ML-KEM-512-seed.priv"), 64, {1, 2, 3});
  expect_changed_headers_refused(example("ML-DSA-44-seed.priv"), 32, {17, 18, 19});
}

TEST(Keys, OnlySetsWithAnIdentifierHaveTheseForms) {
  std::vector<std::string> names;
  for (const Scheme& scheme : Scheme::all()) {
    if (has_key_format(scheme)) names.emplace_back(scheme.name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"mlkem512", "mlkem768", "mlkem1024", "frodokem976aes", "frodokem976shake",
                                             "frodokem1344aes", "frodokem1344shake", "efrodokem976aes",
                                             "efrodokem976shake", "efrodokem1344aes", "efrodokem1344shake"}));
  for (const Scheme& scheme : Scheme::all_signatures())
    EXPECT_TRUE(has_key_format(scheme)) << scheme.name();
  EXPECT_EQ(object_identifier(Scheme::find_signature("mldsa87")), "2.16.840.1.101.3.4.3.19");
  EXPECT_STREQ(identifier_name(Scheme::find_signature("mldsa87")), "id-ml-dsa-87");
  for (const char* name : {"kyber512", "frodokem640shake", "efrodokem640aes", "ntruhrss701", "saber", "lac128"}) {
    const Scheme other = Scheme::find(name);
    expect_refused([&] { write_public_key(other, Bytes(other.public_key_bytes())); }, "no object identifier");
  }
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
  EXPECT_EQ(public_key_in_certificate(first), pub);  // version 1, which is not stated
  EXPECT_EQ(certificate_der_bytes(first), first.size());
  const SecretBytes rsa = sequence({sequence({hex("06 09 2A 86 48 86 F7 0D 01 01 01"), hex("05 00")})});
  EXPECT_EQ(public_key_in_certificate(certificate(rsa)), rsa);
  EXPECT_EQ(algorithm_of(rsa), "1.2.840.113549.1.1.1 (RSA)");
  EXPECT_EQ(public_key_in_certificate(example("ML-DSA-65.crt")), example("ML-DSA-65.pub"));
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
