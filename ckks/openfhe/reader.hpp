// SPDX-License-Identifier: Apache-2.0
// The interface of readers of both forms of files: fields are requested in order, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "ckks/openfhe/error.hpp"

namespace polykem::openfhe {

/// Fields have names. Elements of a list have none; nullptr requests the next one. All functions throw FormatError.
class Reader {
 public:
  static constexpr bool kReading = true;

  virtual ~Reader() = default;

  void open(const char* name);
  void close();
  /// Returns the number of elements, which is at most `max_count`.
  std::size_t open_list(const char* name, std::size_t max_count);
  void close_list();

  template <class T>
  void number(const char* name, T& value) {
    if constexpr (std::is_enum_v<T>) {
      auto code = std::underlying_type_t<T>{};
      number(name, code);
      value = static_cast<T>(code);
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(real(name, sizeof(T)));
    } else {
      const std::uint64_t wide = integer(name, sizeof(T));
      if (wide > std::numeric_limits<T>::max()) fail_at(name, "is too large");
      value = static_cast<T>(wide);
    }
  }
  virtual void flag(const char* name, bool& value) = 0;
  /// Reads text of at most 256 bytes.
  virtual void text(const char* name, std::string& value) = 0;
  /// Reads at most `max_count` integers.
  virtual void words(const char* name, std::vector<std::uint64_t>& values, std::size_t max_count) = 0;
  /// Must be called at the end. Throws if anything is left.
  virtual void finish() = 0;

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(const char* name, const std::string& what) const;

 protected:
  static constexpr std::size_t kMaxTextBytes = 256;

 private:
  struct Step {
    const char* name;
    std::size_t index;
    std::size_t elements;
  };

  virtual void enter(const char* name) = 0;
  virtual void leave() = 0;
  virtual std::size_t enter_list(const char* name) = 0;
  virtual void leave_list() = 0;
  virtual std::uint64_t integer(const char* name, std::size_t bytes) = 0;
  virtual double real(const char* name, std::size_t bytes) = 0;

  void descend(const char* name);
  std::string place() const;

  std::vector<Step> path_;
};

}  // namespace polykem::openfhe
