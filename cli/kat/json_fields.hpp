// SPDX-License-Identifier: Apache-2.0
// Fields of a known-answer file in JSON. All functions throw CliError (bad input), which names the field.
#pragma once

#include <polykem/polykem.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/json_out.hpp"

namespace polykem::cli {

/// JSON text as a value. Throws CliError (bad input) with the position.
Json parse_json(std::string_view text);

/// Bytes from hex digits of either case. Throws CliError (bad input).
Bytes parse_hex(std::string_view text);

/// A string of hex digits.
Bytes json_hex(const Json& object, const char* key);

/// A string.
std::string json_string(const Json& object, const char* key);

/// A number, zero or more.
std::uint64_t json_number(const Json& object, const char* key);

/// true or false.
bool json_bool(const Json& object, const char* key);

/// A list.
const Json& json_list(const Json& object, const char* key);

}  // namespace polykem::cli
