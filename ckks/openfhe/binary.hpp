// SPDX-License-Identifier: Apache-2.0
// The portable binary form of cereal: a byte, which is 1 if numbers are little-endian, then values without names.
// Counts and lengths have 8 bytes.
#pragma once

#include <streambuf>

#include "ckks/openfhe/reader.hpp"
#include "ckks/openfhe/writer.hpp"

namespace polykem::openfhe {

class BinaryReader final : public Reader {
 public:
  /// Reads the first byte.
  explicit BinaryReader(std::streambuf& in);

  void flag(const char* name, bool& value) override;
  void text(const char* name, std::string& value) override;
  void words(const char* name, std::vector<std::uint64_t>& values, std::size_t max_count) override;
  void finish() override;

 private:
  void enter(const char*) override {}
  void leave() override {}
  std::size_t enter_list(const char* name) override;
  void leave_list() override {}
  std::uint64_t integer(const char* name, std::size_t bytes) override;
  double real(const char* name, std::size_t bytes) override;

  void take(const char* name, void* out, std::size_t bytes);

  std::streambuf& in_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t, ZeroizingAllocator<std::uint64_t>> scratch_;
};

class BinaryWriter final : public Writer {
 public:
  explicit BinaryWriter(std::ostream& out);

  void open(const char*) override {}
  void close() override {}
  void open_list(const char* name, std::size_t count) override;
  void close_list() override {}
  void flag(const char* name, bool value) override;
  void text(const char* name, const std::string& value) override;
  void words(const char* name, const std::vector<std::uint64_t>& values) override;
  void finish() override { flush(); }

 private:
  void integer(const char* name, std::uint64_t value, std::size_t bytes) override;
  void real(const char* name, double value, std::size_t bytes) override;
};

}  // namespace polykem::openfhe
