// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "prim/aes/aes128.hpp"

namespace polykem {

/// AES-128 by look-up tables, only for keys and blocks that are public: both decide addresses. FrodoKEM's matrix is
/// such a use.
extern const Aes128Functions kAes128Tables;

}  // namespace polykem
