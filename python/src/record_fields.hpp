// SPDX-License-Identifier: Apache-2.0
// The arrays of records of a polykem_request. tests/capi/record_fields_test.cpp compares them with the library's.
#pragma once

#include <polykem/polykem.h>

#include <cstddef>
#include <cstdint>

namespace polykem::python {

/// The lengths of the records of a request.
struct RecordLengths {
  std::size_t coins, pk, sk, ct, ss, sig;
};

inline RecordLengths record_lengths(const polykem_scheme_info_t& info, const polykem_request& request) {
  const bool seeds =
      (request.op == POLYKEM_DECAPS || request.op == POLYKEM_SIGN) && request.secret_form == POLYKEM_SECRET_SEED;
  const std::size_t coins = request.op == POLYKEM_KEYGEN   ? info.keygen_coin_bytes
                            : request.op == POLYKEM_ENCAPS ? info.encaps_coin_bytes
                            : request.op == POLYKEM_SIGN   ? info.sign_coin_bytes
                                                           : 0;
  return {coins,
          info.public_key_bytes,
          seeds ? info.secret_seed_bytes : info.secret_key_bytes,
          info.ciphertext_bytes,
          info.shared_secret_bytes,
          info.signature_bytes};
}

struct RecordField {
  const char* argument;                      ///< its name where a request is made
  const char* name;                          ///< its name in errors
  const std::uint8_t* polykem_request::*in;  ///< the member, if the array is an input; else null
  std::uint8_t* polykem_request::*out;       ///< the member, if the array is an output; else null
  std::size_t RecordLengths::*length;
  bool key;  ///< with POLYKEM_KEY_SHARED one record for all items
};

inline constexpr RecordField kRecordFields[] = {
    {"coins", "coins", &polykem_request::coins, nullptr, &RecordLengths::coins, false},
    {"pk", "pk", &polykem_request::pk, nullptr, &RecordLengths::pk, true},
    {"sk", "sk", &polykem_request::sk, nullptr, &RecordLengths::sk, true},
    {"ct", "ct", &polykem_request::ct, nullptr, &RecordLengths::ct, false},
    {"pk_out", "pk", nullptr, &polykem_request::pk_out, &RecordLengths::pk, false},
    {"sk_out", "sk", nullptr, &polykem_request::sk_out, &RecordLengths::sk, false},
    {"ct_out", "ct", nullptr, &polykem_request::ct_out, &RecordLengths::ct, false},
    {"ss_out", "ss", nullptr, &polykem_request::ss_out, &RecordLengths::ss, false},
    {"sig", "sig", &polykem_request::sig, nullptr, &RecordLengths::sig, false},
    {"sig_out", "sig", nullptr, &polykem_request::sig_out, &RecordLengths::sig, false},
};

}  // namespace polykem::python
