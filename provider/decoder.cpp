// SPDX-License-Identifier: Apache-2.0
// Decoders: read keys in DER. OpenSSL's own decoders convert PEM and encrypted keys to DER first.
#include <openssl/core_names.h>
#include <openssl/core_object.h>
#include <openssl/params.h>

#include <optional>
#include <variant>

#include "coding.hpp"
#include "formats/base64.hpp"
#include "formats/der.hpp"
#include "formats/error.hpp"
#include "key.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

enum class Structure { kPublic, kPrivate };

struct Decoder {
  Provider& provider;
  const Algorithm& algorithm;
  Structure structure;
};

template <std::size_t kSet, Structure kStructure>
void* new_decoder(void* provider) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* { return new Decoder{own, coded_algorithm(own.offer, kSet), kStructure}; });
}

void free_decoder(void* decoder) {
  delete static_cast<Decoder*>(decoder);
}

/// True if such a structure has what `selection` asks for; 0 asks for anything.
template <Structure kStructure>
int does_selection(void* /*provider*/, int selection) {
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) return kStructure == Structure::kPrivate;
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) return kStructure == Structure::kPublic;
  return selection == 0;
}

bool append(const CoreStreams& streams, OSSL_CORE_BIO* in, SecretBytes& out, std::size_t bytes) {
  const std::size_t done = out.size();
  out.resize(done + bytes);
  return streams.read(in, out.data() + done, bytes);
}

/// Reads exactly one element from the stream; empty if there is none, or none that can be a key.
SecretBytes read_element(const CoreStreams& streams, OSSL_CORE_BIO* in) {
  constexpr std::uint8_t kLongForm = 0x80;
  SecretBytes out;
  if (!append(streams, in, out, 2)) return {};
  const std::size_t length_bytes = out[1] < kLongForm ? 0 : out[1] - kLongForm;
  if (length_bytes > sizeof(std::uint32_t) || !append(streams, in, out, length_bytes)) return {};
  const std::optional<formats::DerHeader> header = formats::der_header(out);
  const bool whole =
      header && header->content_bytes <= formats::kMaxBytes && append(streams, in, out, header->content_bytes);
  return whole ? out : SecretBytes();
}

/// Sets the parts of a private key in `key`, which checks that they match.
bool set_private(Key& key, const formats::PrivateKey& parts) {
  if (parts.form != formats::PrivateForm::kSeed && !key.set_secret_key(parts.expanded)) return false;
  if (parts.form != formats::PrivateForm::kExpanded && !key.set_seed(parts.seed)) return false;
  if (!parts.public_key.empty() && !key.set_public_key(parts.public_key)) return false;
  return parts.form != formats::PrivateForm::kExpanded || key.check_pair();
}

/// The key in `der`; none if it has another algorithm or structure. If it is malformed, an error is raised too.
KeyPtr read_key(const Decoder& decoder, ByteView der) {
  const std::optional<Scheme> scheme = formats::scheme_in(der);
  if (!scheme || *scheme != decoder.algorithm.scheme) return nullptr;
  KeyPtr key(new Key(decoder.provider, decoder.algorithm));
  try {
    const formats::Key parts = formats::read_key(der);
    const bool is_public = std::holds_alternative<formats::PublicKey>(parts);
    if (is_public != (decoder.structure == Structure::kPublic)) return nullptr;
    const bool taken = is_public ? key->set_public_key(std::get<formats::PublicKey>(parts).bytes)
                                 : set_private(*key, std::get<formats::PrivateKey>(parts));
    return taken ? std::move(key) : nullptr;
  } catch (const formats::FormatError& e) {
    const bool is_public = decoder.structure == Structure::kPublic;
    decoder.provider.errors.raise(is_public ? Reason::kPublicKey : Reason::kPrivateKey, "%s: %s",
                                  decoder.algorithm.name.c_str(), e.what());
    return nullptr;
  }
}

/// Passes a key to OpenSSL, which takes it over unless it cannot use it.
int hand_over(KeyPtr key, OSSL_CALLBACK* callback, void* argument) {
  const Algorithm& algorithm = key->algorithm();
  int type = OSSL_OBJECT_PKEY;
  Key* reference = key.release();
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_int(OSSL_OBJECT_PARAM_TYPE, &type),
      OSSL_PARAM_construct_utf8_string(OSSL_OBJECT_PARAM_DATA_TYPE, const_cast<char*>(algorithm.name.c_str()), 0),
      OSSL_PARAM_construct_octet_string(OSSL_OBJECT_PARAM_REFERENCE, &reference, sizeof reference),
      OSSL_PARAM_construct_end()};
  const int taken = callback(params, argument);
  key.reset(reference);
  return taken;
}

/// Finding no key is not an error, because another decoder may read it.
int decode(void* data, OSSL_CORE_BIO* in, int /*selection*/, OSSL_CALLBACK* callback, void* argument,
           OSSL_PASSPHRASE_CALLBACK* /*ask*/, void* /*ask_argument*/) {
  const auto& decoder = *static_cast<const Decoder*>(data);
  return guarded(decoder.provider.errors, [&]() -> int {
    KeyPtr key = read_key(decoder, read_element(decoder.provider.streams, in));
    return key == nullptr ? 1 : hand_over(std::move(key), callback, argument);
  });
}

/// Exports the key to a key manager of another provider.
int export_object(void* data, const void* reference, std::size_t bytes, OSSL_CALLBACK* callback, void* argument) {
  const auto& decoder = *static_cast<const Decoder*>(data);
  if (bytes != sizeof(Key*)) return 0;
  return guarded(decoder.provider.errors, [&]() -> int {
    Key* key = *static_cast<Key* const*>(reference);
    const int selection =
        decoder.structure == Structure::kPublic ? OSSL_KEYMGMT_SELECT_PUBLIC_KEY : OSSL_KEYMGMT_SELECT_KEYPAIR;
    auto* export_key =
        manager_function<OSSL_FUNC_keymgmt_export_fn>(decoder.provider, decoder.algorithm, OSSL_FUNC_KEYMGMT_EXPORT);
    return export_key(key, selection, callback, argument);
  });
}

template <std::size_t kSet, Structure kStructure>
const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_decoder_newctx_fn>(OSSL_FUNC_DECODER_NEWCTX, new_decoder<kSet, kStructure>),
      entry<OSSL_FUNC_decoder_freectx_fn>(OSSL_FUNC_DECODER_FREECTX, free_decoder),
      entry<OSSL_FUNC_decoder_does_selection_fn>(OSSL_FUNC_DECODER_DOES_SELECTION, does_selection<kStructure>),
      entry<OSSL_FUNC_decoder_decode_fn>(OSSL_FUNC_DECODER_DECODE, decode),
      entry<OSSL_FUNC_decoder_export_object_fn>(OSSL_FUNC_DECODER_EXPORT_OBJECT, export_object),
      {0, nullptr},
  };
  return table;
}

template <std::size_t... kSet>
std::vector<Coding> decoders(std::index_sequence<kSet...> /*sets*/) {
  std::vector<Coding> out;
  (out.insert(
       out.end(),
       {{kSet, "provider=polykem,input=der,structure=PrivateKeyInfo", functions<kSet, Structure::kPrivate>()},
        {kSet, "provider=polykem,input=der,structure=SubjectPublicKeyInfo", functions<kSet, Structure::kPublic>()}}),
   ...);
  return out;
}

}  // namespace

std::vector<OSSL_ALGORITHM> decoder_table(const Offer& offer) {
  return coding_table(offer, decoders(std::make_index_sequence<kCodedSets>()));
}

}  // namespace polykem::provider
