// SPDX-License-Identifier: Apache-2.0
// Keys in the forms of the standards, for the sets that have an object identifier: ML-KEM, FrodoKEM-976 and
// FrodoKEM-1344. Public keys are SubjectPublicKeyInfo [RFC5280, 4.1], private keys OneAsymmetricKey [RFC5958, 2], which
// is PKCS #8. RFC 9935 lays down what is inside for ML-KEM; for FrodoKEM no standard does, so it is what other
// libraries write. Encrypted private keys are recognised; who reads them decrypts them before.
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
inline constexpr std::size_t kSetsWithKeyFormat = 11;

/// The alternatives of a private key [RFC9935, 6]. FrodoKEM has kExpanded alone.
enum class PrivateForm { kSeed, kExpanded, kBoth };

struct PublicKey {
  Scheme scheme;
  Bytes bytes;
};

struct PrivateKey {
  Scheme scheme;
  PrivateForm form;
  SecretBytes seed;      ///< d, z; empty in the form kExpanded
  SecretBytes expanded;  ///< empty in the form kSeed, until complete()
  Bytes public_key;      ///< empty unless it was given beside the private key
};

using Key = std::variant<PublicKey, PrivateKey>;

/// True if the set has an object identifier, so that its keys have these forms.
bool has_key_format(const Scheme& scheme);
/// The name of the object identifier of such a set: "id-alg-ml-kem-768".
const char* identifier_name(const Scheme& scheme);
/// The object identifier of such a set, in dots.
std::string object_identifier(const Scheme& scheme);

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

/// The set of the key in `der`, if its algorithm is one that has these forms; the rest is not looked at.
std::optional<Scheme> scheme_in(ByteView der);

/// Reads a key; `der` holds it and nothing else. Sizes are right then; what is inside is checked by complete(), or
/// where a public key is used. Throws FormatError.
Key read_key(ByteView der);
PublicKey read_public_key(ByteView der);
PrivateKey read_private_key(ByteView der);

/// Computes the expanded key where there is only a seed, and checks that the parts of the key belong together: the seed
/// and the expanded key [RFC9935, 8], the public key beside it, and without a seed that what is encapsulated to the key
/// can be decapsulated, which includes FIPS 203's check of its hash. Throws FormatError if they do not, Error if the
/// library fails.
void complete(polykem_context* context, PrivateKey& key);

/// The public key inside an expanded private key; empty if the set keeps none there.
ByteView public_key_of(const Scheme& scheme, ByteView expanded);

}  // namespace polykem::formats
