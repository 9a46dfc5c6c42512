// SPDX-License-Identifier: Apache-2.0
// The interface of writers of both forms of files, the counterpart of reader.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ckks/openfhe/secret_bytes.hpp"

namespace polykem::openfhe {

/// Fields have names; those of a list's elements are nullptr.
class Writer {
 public:
  static constexpr bool kReading = false;

  explicit Writer(std::ostream& out);
  virtual ~Writer() = default;

  virtual void open(const char* name) = 0;
  virtual void close() = 0;
  virtual void open_list(const char* name, std::size_t count) = 0;
  virtual void close_list() = 0;

  template <class T>
  void number(const char* name, T value) {
    if constexpr (std::is_enum_v<T>) {
      integer(name, static_cast<std::underlying_type_t<T>>(value), sizeof(T));
    } else if constexpr (std::is_floating_point_v<T>) {
      real(name, value, sizeof(T));
    } else {
      integer(name, value, sizeof(T));
    }
  }
  virtual void flag(const char* name, bool value) = 0;
  virtual void text(const char* name, const std::string& value) = 0;
  virtual void words(const char* name, const std::vector<std::uint64_t>& values) = 0;
  /// Must be called at the end. Throws std::ios_base::failure if the stream has failed.
  virtual void finish() = 0;

 protected:
  void put(std::string_view bytes);
  void flush();

 private:
  virtual void integer(const char* name, std::uint64_t value, std::size_t bytes) = 0;
  virtual void real(const char* name, double value, std::size_t bytes) = 0;

  std::ostream& out_;
  SecretBytes buffer_;
};

}  // namespace polykem::openfhe
