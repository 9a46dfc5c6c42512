// SPDX-License-Identifier: Apache-2.0
#include "doctor/self_test.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "kat/coins.hpp"
#include "kat/json_fields.hpp"

namespace polykem::cli {
namespace {

constexpr std::size_t kItems = 4;

/// The seed of count 0 in every file that NIST's KAT program makes.
constexpr std::string_view kSeedOfCountZero =
    "061550234D158C5EC95595FE04EF7A25767F2E24CC2BC479D09D86DC9ABCFDE7056A8C266F9EF97ED08541DBD2E1FFA1";

/// The byte that the key's seed consists of, and the message, of test 1 in Wycheproof's files of ML-DSA.
constexpr std::uint8_t kSeedOfTestOne = 0x2A;
constexpr std::string_view kMessageOfTestOne = "Hello world";

/// Digests of published answers, not of this program's own output. A test recomputes them from the files.
constexpr std::array<std::pair<std::string_view, std::string_view>, 42> kDigests = {{
    {"ntruhps2048509", "7fe60a9fa778d6e32ae7ec54ade0794aa273f58fb71d5bb10243d28bc6ad6bc1"},
    {"ntruhps2048677", "1291049ca672e721d3b04306c44a48d791f0d61e2cbdcaf9ee9cee3f8e9a66e6"},
    {"ntruhps4096821", "d4bc85be19cd9f791eb44a1b3e8023eb3ded4c5b3a52df9fc5947c5371a25434"},
    {"ntruhrss701", "6b142f2c11433247665c3ba366f0a50f0b68b601111f675d84c3cd8ae2a3c844"},
    {"ntruhps40961229", "59a583ad469e0b2d228cbb2b3378dec379231d3809ccbdeff69ee767a0dc560d"},
    {"ntruhrss1373", "e814dd15511e597fb7db6f8896f079c642da663c041aa80694aeb9bf315faf5a"},
    {"mlkem512", "6e175e8c8a125c6eae7e8cf7d39f8dbe5e1f4b040086d9edbbc5ebf0e15292d9"},
    {"mlkem768", "7849f50ecf6b176e548bf008157897a1ba5056278f59b483e4bd43b073fd67c0"},
    {"mlkem1024", "f9729243d58938f3eda727a2ed3cf79689669162d196bbf5003c39082ac2c244"},
    {"kyber512", "4e053ac7a8feccbcdb3be6f779fc2c88243c178be7457a2be9249e70482be1ab"},
    {"kyber768", "c0869d8877839ffe09169ab0a137d0da462e0c66b5477f20e56096def2000f26"},
    {"kyber1024", "27d40d04ce68d79328fdb3292b39109cdf4b09e1f1fdb7103b61861b9df4a4ab"},
    {"frodokem640aes", "a45cdfc26b59290b4947ce498f85debecea854fb5c11ec54abb1dc4099c1a31e"},
    {"frodokem640shake", "62a32d3539a58749ed576159ea02191d0aa886981e6b1b70c901efbbc1ffaf34"},
    {"frodokem976aes", "1588f06fd92e98b2c08a576efa953eb165edce429ae27ad5d97b64d730752da8"},
    {"frodokem976shake", "d217332620a73d5a5b665bbf1a52fc8bc9fa10a0c8b413847d2edf6087e11f66"},
    {"frodokem1344aes", "0c880fac257df9bb999ff3e0d136081f8165a0fbd78529bc5a2a33f0168eb93d"},
    {"frodokem1344shake", "9c5823d200311b1393b2ec7dd65bf5de5f43a618464451e08e5d6f315451bcf1"},
    {"efrodokem640aes", "bf2dcd01196fab17cf9af537d95b9ca38d1085b7379c405df6554d4c85f994e8"},
    {"efrodokem640shake", "1adae13b8fffb6ca92fdbcb4603479f4b3a3c8886947e720dec9ae8a03d518ac"},
    {"efrodokem976aes", "7042b8c5e7e180530f3dcac59677c2fd252c0152a3032963b4225029814590be"},
    {"efrodokem976shake", "ee7830b1747c3c6f895fb02168ea8aabfaa9445de7996535ef35212babbbc048"},
    {"efrodokem1344aes", "eebdb5a312004f93d7fd7b690725fefcf14e3726a0e0d18e2147210aef6553b6"},
    {"efrodokem1344shake", "de68705b26d990da09ea073e7bcebf2a2e9c3a5736641094c2041844260cdb8f"},
    {"lightsaber", "2d0a23e32f0d3f96a3b4b039b28552eeff006ca629be35e135ad59ef59cc6c31"},
    {"saber", "c525d5278a1a73c3a82f2e50bc1aabd05cc0c2a53835389ce1ad495375c0d02c"},
    {"firesaber", "64bd13268095c28a610a6414fa7fefb06c4a3d118f27a08c3fd80b6f9507823c"},
    {"lac128", "cdb74386928aec11d84651fb03c3c9cbf20673b4cb4aa03e701d5cae2cccbaf1"},
    {"lac192", "c6431184c843cec31b6b1b273e511d17ec08ed344f8aeb895fdb2aaac7cfbbc1"},
    {"lac256", "a6ae2f23c81ac08632b180c16b860ed036db63262bd1401f39cd563c111d2641"},
    {"lac128_r2_ctrfix", "8d099e68712eda67f9e331c01f4045b4b9b0e55fd523f55351feec1d7f6e95f7"},
    {"lac192_r2_ctrfix", "6fcbbcc96b96199210679b86bb1ee66eb29cdac4dbf7ea886a5efe95d58e0248"},
    {"lac256_r2_ctrfix", "b80c55f82c64b0cddad5bc0995789e7ce2bd9b546191db0f6d0b6ef6813aa49b"},
    {"x25519mlkem768", "29314ed5a682800a282c500193e813488c6e071c3f993e1baf644c58e3e6e3ca"},
    {"secp256r1mlkem768", "b64e83e993a727ec9e609bb3877b39d9ad11580a0b3adbbd6ae5e2cf0c1b65be"},
    {"secp384r1mlkem1024", "251b2845681a83d31d3c745235714f47661d6dc2487aaecfba64577fa49bdcec"},
    {"mlkem768x25519", "076184942d00304850355f47fa71672f307c90843223490cee8055559b9563c4"},
    {"mlkem768p256", "7439e1713fee03a76b9a119143c6ebdb2a2c7d3544d582c839ea7850fc3603e3"},
    {"mlkem1024p384", "ef4c0e93d16a592b86a87755b97c5ec040f6abc8cb341758bfc8c3fb1b064d99"},
    {"mldsa44", "7a2327e955b20dbaf319724c2854903f84a86d6e2b4285648cf4de0ae7f79306"},
    {"mldsa65", "a2656decf9eb782f27a6fcf244d1ef6982b11566dee38a8ac942094fab9677bc"},
    {"mldsa87", "23fcbaa5b87dc3d334111cf80e1fdbb581216591326e996038fe574d7e731b7b"},
}};

/// True if record `i` of `a` equals record `j` of `b`.
bool same(const SecretBytes& a, std::size_t i, const SecretBytes& b, std::size_t j, std::size_t size) {
  return std::equal(a.data() + i * size, a.data() + (i + 1) * size, b.data() + j * size);
}

bool all_distinct(const SecretBytes& secrets, std::size_t size) {
  for (std::size_t i = 0; i < kItems; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (same(secrets, i, secrets, j, size)) return false;
    }
  }
  return true;
}

bool rejects(const Context& context, const Scheme& scheme, const KeyPairs& keys, const Encapsulations& made) {
  Bytes ct = made.ct;
  const std::size_t size = scheme.ciphertext_bytes();
  for (std::size_t i = 0; i < kItems; ++i) {
    std::uint8_t& byte = ct[i * size + i * (size - 1) / (kItems - 1)];
    byte = static_cast<std::uint8_t>(byte ^ 1U);
  }
  const SecretBytes first = context.decaps(scheme, kItems, KeyMode::kPerItem, keys.sk, ct).ss;
  const SecretBytes second = context.decaps(scheme, kItems, KeyMode::kPerItem, keys.sk, ct).ss;
  if (first != second) return false;
  for (std::size_t i = 0; i < kItems; ++i) {
    if (same(first, i, made.ss, i, scheme.shared_secret_bytes())) return false;
  }
  return true;
}

Bytes coins(NistDrbg& drbg, const Scheme& scheme, polykem_op op) {
  Bytes out;
  for (const std::size_t n : coin_calls(scheme, op)) {
    const Bytes call = drbg.generate(n);
    out.insert(out.end(), call.begin(), call.end());
  }
  return out;
}

bool known_answer_matches(const Context& context, const Scheme& scheme) {
  NistDrbg drbg(parse_hex(kSeedOfCountZero));
  const KeyPairs keys = context.keygen(scheme, 1, coins(drbg, scheme, POLYKEM_KEYGEN));
  const Encapsulations made =
      context.encaps(scheme, 1, KeyMode::kPerItem, keys.pk, coins(drbg, scheme, POLYKEM_ENCAPS));
  Bytes all = keys.pk;
  all.insert(all.end(), keys.sk.begin(), keys.sk.end());
  all.insert(all.end(), made.ct.begin(), made.ct.end());
  all.insert(all.end(), made.ss.begin(), made.ss.end());
  return shake128(all, 32) == parse_hex(known_answer_digest(scheme.name()));
}

ByteView test_message() {
  return {reinterpret_cast<const std::uint8_t*>(kMessageOfTestOne.data()), kMessageOfTestOne.size()};
}

bool known_signature_matches(const Context& context, const Scheme& scheme) {
  const KeyPairs keys = context.keygen(scheme, 1, Bytes(scheme.info().keygen_coin_bytes, kSeedOfTestOne));
  Messages message(Strings::shared(test_message()));
  message.deterministic = true;
  const Signatures made = context.sign(scheme, 1, KeyMode::kPerItem, keys.sk, message);
  Bytes all = keys.pk;
  all.insert(all.end(), made.sig.begin(), made.sig.end());
  return shake128(all, 32) == parse_hex(known_answer_digest(scheme.name()));
}

/// Flips a bit in each signature: at its beginning, in the middle, and at its end.
bool refuses(const Context& context, const Scheme& scheme, const Bytes& pk, const Messages& message, Bytes sig) {
  const std::size_t size = scheme.signature_bytes();
  for (std::size_t i = 0; i < kItems; ++i) {
    std::uint8_t& byte = sig[i * size + i * (size - 1) / (kItems - 1)];
    byte = static_cast<std::uint8_t>(byte ^ 1U);
  }
  const Verification found = context.verify(scheme, kItems, KeyMode::kPerItem, pk, message, sig);
  return std::count(found.items.begin(), found.items.end(), POLYKEM_ERR_SIGNATURE) ==
         static_cast<std::ptrdiff_t>(kItems);
}

void test_signatures(const Context& context, const Scheme& scheme, SelfTest& out) {
  const KeyPairs keys = context.keygen(scheme, kItems);
  const Messages message(Strings::shared(test_message()));
  const Signatures made = context.sign(scheme, kItems, KeyMode::kPerItem, keys.sk, message);
  const SecretBytes signatures(made.sig.begin(), made.sig.end());
  out.round_trip = context.verify(scheme, kItems, KeyMode::kPerItem, keys.pk, message, made.sig).all_valid() &&
                   all_distinct(signatures, scheme.signature_bytes());
  out.rejection = refuses(context, scheme, keys.pk, message, made.sig);
  if (out.has_known_answer) out.known_answer = known_signature_matches(context, scheme);
}

void test_kem(const Context& context, const Scheme& scheme, SelfTest& out) {
  const KeyPairs keys = context.keygen(scheme, kItems);
  const Encapsulations made = context.encaps(scheme, kItems, KeyMode::kPerItem, keys.pk);
  const SharedSecrets back = context.decaps(scheme, kItems, KeyMode::kPerItem, keys.sk, made.ct);
  out.round_trip = back.ss == made.ss && all_distinct(made.ss, scheme.shared_secret_bytes());
  out.rejection = rejects(context, scheme, keys, made);
  if (out.has_known_answer) out.known_answer = known_answer_matches(context, scheme);
}

}  // namespace

std::string known_answer_digest(const std::string& scheme) {
  for (const auto& [name, digest] : kDigests) {
    if (name == scheme) return std::string(digest);
  }
  return {};
}

SelfTest run_self_test(const Context& context, const Scheme& scheme) {
  SelfTest out;
  out.backend = context.backend(scheme);
  out.has_known_answer = !known_answer_digest(scheme.name()).empty();
  try {
    scheme.is_signature() ? test_signatures(context, scheme, out) : test_kem(context, scheme, out);
  } catch (const Error& e) {
    out.error = e.what();
  }
  return out;
}

}  // namespace polykem::cli
