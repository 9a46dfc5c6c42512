// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace polykem::formats {

/// The input is malformed. what() is a sentence that does not name the file, hint() says what to do (may be empty).
class FormatError : public std::runtime_error {
 public:
  explicit FormatError(const std::string& what, std::string hint = {})
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const noexcept { return hint_; }

 private:
  std::string hint_;
};

}  // namespace polykem::formats
