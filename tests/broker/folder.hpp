// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/patience.hpp"

namespace polykem::broker {

using test::eventually;

/// A folder that is removed with its owner.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "polykem-broker-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace polykem::broker
