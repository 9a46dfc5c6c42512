// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "ckks/openfhe/openfhe.hpp"

namespace polykem::openfhe::test {

inline std::string file(const std::string& name) {
  std::ifstream in(std::string(POLYKEM_TEST_DATA) + "/openfhe/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
T parse(const std::string& bytes) {
  return read<T>(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

template <class T>
T load(const std::string& name) {
  return parse<T>(file(name));
}

template <class T>
std::string bytes_of(const T& object, Form form) {
  const SecretBytes bytes = write(object, form);
  return {bytes.begin(), bytes.end()};
}

/// Returns the error for refused bytes, or "accepted".
template <class T>
std::string refusal(const std::string& bytes) {
  try {
    parse<T>(bytes);
  } catch (const FormatError& e) {
    return e.what();
  }
  return "accepted";
}

/// Returns the same for an object that is written.
template <class T>
std::string refusal_of(const T& object) {
  try {
    write(object, Form::kBinary);
  } catch (const FormatError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace polykem::openfhe::test
