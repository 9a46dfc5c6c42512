// SPDX-License-Identifier: Apache-2.0
#include "lane_products.hpp"
#include "packed_ifma.hpp"
#include "schemes/lac/lanes/product_vnni.hpp"

namespace polykem::lab {

namespace {

void lac_bytes(uint8_t* c, const uint8_t* a, const int8_t* b, size_t n, void* workspace) {
  lac::lanes::multiply(c, a, b, nullptr, n, n, *static_cast<lac::lanes::ScratchVnni*>(workspace));
}

constexpr ByteProduct kBytes[] = {
    {"lac_bytes", "vpdpbusd (VNNI)", sizeof(lac::lanes::ScratchVnni), lac_bytes, 64, true},
};

constexpr PackedProduct kPacked[] = {
    {"packed_ifma", "vpmadd52luq (IFMA), two coefficients in a lane", PackedIfma::workspace_bytes, PackedIfma::mul, 16},
};

}  // namespace

const CpuTables kTablesAvx512 = {"avx512", kLaneList.products, kLaneList.count, kBytes, 1, kPacked, 1};

}  // namespace polykem::lab
