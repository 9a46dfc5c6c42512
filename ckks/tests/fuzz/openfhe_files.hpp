// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes are refused with an error or read as a file of OpenFHE. What is read can be written in both forms,
// and reading that gives the same object.
#pragma once

#include <optional>

#include "ckks/openfhe/openfhe.hpp"
#include "tests/fuzz/common.hpp"

namespace polykem::fuzz {

template <class T>
std::optional<T> read_openfhe_file(std::span<const std::uint8_t> bytes) {
  try {
    return openfhe::read<T>(bytes);
  } catch (const openfhe::FormatError&) {
    return std::nullopt;
  }
}

template <class T>
void check_openfhe_file(std::span<const std::uint8_t> bytes) {
  using openfhe::Form;
  const std::optional<T> object = read_openfhe_file<T>(bytes);
  if (!object) return;
  const auto binary = openfhe::write(*object, Form::kBinary);
  const auto json = openfhe::write(*object, Form::kJson);
  require(openfhe::write(openfhe::read<T>(binary), Form::kBinary) == binary, "the same object from the binary form");
  require(openfhe::write(openfhe::read<T>(json), Form::kBinary) == binary, "the same object from JSON");
}

/// Reads the bytes as a file of every kind. Returns what LLVMFuzzerTestOneInput returns.
inline int check_openfhe_files(std::span<const std::uint8_t> bytes) {
  check_openfhe_file<openfhe::Context>(bytes);
  check_openfhe_file<openfhe::PublicKey>(bytes);
  check_openfhe_file<openfhe::SecretKey>(bytes);
  check_openfhe_file<openfhe::Ciphertext>(bytes);
  check_openfhe_file<openfhe::RelinearisationKeys>(bytes);
  check_openfhe_file<openfhe::AutomorphismKeys>(bytes);
  return 0;
}

}  // namespace polykem::fuzz
