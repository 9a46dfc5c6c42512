// SPDX-License-Identifier: Apache-2.0
// Keys in standard forms, for the sets with an object identifier: ML-KEM, FrodoKEM-976, FrodoKEM-1344 and ML-DSA.
// Public keys are SubjectPublicKeyInfo [RFC5280, 4.1], private keys OneAsymmetricKey [RFC5958, 2], that is PKCS #8. RFC
// 9935 defines the contents for ML-KEM, RFC 9881 for ML-DSA. For FrodoKEM no standard does, so they are what other
// libraries write. Encrypted private keys are recognised; the caller must decrypt them first.
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

/// The number of sets with these forms.
inline constexpr std::size_t kSetsWithKeyFormat = 14;

/// The use of keys that is accepted. Keys for another use are treated like those of an unsupported algorithm.
enum class KeyUse { kAny, kKem, kSignature };

/// The alternatives of a private key [RFC9935, 6; RFC9881, 6]. FrodoKEM has only kExpanded.
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

/// True if the set has an object identifier and its keys therefore have these forms.
bool has_key_format(const Scheme& scheme);
/// The name of the object identifier of such a set: "id-alg-ml-kem-768".
const char* identifier_name(const Scheme& scheme);
/// The object identifier of such a set in dotted form.
std::string object_identifier(const Scheme& scheme);
/// The set's AlgorithmIdentifier in DER, without parameters. It is in keys and, for ML-DSA, beside signatures [RFC9881,
/// 2].
SecretBytes algorithm_identifier(const Scheme& scheme);

/// SubjectPublicKeyInfo in DER.
SecretBytes write_public_key(const Scheme& scheme, ByteView public_key);
/// OneAsymmetricKey in DER, with the parts that the key's form selects, and without its public_key.
SecretBytes write_private_key(const PrivateKey& key);

/// If `begin` looks like the beginning of a key in DER, of any algorithm: the size of the whole key.
std::optional<std::size_t> key_der_bytes(ByteView begin);

/// If `begin` looks like the beginning of a certificate [RFC5280, 4.1]: the size of the whole certificate.
std::optional<std::size_t> certificate_der_bytes(ByteView begin);
/// The SubjectPublicKeyInfo in a certificate. Nothing else in it is checked, not even its signature. Throws
/// FormatError.
SecretBytes public_key_in_certificate(ByteView der);
/// The algorithm of a SubjectPublicKeyInfo, for messages: a name, or an object identifier in dotted form.
std::string algorithm_of(ByteView public_key);

/// True if `der` looks like an EncryptedPrivateKeyInfo [RFC5958, 3].
bool is_encrypted_key(ByteView der);

/// The set of the key in `der`, if its algorithm has that use. Nothing else is checked.
std::optional<Scheme> scheme_in(ByteView der, KeyUse use = KeyUse::kAny);

/// Reads a key, which must fill `der`. Sizes are checked; contents are checked by complete(), or when a public key is
/// used. Throws FormatError.
Key read_key(ByteView der, KeyUse use = KeyUse::kAny);
PublicKey read_public_key(ByteView der, KeyUse use = KeyUse::kAny);
PrivateKey read_private_key(ByteView der, KeyUse use = KeyUse::kAny);

/// Computes the expanded key, if there is only a seed, and the public key, and checks that the parts of the key belong
/// together: the seed and the expanded key [RFC9935, 8; RFC9881, 8.2], and the public key beside it. Without a seed, a
/// KEM's key is tested by an encapsulation and its decapsulation, which includes FIPS 203's check of the hash; of
/// ML-DSA's key, tr and t0 must follow from the rest. Throws FormatError if a check fails, Error if the library fails.
void complete(polykem_context* context, PrivateKey& key);

}  // namespace polykem::formats
