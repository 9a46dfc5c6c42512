// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/schema.hpp"

#include <bit>

namespace polykem::openfhe {
namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

std::vector<std::uint64_t> product(const Moduli& moduli) {
  std::vector<std::uint64_t> words = {1};
  for (const Modulus& modulus : moduli) {
    unsigned __int128 carry = 0;
    for (std::uint64_t& word : words) {
      carry += static_cast<unsigned __int128>(word) * modulus.value;
      word = static_cast<std::uint64_t>(carry);
      carry >>= kWordBits;
    }
    if (carry != 0) words.push_back(static_cast<std::uint64_t>(carry));
  }
  return words;
}

std::uint32_t bits_of(const std::vector<std::uint64_t>& number) {
  for (std::size_t i = number.size(); i-- > 0;) {
    if (number[i] != 0) return static_cast<std::uint32_t>(i * kWordBits + std::bit_width(number[i]));
  }
  return 0;
}

void demand_class(Reader& reader, const std::string& name, const std::string& wanted) {
  if (name == wanted) return;
  for (const char* other : {"BFVRNS", "BGVRNS"}) {
    if (name.find(other) != std::string::npos) {
      reader.fail("belongs to the scheme " + std::string(other, 3) + ": only CKKS is supported");
    }
  }
  reader.fail_at("polymorphic_name", "is not " + wanted);
}

}  // namespace polykem::openfhe
