// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace polykem::openfhe {

/// What is read is no such object: what() is a sentence that names the place.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace polykem::openfhe
