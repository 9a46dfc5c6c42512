// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/scheme.hpp"
#include "schemes/mlkem/params.hpp"

namespace polykem::mlkem {

/// Returns the lengths of the records of set P in an operation.
template <MlkemParams P>
constexpr RecordBytes record_bytes(Op op) {
  const size_t coins = op == Op::kKeygen ? kKeygenCoinBytes : op == Op::kEncaps ? kEncapsCoinBytes : 0;
  return {P.public_key_bytes(), P.secret_key_bytes(), P.ciphertext_bytes(), kSymBytes, coins};
}

}  // namespace polykem::mlkem
