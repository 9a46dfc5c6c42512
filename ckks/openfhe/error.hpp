// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace polykem::openfhe {

/// The text is not an object of the expected type. what() is a sentence that names the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace polykem::openfhe
