// SPDX-License-Identifier: Apache-2.0
#include "lane_products.hpp"
#include "schemes/lac/lanes/product_avx2.hpp"

namespace polykem::lab {

namespace {

void lac_bytes(uint8_t* c, const uint8_t* a, const int8_t* b, size_t n, void* workspace) {
  lac::lanes::multiply(c, a, b, nullptr, n, n, *static_cast<lac::lanes::ScratchAvx2*>(workspace));
}

constexpr ByteProduct kBytes[] = {
    {"lac_bytes", "vpmaddubsw", sizeof(lac::lanes::ScratchAvx2), lac_bytes, 32, true},
};

}  // namespace

const CpuTables kTablesAvx2 = {"avx2", kLaneList.products, kLaneList.count, kBytes, 1, nullptr, 0};

}  // namespace polykem::lab
