// SPDX-License-Identifier: Apache-2.0
#include "ckks/openfhe/binary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace polykem::openfhe {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kLittleEndian = 1;
/// The number of words that are read at once, so that a false count alone cannot cause a large allocation.
constexpr std::size_t kPieceWords = 1024;

}  // namespace

BinaryReader::BinaryReader(std::streambuf& in) : in_(in) {
  char order = 0;
  take(nullptr, &order, 1);
  if (order != kLittleEndian) fail("the file is big-endian or not one of OpenFHE");
}

void BinaryReader::take(const char* name, void* out, std::size_t bytes) {
  const auto got = in_.sgetn(static_cast<char*>(out), static_cast<std::streamsize>(bytes));
  offset_ += static_cast<std::uint64_t>(got);
  if (got != static_cast<std::streamsize>(bytes)) {
    fail_at(name, "is cut off: the file ends at byte " + std::to_string(offset_));
  }
}

std::uint64_t BinaryReader::integer(const char* name, std::size_t bytes) {
  std::uint64_t value = 0;
  take(name, &value, bytes);
  return value;
}

double BinaryReader::real(const char* name, std::size_t bytes) {
  const std::uint64_t bits = integer(name, bytes);
  if (bytes == sizeof(float)) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

std::size_t BinaryReader::enter_list(const char* name) {
  return integer(name, sizeof(std::uint64_t));
}

void BinaryReader::flag(const char* name, bool& value) {
  const std::uint64_t byte = integer(name, 1);
  if (byte > 1) fail_at(name, "is neither 0 nor 1");
  value = byte != 0;
}

void BinaryReader::text(const char* name, std::string& value) {
  const std::uint64_t length = integer(name, sizeof length);
  if (length > kMaxTextBytes) fail_at(name, "is a text of " + std::to_string(length) + " bytes");
  value.resize(length);
  take(name, value.data(), length);
}

void BinaryReader::words(const char* name, std::vector<std::uint64_t>& values, std::size_t max_count) {
  const std::uint64_t count = integer(name, sizeof count);
  if (count > max_count) {
    fail_at(name, "has " + std::to_string(count) + " elements, more than " + std::to_string(max_count));
  }
  scratch_.clear();
  while (scratch_.size() < count) {
    const std::size_t have = scratch_.size();
    const std::size_t piece = std::min<std::size_t>(kPieceWords, count - have);
    scratch_.resize(have + piece);
    take(name, scratch_.data() + have, piece * sizeof(std::uint64_t));
  }
  values.assign(scratch_.begin(), scratch_.end());
}

void BinaryReader::finish() {
  if (in_.sgetc() != std::streambuf::traits_type::eof()) {
    fail("the object ends at byte " + std::to_string(offset_) + ", but the file goes on");
  }
}

BinaryWriter::BinaryWriter(std::ostream& out) : Writer(out) {
  put({&kLittleEndian, 1});
}

void BinaryWriter::integer(const char*, std::uint64_t value, std::size_t bytes) {
  put({reinterpret_cast<const char*>(&value), bytes});
}

void BinaryWriter::real(const char* name, double value, std::size_t bytes) {
  if (bytes == sizeof(float)) {
    integer(name, std::bit_cast<std::uint32_t>(static_cast<float>(value)), bytes);
  } else {
    integer(name, std::bit_cast<std::uint64_t>(value), bytes);
  }
}

void BinaryWriter::open_list(const char* name, std::size_t count) {
  integer(name, count, sizeof(std::uint64_t));
}

void BinaryWriter::flag(const char* name, bool value) {
  integer(name, value ? 1 : 0, 1);
}

void BinaryWriter::text(const char* name, const std::string& value) {
  open_list(name, value.size());
  put(value);
}

void BinaryWriter::words(const char* name, const std::vector<std::uint64_t>& values) {
  open_list(name, values.size());
  put({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::uint64_t)});
}

}  // namespace polykem::openfhe
