// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <polykem/polykem.hpp>

#include <string>
#include <string_view>

#include "formats/error.hpp"

namespace polykem::formats {

inline SecretBytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

inline std::string text_of(const SecretBytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Expects that `call` throws a FormatError whose sentence has these words.
template <class Call>
void expect_refused(Call call, std::string_view words) {
  try {
    call();
    ADD_FAILURE() << "was not refused; expected: " << words;
  } catch (const FormatError& e) {
    EXPECT_NE(std::string_view(e.what()).find(words), std::string_view::npos) << e.what();
  }
}

}  // namespace polykem::formats
