// SPDX-License-Identifier: Apache-2.0
// A JSON text with the few names that OpenFHE uses, as a tree in which lists of integers take 8 bytes for each.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <variant>
#include <vector>

#include "ckks/openfhe/secret_bytes.hpp"

namespace polykem::openfhe {

struct JsonField;
struct JsonNode;
using JsonFields = std::vector<JsonField>;
using JsonList = std::vector<JsonNode>;
/// A list that begins with an integer contains only integers.
using JsonWords = std::vector<std::uint64_t, ZeroizingAllocator<std::uint64_t>>;

struct JsonNode {
  std::variant<std::uint64_t, double, bool, std::string, JsonFields, JsonList, JsonWords> value;
};

struct JsonField {
  const char* name = nullptr;  ///< a static string
  bool taken = false;
  JsonNode node;
};

/// Reads a whole text. Throws FormatError for text that is not JSON, for names that OpenFHE does not use, for negative
/// numbers and null, and for text that nests deeper or has more parts than any of OpenFHE's files.
JsonFields read_json(std::istream& in);

}  // namespace polykem::openfhe
