// SPDX-License-Identifier: Apache-2.0
// Implementations of P-256 and P-384; `curve` is one of these two.
#pragma once

#include "prim/ecdh/ecdh.hpp"

namespace polykem::ecdh {

const Implementation& nist_portable(Curve curve);
const Implementation& nist_avx512(Curve curve);

}  // namespace polykem::ecdh
