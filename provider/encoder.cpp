// SPDX-License-Identifier: Apache-2.0
// Encoders: write keys as DER, PEM and text.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <string>
#include <string_view>

#include "coding.hpp"
#include "formats/pem.hpp"
#include "key.hpp"
#include "tables.hpp"

namespace polykem::provider {

namespace {

enum class Form { kPublicDer, kPublicPem, kPrivateDer, kPrivatePem, kText };

constexpr bool is_private(Form form) {
  return form == Form::kPrivateDer || form == Form::kPrivatePem;
}

struct Encoder {
  Provider& provider;
  const Algorithm& algorithm;
  Form form;
  std::string cipher, cipher_properties;  ///< of private keys; empty: not encrypted
};

template <std::size_t kSet, Form kForm>
void* new_encoder(void* provider) {
  Provider& own = as_provider(provider);
  return guarded(own.errors, [&]() -> void* {
    return new Encoder{own, coded_algorithm(own.offer, kSet), kForm, {}, {}};
  });
}

void free_encoder(void* encoder) {
  delete static_cast<Encoder*>(encoder);
}

template <Form kForm>
int does_selection(void* /*provider*/, int selection) {
  if (kForm == Form::kText) return 1;
  if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0) return is_private(kForm);
  if ((selection & OSSL_KEYMGMT_SELECT_PUBLIC_KEY) != 0) return !is_private(kForm);
  return selection == 0;
}

int set_params(void* data, const OSSL_PARAM params[]) {
  auto& encoder = *static_cast<Encoder*>(data);
  return guarded(encoder.provider.errors, [&]() -> int {
    const auto read = [&](const char* name, std::string& out) {
      const OSSL_PARAM* param = OSSL_PARAM_locate_const(params, name);
      const char* text = nullptr;
      if (param == nullptr) return true;
      if (OSSL_PARAM_get_utf8_string_ptr(param, &text) != 1) return false;
      out = text == nullptr ? "" : text;
      return true;
    };
    return read(OSSL_ENCODER_PARAM_CIPHER, encoder.cipher) &&
           read(OSSL_ENCODER_PARAM_PROPERTIES, encoder.cipher_properties);
  });
}

const OSSL_PARAM* settable_params(void* /*provider*/) {
  static const OSSL_PARAM list[] = {OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_CIPHER, nullptr, 0),
                                    OSSL_PARAM_utf8_string(OSSL_ENCODER_PARAM_PROPERTIES, nullptr, 0), OSSL_PARAM_END};
  return list;
}

// ---- keys of other providers

void* import_object(void* data, int selection, const OSSL_PARAM params[]) {
  const auto& encoder = *static_cast<const Encoder*>(data);
  return guarded(encoder.provider.errors, [&]() -> void* {
    KeyPtr key(new Key(encoder.provider, encoder.algorithm));
    auto* import =
        manager_function<OSSL_FUNC_keymgmt_import_fn>(encoder.provider, encoder.algorithm, OSSL_FUNC_KEYMGMT_IMPORT);
    return import(key.get(), selection, params) == 1 ? key.release() : nullptr;
  });
}

void free_object(void* key) {
  if (key != nullptr) as_key(key).release();
}

// ---- contents

/// The private key with the expanded key and, if it is known, the seed, as OpenSSL writes it.
SecretBytes private_der(const Key& key) {
  const formats::PrivateForm form =
      key.seed().size() == 0 ? formats::PrivateForm::kExpanded : formats::PrivateForm::kBoth;
  return formats::write_private_key(
      {key.algorithm().scheme, form, secret_copy(key.seed()), secret_copy(key.secret_key()), {}});
}

template <class Type, void (*kFree)(Type*)>
struct Free {
  void operator()(Type* object) const { kFree(object); }
};
using Pkcs8Ptr = std::unique_ptr<PKCS8_PRIV_KEY_INFO, Free<PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER, Free<EVP_CIPHER, EVP_CIPHER_free>>;
using EncryptedPtr = std::unique_ptr<X509_SIG, Free<X509_SIG, X509_SIG_free>>;

/// Encrypts with libcrypto to an EncryptedPrivateKeyInfo; empty with an error raised if that fails.
SecretBytes encrypted(const Encoder& encoder, ByteView der, OSSL_PASSPHRASE_CALLBACK* ask, void* argument) {
  constexpr std::size_t kMaxPassphraseBytes = 1024;
  const Errors& errors = encoder.provider.errors;
  OSSL_LIB_CTX* library = encoder.provider.library.get();
  const CipherPtr cipher(EVP_CIPHER_fetch(library, encoder.cipher.c_str(), encoder.cipher_properties.c_str()));
  if (cipher == nullptr) {
    errors.raise(Reason::kParameter, "no cipher '%s'", encoder.cipher.c_str());
    return {};
  }
  SecretBytes passphrase(kMaxPassphraseBytes);
  std::size_t bytes = 0;
  if (ask == nullptr ||
      ask(reinterpret_cast<char*>(passphrase.data()), passphrase.size(), &bytes, nullptr, argument) != 1) {
    errors.raise(Reason::kParameter, "no passphrase for the private key");
    return {};
  }
  const unsigned char* in = der.data();
  const Pkcs8Ptr plain(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &in, static_cast<long>(der.size())));
  const EncryptedPtr sealed(plain == nullptr
                                ? nullptr
                                : PKCS8_encrypt_ex(-1, cipher.get(), reinterpret_cast<const char*>(passphrase.data()),
                                                   static_cast<int>(bytes), nullptr, 0, 0, plain.get(), library,
                                                   encoder.cipher_properties.c_str()));
  const int size = sealed == nullptr ? 0 : i2d_X509_SIG(sealed.get(), nullptr);
  SecretBytes out(size > 0 ? static_cast<std::size_t>(size) : 0);
  unsigned char* to = out.data();
  if (!out.empty() && i2d_X509_SIG(sealed.get(), &to) == size) return out;
  errors.raise(Reason::kInternal, "the private key cannot be encrypted with '%s'", encoder.cipher.c_str());
  return {};
}

void append_text(SecretBytes& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

/// Appends a title and the bytes in hexadecimal, fifteen to a line; nothing if there are no bytes.
void append_hex(SecretBytes& out, std::string_view title, ByteView bytes) {
  constexpr std::size_t kBytesInALine = 15;
  // Without a table, which a secret nibble would index.
  const auto digit = [](unsigned v) {
    return static_cast<std::uint8_t>('0' + v + (((9 - v) >> 8) & ('a' - '0' - 10)));
  };
  if (bytes.size() == 0) return;
  append_text(out, title);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    append_text(out, i % kBytesInALine == 0 ? "\n    " : "");
    out.push_back(digit(bytes.data()[i] >> 4));
    out.push_back(digit(bytes.data()[i] & 15U));
    append_text(out, i + 1 < bytes.size() ? ":" : "\n");
  }
}

/// The titles of a key's parts: FIPS 203's names for ML-KEM, as in OpenSSL 3.5, and OpenSSL's usual ones for other
/// keys.
SecretBytes text_of(const Key& key, bool with_private) {
  const bool mlkem = key.algorithm().name.starts_with("ML-KEM-");
  SecretBytes out;
  append_text(out, key.algorithm().name);
  append_text(out, with_private ? " Private-Key:\n" : " Public-Key:\n");
  if (with_private) {
    append_hex(out, "seed:", key.seed());
    append_hex(out, mlkem ? "dk:" : "priv:", key.secret_key());
  }
  append_hex(out, mlkem ? "ek:" : "pub:", key.public_key());
  return out;
}

/// The encoded key; empty with an error raised if it has none of the selected parts.
SecretBytes content_of(const Encoder& encoder, const Key& key, bool with_private, OSSL_PASSPHRASE_CALLBACK* ask,
                       void* argument) {
  if (encoder.form == Form::kText) return text_of(key, with_private);
  SecretBytes der =
      with_private ? private_der(key) : formats::write_public_key(key.algorithm().scheme, key.public_key());
  const bool encrypts = with_private && !encoder.cipher.empty();
  if (encrypts) der = encrypted(encoder, der, ask, argument);
  if (der.empty() || encoder.form == Form::kPublicDer || encoder.form == Form::kPrivateDer) return der;
  SecretBytes pem;
  const std::string_view private_label = encrypts ? formats::kEncryptedLabel : formats::kPrivateKeyLabel;
  formats::append_pem(pem, with_private ? private_label : formats::kPublicKeyLabel, der);
  return pem;
}

int encode(void* data, OSSL_CORE_BIO* out, const void* object, const OSSL_PARAM abstract[], int selection,
           OSSL_PASSPHRASE_CALLBACK* ask, void* argument) {
  const auto& encoder = *static_cast<const Encoder*>(data);
  const Errors& errors = encoder.provider.errors;
  return guarded(errors, [&]() -> int {
    if (abstract != nullptr || object == nullptr) {
      errors.raise(Reason::kParameter, "%s: a key is needed", encoder.algorithm.name.c_str());
      return 0;
    }
    const Key& key = as_key(object);
    const bool with_private =
        encoder.form == Form::kText ? (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 : is_private(encoder.form);
    if (with_private ? !key.has_private() : !key.has_public()) {
      errors.raise(with_private ? Reason::kNoPrivateKey : Reason::kNoPublicKey, "%s", encoder.algorithm.name.c_str());
      return 0;
    }
    const SecretBytes content = content_of(encoder, key, with_private, ask, argument);
    return !content.empty() && encoder.provider.streams.write(out, content.data(), content.size());
  });
}

template <std::size_t kSet, Form kForm>
const OSSL_DISPATCH* functions() {
  static const OSSL_DISPATCH table[] = {
      entry<OSSL_FUNC_encoder_newctx_fn>(OSSL_FUNC_ENCODER_NEWCTX, new_encoder<kSet, kForm>),
      entry<OSSL_FUNC_encoder_freectx_fn>(OSSL_FUNC_ENCODER_FREECTX, free_encoder),
      entry<OSSL_FUNC_encoder_set_ctx_params_fn>(OSSL_FUNC_ENCODER_SET_CTX_PARAMS, set_params),
      entry<OSSL_FUNC_encoder_settable_ctx_params_fn>(OSSL_FUNC_ENCODER_SETTABLE_CTX_PARAMS, settable_params),
      entry<OSSL_FUNC_encoder_does_selection_fn>(OSSL_FUNC_ENCODER_DOES_SELECTION, does_selection<kForm>),
      entry<OSSL_FUNC_encoder_import_object_fn>(OSSL_FUNC_ENCODER_IMPORT_OBJECT, import_object),
      entry<OSSL_FUNC_encoder_free_object_fn>(OSSL_FUNC_ENCODER_FREE_OBJECT, free_object),
      entry<OSSL_FUNC_encoder_encode_fn>(OSSL_FUNC_ENCODER_ENCODE, encode),
      {0, nullptr},
  };
  return table;
}

template <std::size_t... kSet>
std::vector<Coding> encoders(std::index_sequence<kSet...> /*sets*/) {
  std::vector<Coding> out;
  (out.insert(
       out.end(),
       {{kSet, "provider=polykem,output=der,structure=PrivateKeyInfo", functions<kSet, Form::kPrivateDer>()},
        {kSet, "provider=polykem,output=pem,structure=PrivateKeyInfo", functions<kSet, Form::kPrivatePem>()},
        {kSet, "provider=polykem,output=der,structure=SubjectPublicKeyInfo", functions<kSet, Form::kPublicDer>()},
        {kSet, "provider=polykem,output=pem,structure=SubjectPublicKeyInfo", functions<kSet, Form::kPublicPem>()},
        {kSet, "provider=polykem,output=text", functions<kSet, Form::kText>()}}),
   ...);
  return out;
}

}  // namespace

std::vector<OSSL_ALGORITHM> encoder_table(const Offer& offer) {
  return coding_table(offer, encoders(std::make_index_sequence<kCodedSets>()));
}

}  // namespace polykem::provider
