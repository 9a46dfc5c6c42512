// SPDX-License-Identifier: Apache-2.0
#include "formats/keys.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "formats/der.hpp"
#include "formats/error.hpp"

namespace polykem::formats {
namespace {

/// The prefixes of the sets' OBJECT IDENTIFIERs, encoded: 2.16.840.1.101.3.4.4 [RFC9935, 3], 2.16.840.1.101.3.4.3
/// [RFC9881, 2] and 1.0.18033.2.2.7 [ISO18033A2].
constexpr std::array<std::uint8_t, 8> kMlkemArc = {0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x04};
constexpr std::array<std::uint8_t, 8> kMldsaArc = {0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03};
constexpr std::array<std::uint8_t, 7> kFrodoArc = {0x28, 0x81, 0x8C, 0x71, 0x02, 0x02, 0x07};

struct Entry {
  const char* scheme;
  const char* identifier;  ///< the name of its object identifier; for FrodoKEM as in [FRODOCERT]
  ByteView arc;
  std::array<std::uint8_t, 1> last;
  KeyUse use = KeyUse::kKem;
};

constexpr std::array<Entry, kSetsWithKeyFormat> kEntries = {{
    {"mlkem512", "id-alg-ml-kem-512", kMlkemArc, {1}},
    {"mlkem768", "id-alg-ml-kem-768", kMlkemArc, {2}},
    {"mlkem1024", "id-alg-ml-kem-1024", kMlkemArc, {3}},
    {"frodokem976shake", "id-kem-frodokem976-shake", kFrodoArc, {1}},
    {"frodokem1344shake", "id-kem-frodokem1344-shake", kFrodoArc, {2}},
    {"efrodokem976shake", "id-kem-efrodokem976-shake", kFrodoArc, {3}},
    {"efrodokem1344shake", "id-kem-efrodokem1344-shake", kFrodoArc, {4}},
    {"frodokem976aes", "id-kem-frodokem976-aes", kFrodoArc, {5}},
    {"frodokem1344aes", "id-kem-frodokem1344-aes", kFrodoArc, {6}},
    {"efrodokem976aes", "id-kem-efrodokem976-aes", kFrodoArc, {7}},
    {"efrodokem1344aes", "id-kem-efrodokem1344-aes", kFrodoArc, {8}},
    {"mldsa44", "id-ml-dsa-44", kMldsaArc, {17}, KeyUse::kSignature},
    {"mldsa65", "id-ml-dsa-65", kMldsaArc, {18}, KeyUse::kSignature},
    {"mldsa87", "id-ml-dsa-87", kMldsaArc, {19}, KeyUse::kSignature},
}};

constexpr std::array<std::uint8_t, 3> kVersion1 = {der::kInteger, 1, 0};
constexpr std::array<std::uint8_t, 1> kNoUnusedBits = {0};
constexpr std::uint8_t kSeedTag = der::context(0);
constexpr std::uint8_t kAttributesTag = der::context_constructed(0);
constexpr std::uint8_t kPublicKeyTag = der::context(1);

const char* hint_of(KeyUse use) {
  switch (use) {
    case KeyUse::kKem:
      return "polykem reads keys of ML-KEM, FrodoKEM-976 and FrodoKEM-1344";
    case KeyUse::kSignature:
      return "polykem signs and verifies with keys of ML-DSA";
    case KeyUse::kAny:
      break;
  }
  return "polykem reads keys of ML-KEM, FrodoKEM-976, FrodoKEM-1344 and ML-DSA";
}

bool equal(ByteView a, ByteView b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;  // no early exit, because the bytes may be secret
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(a.data()[i] ^ b.data()[i]);
  return difference == 0;
}

const Entry* entry_of(const Scheme& scheme) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.scheme, scheme.name()) == 0) return &entry;
  }
  return nullptr;
}

bool is_of(const Entry& entry, ByteView oid) {
  const std::size_t arc = entry.arc.size();
  return oid.size() == arc + 1 && equal({oid.data(), arc}, entry.arc) && oid.data()[arc] == entry.last[0];
}

/// "1.2.840.113549.1.1.1"
std::string dotted(ByteView oid) {
  constexpr std::size_t kMaxOidBytes = 40;
  constexpr std::uint64_t kMaxArc = std::uint64_t{1} << 50;
  if (oid.size() == 0 || oid.size() > kMaxOidBytes) return "unreadable";
  std::string text;
  std::uint64_t arc = 0;
  for (std::size_t i = 0; i < oid.size(); ++i) {
    arc = (arc << 7) | (oid.data()[i] & 0x7FU);
    if (arc > kMaxArc) return "unreadable";
    if ((oid.data()[i] & 0x80U) != 0) continue;
    if (text.empty()) {
      const std::uint64_t first = std::min<std::uint64_t>(arc / 40, 2);
      text = std::to_string(first);
      arc -= 40 * first;
    }
    text += '.' + std::to_string(arc);
    arc = 0;
  }
  return text;
}

/// The identifier with its name, for messages: "1.2.840.113549.1.1.1 (RSA)".
std::string algorithm_text(ByteView oid) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {{"1.2.840.113549.1.1.1", "RSA"},
                                                                 {"1.2.840.10045.2.1", "EC"},
                                                                 {"1.3.101.110", "X25519"},
                                                                 {"1.3.101.111", "X448"},
                                                                 {"1.3.101.112", "Ed25519"},
                                                                 {"1.3.101.113", "Ed448"},
                                                                 {"2.16.840.1.101.3.4.3.17", "ML-DSA-44"},
                                                                 {"2.16.840.1.101.3.4.3.18", "ML-DSA-65"},
                                                                 {"2.16.840.1.101.3.4.3.19", "ML-DSA-87"}};
  std::string text = dotted(oid);
  for (const auto& [known, name] : kNames) {
    if (text == known) return text + " (" + name + ')';
  }
  return text;
}

std::optional<Scheme> scheme_of(ByteView oid, KeyUse use) {
  for (const Entry& entry : kEntries) {
    if (!is_of(entry, oid) || (use != KeyUse::kAny && use != entry.use)) continue;
    return entry.use == KeyUse::kSignature ? Scheme::find_signature(entry.scheme) : Scheme::find(entry.scheme);
  }
  return std::nullopt;
}

Scheme read_algorithm(DerReader& in, KeyUse use) {
  DerReader algorithm(in.take(der::kSequence, "AlgorithmIdentifier"));
  const ByteView oid = algorithm.take(der::kObjectIdentifier, "the algorithm's OBJECT IDENTIFIER");
  if (const std::optional<Scheme> scheme = scheme_of(oid, use); scheme) {
    algorithm.finish("AlgorithmIdentifier, which has no parameters here,");
    return *scheme;
  }
  throw FormatError("the key is of algorithm " + algorithm_text(oid), hint_of(use));
}

/// Throws FormatError unless `bytes` has `size` bytes.
void need_size(ByteView bytes, std::size_t size, const char* name, const Scheme& scheme) {
  if (bytes.size() == size) return;
  throw FormatError(std::string(name) + " has " + std::to_string(bytes.size()) + " bytes, expected " +
                    std::to_string(size) + " for " + scheme.info().title);
}

SecretBytes secret(ByteView bytes) {
  return {bytes.data(), bytes.data() + bytes.size()};
}

/// The contents of a BIT STRING of whole bytes that holds a public key.
Bytes public_bits(ByteView bits, const Scheme& scheme) {
  if (bits.size() == 0 || *bits.data() != 0) {
    throw FormatError("the DER encoding is malformed: the public key's BIT STRING has unused bits");
  }
  const ByteView key(bits.data() + 1, bits.size() - 1);
  need_size(key, scheme.public_key_bytes(), "the public key", scheme);
  return {key.data(), key.data() + key.size()};
}

bool has_seed_form(const Scheme& scheme) {
  return scheme.info().secret_seed_bytes != 0;
}

/// Reads an ML-KEM-PrivateKey [RFC9935, 6] or ML-DSA-PrivateKey [RFC9881, 6]; the tag tells the alternatives apart.
/// FrodoKEM has one, the expanded key in an OCTET STRING, as wolfSSL 5.9.4, Bouncy Castle and CryptoNext write it. Some
/// programs wrote the bytes alone, for ML-KEM and ML-DSA before the RFCs, and Botan 3.13 does for FrodoKEM; their
/// length differs from all alternatives.
PrivateKey read_alternative(ByteView der, const Scheme& scheme) {
  const bool has_seed = has_seed_form(scheme);
  if (has_seed && der.size() == scheme.info().secret_seed_bytes)
    return {scheme, PrivateForm::kSeed, secret(der), {}, {}};
  if (der.size() == scheme.secret_key_bytes()) return {scheme, PrivateForm::kExpanded, {}, secret(der), {}};
  PrivateKey key{scheme, PrivateForm::kBoth, {}, {}, {}};
  DerReader in(der);
  if (has_seed && in.next_is(kSeedTag)) {
    key.form = PrivateForm::kSeed;
    key.seed = secret(in.take(kSeedTag, "the seed"));
  } else if (!has_seed || in.next_is(der::kOctetString)) {
    key.form = PrivateForm::kExpanded;
    key.expanded = secret(in.take(der::kOctetString, "the expanded key"));
  } else {
    DerReader both(in.take(der::kSequence, "the private key (a seed, an expanded key, or a SEQUENCE of both)"));
    key.seed = secret(both.take(der::kOctetString, "the seed"));
    key.expanded = secret(both.take(der::kOctetString, "the expanded key"));
    both.finish("the SEQUENCE of seed and expanded key");
  }
  in.finish("the private key");
  if (key.form != PrivateForm::kExpanded) need_size(key.seed, scheme.info().secret_seed_bytes, "the seed", scheme);
  if (key.form != PrivateForm::kSeed) {
    need_size(key.expanded, scheme.secret_key_bytes(), "the expanded private key", scheme);
  }
  return key;
}

/// SubjectPublicKeyInfo, OneAsymmetricKey or EncryptedPrivateKeyInfo.
enum class KeyStructure { kPublic, kPrivate, kEncrypted };

/// Recognises the structure by the first elements in its SEQUENCE.
KeyStructure structure_of(DerReader in) {
  if (in.next_is(der::kInteger)) return KeyStructure::kPrivate;
  in.take(der::kSequence, "AlgorithmIdentifier");
  return in.next_is(der::kOctetString) ? KeyStructure::kEncrypted : KeyStructure::kPublic;
}

/// The contents of the SEQUENCE that is the whole key.
ByteView whole_key(ByteView der) {
  DerReader in(der);
  const ByteView contents = in.take(der::kSequence, "the key's SEQUENCE");
  in.finish("the key");
  return contents;
}

PublicKey read_public(DerReader in, KeyUse use) {
  const Scheme scheme = read_algorithm(in, use);
  PublicKey key{scheme, public_bits(in.take(der::kBitString, "the public key"), scheme)};
  in.finish("SubjectPublicKeyInfo");
  return key;
}

PrivateKey read_private(DerReader in, KeyUse use) {
  const ByteView version = in.take(der::kInteger, "the version");
  if (version.size() != 1 || *version.data() > 1)
    throw FormatError("the private key has an unknown version, expected 0 or 1");
  const bool version2 = *version.data() == 1;
  const Scheme scheme = read_algorithm(in, use);
  PrivateKey key = read_alternative(in.take(der::kOctetString, "the private key"), scheme);
  if (in.next_is(kAttributesTag)) in.take(kAttributesTag, "the attributes");
  if (version2 && in.next_is(kPublicKeyTag)) {
    key.public_key = public_bits(in.take(kPublicKeyTag, "the public key"), scheme);
  }
  in.finish("OneAsymmetricKey");
  return key;
}

[[noreturn]] void refuse_encrypted() {
  throw FormatError("the private key is encrypted");
}

constexpr const char* kDamaged = "the expanded private key is damaged: its parts do not belong together";

/// The public key of `expanded`. For ML-DSA it is computed, and tr and t0 are compared [RFC9881, 8.2].
Bytes public_key_of(const Scheme& scheme, ByteView expanded) {
  Bytes pk(scheme.public_key_bytes());
  const polykem_status status = polykem_public_key_of(scheme.handle(), expanded.data(), pk.data());
  if (status == POLYKEM_ERR_SECRET_KEY) throw FormatError(kDamaged);
  polykem::check(status, "public key of a private key");
  return pk;
}

/// Tests a key by encapsulating to `pk` and decapsulating with `expanded`, which contains it.
void check_pairwise(polykem_context* context, const Scheme& scheme, ByteView pk, ByteView expanded) {
  Bytes ct(scheme.ciphertext_bytes());
  SecretBytes sent(scheme.shared_secret_bytes()), received(scheme.shared_secret_bytes());
  polykem_status status =
      polykem_encaps(context, scheme.handle(), 1, POLYKEM_KEY_PER_ITEM, pk.data(), ct.data(), sent.data(), nullptr);
  if (status == POLYKEM_OK) {
    status = polykem_decaps(context, scheme.handle(), 1, POLYKEM_KEY_PER_ITEM, expanded.data(), ct.data(),
                            received.data(), nullptr);
  }
  if (status != POLYKEM_ERR_ITEMS) polykem::check(status, "check of a private key");
  if (status == POLYKEM_ERR_ITEMS || !equal(sent, received)) throw FormatError(kDamaged);
}

/// Computes the key pair from the seed.
KeyPairs expand(polykem_context* context, const Scheme& scheme, ByteView seed) {
  KeyPairs pair{Bytes(scheme.public_key_bytes()), SecretBytes(scheme.secret_key_bytes())};
  polykem_request request = Context::request(POLYKEM_KEYGEN, scheme, 1);
  request.coins = seed.data();
  request.pk_out = pair.pk.data();
  request.sk_out = pair.sk.data();
  polykem::check(polykem_run(context, &request), "expansion of a seed");
  return pair;
}

}  // namespace

bool has_key_format(const Scheme& scheme) {
  return entry_of(scheme) != nullptr;
}

const char* identifier_name(const Scheme& scheme) {
  return entry_of(scheme)->identifier;
}

std::string object_identifier(const Scheme& scheme) {
  const Entry& entry = *entry_of(scheme);
  return dotted({entry.arc.data(), entry.arc.size()}) + '.' + std::to_string(entry.last[0]);
}

SecretBytes algorithm_identifier(const Scheme& scheme) {
  const Entry* entry = entry_of(scheme);
  if (entry == nullptr) {
    throw FormatError(std::string("keys of ") + scheme.name() +
                      " have no form in PEM or DER: the set has no object identifier");
  }
  SecretBytes oid;
  append_der(oid, der::kObjectIdentifier, {entry->arc, entry->last});
  SecretBytes out;
  append_der(out, der::kSequence, {oid});
  return out;
}

SecretBytes write_public_key(const Scheme& scheme, ByteView public_key) {
  const SecretBytes algorithm = algorithm_identifier(scheme);
  need_size(public_key, scheme.public_key_bytes(), "the public key", scheme);
  SecretBytes bits;
  append_der(bits, der::kBitString, {kNoUnusedBits, public_key});
  SecretBytes out;
  append_der(out, der::kSequence, {algorithm, bits});
  return out;
}

SecretBytes write_private_key(const PrivateKey& key) {
  const SecretBytes algorithm = algorithm_identifier(key.scheme);
  if (key.form != PrivateForm::kExpanded && !has_seed_form(key.scheme))
    throw FormatError(std::string("private keys of ") + key.scheme.info().title + " have no form as a seed");
  SecretBytes alternative;
  if (key.form == PrivateForm::kSeed) append_der(alternative, kSeedTag, {key.seed});
  if (key.form == PrivateForm::kExpanded) append_der(alternative, der::kOctetString, {key.expanded});
  if (key.form == PrivateForm::kBoth) {
    SecretBytes parts;
    append_der(parts, der::kOctetString, {key.seed});
    append_der(parts, der::kOctetString, {key.expanded});
    append_der(alternative, der::kSequence, {parts});
  }
  SecretBytes octets;
  append_der(octets, der::kOctetString, {alternative});
  SecretBytes out;
  append_der(out, der::kSequence, {kVersion1, algorithm, octets});
  return out;
}

std::optional<std::size_t> key_der_bytes(ByteView begin) {
  const auto rest = [&](std::size_t from) { return ByteView(begin.data() + from, begin.size() - from); };
  const std::optional<DerHeader> outer = der_header(begin);
  if (!outer || outer->tag != der::kSequence) return std::nullopt;
  std::size_t offset = outer->header_bytes;
  const bool private_key =
      begin.size() >= offset + 2 && begin.data()[offset] == der::kInteger && begin.data()[offset + 1] == 1;
  if (private_key) offset += kVersion1.size();
  if (offset > begin.size()) return std::nullopt;
  const std::optional<DerHeader> algorithm = der_header(rest(offset));
  if (!algorithm || algorithm->tag != der::kSequence) return std::nullopt;
  offset += algorithm->header_bytes;
  const std::optional<DerHeader> oid = der_header(rest(offset));
  if (!oid || oid->tag != der::kObjectIdentifier) return std::nullopt;
  const bool nested = oid->header_bytes + oid->content_bytes <= algorithm->content_bytes &&
                      algorithm->content_bytes < outer->content_bytes;
  if (!nested) return std::nullopt;
  return outer->header_bytes + outer->content_bytes;
}

std::optional<std::size_t> certificate_der_bytes(ByteView begin) {
  constexpr std::array<std::uint8_t, 4> kVersion = {der::context_constructed(0), 3, der::kInteger, 1};
  constexpr std::size_t kMaxSerialBytes = 21;
  const auto rest = [&](std::size_t from) { return ByteView(begin.data() + from, begin.size() - from); };
  const std::optional<DerHeader> outer = der_header(begin);
  if (!outer || outer->tag != der::kSequence) return std::nullopt;
  std::size_t offset = outer->header_bytes;
  const std::optional<DerHeader> contents = der_header(rest(offset));
  if (!contents || contents->tag != der::kSequence || contents->content_bytes >= outer->content_bytes)
    return std::nullopt;
  offset += contents->header_bytes;
  if (begin.size() <= offset + kVersion.size()) return std::nullopt;
  if (equal({begin.data() + offset, kVersion.size()}, kVersion)) offset += kVersion.size() + 1;  // otherwise version 1
  const std::optional<DerHeader> serial = der_header(rest(offset));
  if (!serial || serial->tag != der::kInteger || serial->content_bytes > kMaxSerialBytes) return std::nullopt;
  offset += serial->header_bytes + serial->content_bytes;
  if (begin.size() <= offset || begin.data()[offset] != der::kSequence) return std::nullopt;
  return outer->header_bytes + outer->content_bytes;
}

SecretBytes public_key_in_certificate(ByteView der) {
  DerReader outer(der);
  DerReader certificate(outer.take(der::kSequence, "the certificate"));
  outer.finish("the certificate");
  DerReader contents(certificate.take(der::kSequence, "the certificate's contents"));
  if (contents.next_is(der::context_constructed(0))) contents.take(der::context_constructed(0), "the version");
  contents.take(der::kInteger, "the serial number");
  for (const char* name : {"the signature's algorithm", "the issuer", "the validity", "the subject"})
    contents.take(der::kSequence, name);
  SecretBytes out;
  append_der(out, der::kSequence, {contents.take(der::kSequence, "the certificate's public key")});
  return out;
}

std::string algorithm_of(ByteView public_key) {
  DerReader key(DerReader(public_key).take(der::kSequence, "the public key"));
  DerReader algorithm(key.take(der::kSequence, "AlgorithmIdentifier"));
  return algorithm_text(algorithm.take(der::kObjectIdentifier, "the algorithm's OBJECT IDENTIFIER"));
}

bool is_encrypted_key(ByteView der) {
  try {
    return structure_of(DerReader(whole_key(der))) == KeyStructure::kEncrypted;
  } catch (const FormatError&) {
    return false;
  }
}

std::optional<Scheme> scheme_in(ByteView der, KeyUse use) {
  try {
    DerReader in(DerReader(der).take(der::kSequence, "the key's SEQUENCE"));
    if (in.next_is(der::kInteger)) in.take(der::kInteger, "the version");
    DerReader algorithm(in.take(der::kSequence, "AlgorithmIdentifier"));
    return scheme_of(algorithm.take(der::kObjectIdentifier, "the algorithm's OBJECT IDENTIFIER"), use);
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

Key read_key(ByteView der, KeyUse use) {
  const DerReader contents(whole_key(der));
  switch (structure_of(contents)) {
    case KeyStructure::kPublic:
      return read_public(contents, use);
    case KeyStructure::kPrivate:
      return read_private(contents, use);
    case KeyStructure::kEncrypted:
      break;
  }
  refuse_encrypted();
}

PublicKey read_public_key(ByteView der, KeyUse use) {
  Key key = read_key(der, use);
  if (auto* found = std::get_if<PublicKey>(&key)) return std::move(*found);
  throw FormatError("a private key, expected a public key");
}

PrivateKey read_private_key(ByteView der, KeyUse use) {
  Key key = read_key(der, use);
  if (auto* found = std::get_if<PrivateKey>(&key)) return std::move(*found);
  throw FormatError("a public key, expected a private key");
}

void complete(polykem_context* context, PrivateKey& key) {
  Bytes public_key;
  if (key.form == PrivateForm::kExpanded) {
    public_key = public_key_of(key.scheme, key.expanded);
    if (key.scheme.info().signature_bytes == 0) check_pairwise(context, key.scheme, public_key, key.expanded);
  } else {
    KeyPairs pair = expand(context, key.scheme, key.seed);
    if (key.form == PrivateForm::kBoth && !equal(pair.sk, key.expanded)) {
      throw FormatError("the seed does not match the expanded private key");
    }
    key.expanded = std::move(pair.sk);
    public_key = std::move(pair.pk);
  }
  if (!key.public_key.empty() && !equal(key.public_key, public_key))
    throw FormatError("the public key does not match the private key");
  key.public_key = std::move(public_key);
}

}  // namespace polykem::formats
