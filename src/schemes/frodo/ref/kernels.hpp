// SPDX-License-Identifier: Apache-2.0
// The portable functions of schemes/frodo/kernels.hpp, for tables that mix them with others.
#pragma once

#include "schemes/frodo/kernels.hpp"

namespace polykem::frodo::ref {

void sample(uint16_t* words, size_t count, const Cdf& cdf);
void pack(uint8_t* out, const uint16_t* in, size_t count, unsigned logq);
void unpack(uint16_t* out, const uint8_t* in, size_t count, unsigned logq);
void unpack_transposed(Matrix16 out, const uint8_t* in, size_t n, unsigned logq);

}  // namespace polykem::frodo::ref
