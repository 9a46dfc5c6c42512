// SPDX-License-Identifier: Apache-2.0
// Announces TLS groups to libssl and, from OpenSSL 3.2 on, signature algorithms.
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/prov_ssl.h>
#include <openssl/ssl.h>

#include <strings.h>

#include <algorithm>

#include "formats/keys.hpp"
#include "provider.hpp"

namespace polykem::provider {

namespace {

// OSSL_CAPABILITY_TLS_SIGALG_... of OpenSSL 3.2
constexpr const char* kIanaName = "tls-sigalg-iana-name";
constexpr const char* kSignatureName = "tls-sigalg-name";
constexpr const char* kSignatureOid = "tls-sigalg-oid";
constexpr const char* kCodePoint = "tls-sigalg-code-point";
constexpr const char* kSecurityBits = "tls-sigalg-sec-bits";

OSSL_PARAM text(const char* key, const std::string& value) {
  return OSSL_PARAM_construct_utf8_string(key, const_cast<char*>(value.c_str()), value.size() + 1);
}

/// Calls back with `own` and the protocol versions: TLS 1.3 and newer, and no DTLS, which has no version 1.3 yet. The
/// parameters' names are those of groups, which OpenSSL also uses for signature algorithms.
template <std::size_t kCount>
int offer(const OSSL_PARAM (&own)[kCount], OSSL_CALLBACK* callback, void* argument) {
  int min_tls = TLS1_3_VERSION, no_limit = 0, never = -1;
  OSSL_PARAM params[kCount + 5] = {};
  OSSL_PARAM* next = std::copy_n(own, kCount, params);
  *next++ = OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_TLS, &min_tls);
  *next++ = OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_TLS, &no_limit);
  *next++ = OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MIN_DTLS, &never);
  *next++ = OSSL_PARAM_construct_int(OSSL_CAPABILITY_TLS_GROUP_MAX_DTLS, &never);
  *next = OSSL_PARAM_construct_end();
  return callback(params, argument);
}

int offer_group(const Group& group, const Algorithm& algorithm, OSSL_CALLBACK* callback, void* argument) {
  unsigned id = group.id, is_kem = 1, security_bits = static_cast<unsigned>(algorithm.security_bits());
  const OSSL_PARAM params[] = {text(OSSL_CAPABILITY_TLS_GROUP_NAME, group.name),
                               text(OSSL_CAPABILITY_TLS_GROUP_NAME_INTERNAL, group.name),
                               text(OSSL_CAPABILITY_TLS_GROUP_ALG, algorithm.name),
                               OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_ID, &id),
                               OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_SECURITY_BITS, &security_bits),
                               OSSL_PARAM_construct_uint(OSSL_CAPABILITY_TLS_GROUP_IS_KEM, &is_kem)};
  return offer(params, callback, argument);
}

int offer_signature(const SignatureAlgorithm& signature, const Algorithm& algorithm, OSSL_CALLBACK* callback,
                    void* argument) {
  const std::string iana_name = signature.name, oid = formats::object_identifier(algorithm.scheme);
  unsigned code_point = signature.code_point, security_bits = static_cast<unsigned>(algorithm.security_bits());
  const OSSL_PARAM params[] = {text(kIanaName, iana_name), text(kSignatureName, algorithm.name),
                               text(kSignatureOid, oid), OSSL_PARAM_construct_uint(kCodePoint, &code_point),
                               OSSL_PARAM_construct_uint(kSecurityBits, &security_bits)};
  return offer(params, callback, argument);
}

}  // namespace

int get_capabilities(void* provider, const char* capability, OSSL_CALLBACK* callback, void* argument) {
  const Offer& offer = as_provider(provider).offer;
  if (strcasecmp(capability, "TLS-SIGALG") == 0) {
    for (const SignatureAlgorithm& each : offer.signature_algorithms)
      if (offer_signature(each, offer.algorithms[each.algorithm], callback, argument) != 1) return 0;
    return 1;
  }
  if (strcasecmp(capability, "TLS-GROUP") != 0) return 0;
  for (const Group& group : offer.groups) {
    if (group.id != 0 && offer_group(group, offer.algorithms[group.algorithm], callback, argument) != 1) return 0;
  }
  return 1;
}

}  // namespace polykem::provider
