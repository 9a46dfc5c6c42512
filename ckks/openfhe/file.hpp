// SPDX-License-Identifier: Apache-2.0
// Files that may hold a secret key: std::ifstream and std::ofstream whose buffers are zeroized.
#pragma once

#include <fstream>

#include "ckks/openfhe/secret_bytes.hpp"

namespace polykem::openfhe {

struct FileBuffer {
  static constexpr std::size_t kBytes = std::size_t{1} << 16;
  SecretBytes bytes = SecretBytes(kBytes);
};

/// The buffer is a base class, so that it outlives the stream, which writes the buffer's contents when it is closed.
template <class Stream>
class SecretFile : private FileBuffer, public Stream {
 public:
  SecretFile(const char* path, std::ios_base::openmode mode) {
    this->rdbuf()->pubsetbuf(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    this->open(path, mode);
  }
};
using InFile = SecretFile<std::ifstream>;
using OutFile = SecretFile<std::ofstream>;

}  // namespace polykem::openfhe
