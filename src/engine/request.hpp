// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "engine/keyset.hpp"

namespace polykem {

/// One batch as the caller asked for it; the fields mean what polykem_request documents.
struct Request {
  Op op = Op::keygen;
  bool shared_key = false;
  bool sk_is_seed = false;
  const Scheme* scheme = nullptr;
  size_t count = 0;
  const uint8_t* draws = nullptr;
  const uint8_t* pk = nullptr;
  const uint8_t* sk = nullptr;
  const uint8_t* ct = nullptr;
  uint8_t* pk_out = nullptr;
  uint8_t* sk_out = nullptr;
  uint8_t* ct_out = nullptr;
  uint8_t* ss_out = nullptr;
  Status* item_status = nullptr;
  const KeySet* keyset = nullptr;
  const size_t* key_index = nullptr;
};

/// Status::ok, or what is wrong with the request as a whole.
Status validate(const Request& request);

/// Sets every output record of the request to zero.
void zero_outputs(const Request& request);

}  // namespace polykem
