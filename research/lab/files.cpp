// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace polykem::lab {

bool is_replaceable(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, ignored);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

void write_file(const std::string& path, const std::string& text) {
  const bool replace = is_replaceable(path);
  const std::string written = replace ? path + ".new" : path;
  std::ofstream out(written);
  out << text;
  out.close();
  if (!out || (replace && std::rename(written.c_str(), path.c_str()) != 0))
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace polykem::lab
