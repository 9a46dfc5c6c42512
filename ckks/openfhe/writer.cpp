// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/writer.hpp"

namespace polykem::openfhe {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

}  // namespace

Writer::Writer(std::ostream& out) : out_(out) {
  buffer_.reserve(kBufferBytes);
}

void Writer::put(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() > kBufferBytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void Writer::flush() {
  out_.write(reinterpret_cast<const char*>(buffer_.data()), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
  if (!out_) throw std::ios_base::failure("the file could not be written");
}

}  // namespace polykem::openfhe
