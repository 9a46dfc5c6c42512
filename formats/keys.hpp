// SPDX-License-Identifier: Apache-2.0
// Keys in the forms of the standards, for the sets that have an object identifier: ML-KEM, FrodoKEM-976, FrodoKEM-1344
// and ML-DSA. Public keys are SubjectPublicKeyInfo [RFC5280, 4.1], private keys OneAsymmetricKey [RFC5958, 2], which is
// PKCS #8. RFC 9935 lays down what is inside for ML-KEM, RFC 9881 for ML-DSA; for FrodoKEM no standard does, so it is
// what other libraries write. Encrypted private keys are recognised; who reads them decrypts them before.
#pragma once

#include <polykem/polykem.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace polykem::formats {

inline constexpr std::string_view kPublicKeyLabel = "PUBLIC KEY";
inline constexpr std::string_view kPrivateKeyLabel = "PRIVATE KEY";
inline constexpr std::string_view kEncryptedLabel = "ENCRYPTED PRIVATE KEY";

/// How many sets have these forms.
inline constexpr std::size_t kSetsWithKeyFormat = 14;

/// What a key that is read may be for; other keys count as of an algorithm without these forms.
enum class KeyUse { kAny, kKem, kSignature };

/// The alternatives of a private key [RFC9935, 6; RFC9881, 6]. FrodoKEM has kExpanded alone.
enum class PrivateForm { kSeed, kExpanded, kBoth };

struct PublicKey {
  Scheme scheme;
  Bytes bytes;
};

struct PrivateKey {
  Scheme scheme;
  PrivateForm form;
  SecretBytes seed;      ///< d, z of ML-KEM, xi of ML-DSA; empty in the form kExpanded
  SecretBytes expanded;  ///< empty in the form kSeed, until complete()
  Bytes public_key;      ///< until complete(), empty unless it was given beside the private key
};

using Key = std::variant<PublicKey, PrivateKey>;

/// True if the set has an object identifier, so that its keys have these forms.
bool has_key_format(const Scheme& scheme);
/// The name of the object identifier of such a set: "id-alg-ml-kem-768".
const char* identifier_name(const Scheme& scheme);
/// The object identifier of such a set, in dots.
std::string object_identifier(const Scheme& scheme);
/// Its AlgorithmIdentifier in DER, without parameters: in keys, and of ML-DSA beside signatures [RFC9881, 2].
SecretBytes algorithm_identifier(const Scheme& scheme);

/// SubjectPublicKeyInfo in DER.
SecretBytes write_public_key(const Scheme& scheme, ByteView public_key);
/// OneAsymmetricKey in DER, with what the key's form says; its public_key is left out.
SecretBytes write_private_key(const PrivateKey& key);

/// If `begin` looks like the beginning of a key in DER, of any algorithm: how many bytes the whole key has.
std::optional<std::size_t> key_der_bytes(ByteView begin);

/// If `begin` looks like the beginning of a certificate [RFC5280, 4.1]: how many bytes the whole certificate has.
std::optional<std::size_t> certificate_der_bytes(ByteView begin);
/// The SubjectPublicKeyInfo in a certificate, of which nothing else is checked, no signature either. Throws
/// FormatError.
SecretBytes public_key_in_certificate(ByteView der);
/// The algorithm of a SubjectPublicKeyInfo for people: a name, or an object identifier in dots.
std::string algorithm_of(ByteView public_key);

/// True if `der` looks like an EncryptedPrivateKeyInfo [RFC5958, 3].
bool is_encrypted_key(ByteView der);

/// The set of the key in `der`, if its algorithm is one of that use; the rest is not looked at.
std::optional<Scheme> scheme_in(ByteView der, KeyUse use = KeyUse::kAny);

/// Reads a key; `der` holds it and nothing else. Sizes are right then; what is inside is checked by complete(), or
/// where a public key is used. Throws FormatError.
Key read_key(ByteView der, KeyUse use = KeyUse::kAny);
PublicKey read_public_key(ByteView der, KeyUse use = KeyUse::kAny);
PrivateKey read_private_key(ByteView der, KeyUse use = KeyUse::kAny);

/// Computes the expanded key where there is only a seed and the public key, and checks that the parts of the key belong
/// together: the seed and the expanded key [RFC9935, 8; RFC9881, 8.2], and the public key beside it. Without a seed,
/// what is encapsulated to a KEM's key must be decapsulated, which includes FIPS 203's check of its hash; of ML-DSA's
/// key, tr and t0 must follow from the rest. Throws FormatError if they do not, Error if the library fails.
void complete(polykem_context* context, PrivateKey& key);

}  // namespace polykem::formats
