// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda/imma_tables.hpp"

namespace polykem::ckks::cuda {

namespace {

constexpr int kLogN = 16;

/// Powers of psi and their inverses modulo one prime.
class Powers {
 public:
  explicit Powers(const PrimeRoot& prime) : q(prime.q), table_(size_t{2} << kLogN) {
    uint64_t power = 1;
    for (uint64_t& entry : table_) {
      entry = power;
      power = multiply_mod(power, prime.psi, q);
    }
  }
  uint64_t of(uint64_t exponent, bool inverse) const {
    const uint64_t order = table_.size(), e = exponent % order;
    return table_[inverse ? (order - e) % order : e];
  }
  const uint64_t q;

 private:
  std::vector<uint64_t> table_;
};

/// Appends the matrix for products whose operands are whole words: [group of eight rows][step of eight columns][two
/// tiles][lane][4 words], entries times 2^32; see Conversion::fragments.
template <class Entry>
void add_whole_matrix(std::vector<uint32_t>& words, uint32_t size, uint64_t q, const Entry& entry) {
  for (uint32_t part = 0; part < size / 8 * (size / 8) * 2; ++part) {
    const uint32_t group = part / 2 / (size / 8), step = part / 2 % (size / 8), tile = part % 2;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t word = 0; word < 4; ++word) {
        const uint32_t row = 8 * group + lane / 4, column = 8 * step + 4 * (word / 2) + lane % 4;
        uint64_t value = multiply_mod(entry(row, column), (uint64_t{1} << 32) % q, q);
        uint32_t packed = 0;
        for (int a = 0; a < 4; ++a) {
          packed |= static_cast<uint32_t>(value >> (8 * (2 * tile + word % 2)) & 0xff) << (8 * a);
          value = value * 256 % q;
        }
        words.push_back(packed);
      }
    }
  }
}

/// Appends the matrix for products of single bytes: [tile of sixteen rows][step of 32 columns][byte][lane][4 words].
template <class Entry>
void add_split_matrix(std::vector<uint32_t>& words, const Entry& entry) {
  for (uint32_t part = 0; part < 16 * 8 * 4; ++part) {
    const uint32_t tile = part / 32, step = part / 4 % 8, byte = part % 4;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t word = 0; word < 4; ++word) {
        const uint32_t row = 16 * tile + lane / 4 + 8 * (word % 2);
        const uint32_t column = 32 * step + 16 * (word / 2) + 4 * (lane % 4);
        uint32_t packed = 0;
        for (uint32_t a = 0; a < 4; ++a)
          packed |= static_cast<uint32_t>(entry(row, column + a) >> (8 * byte) & 0xff) << (8 * a);
        words.push_back(packed);
      }
    }
  }
}

void add_split(HostImmaTables::Split& tables, const Powers& powers, bool inverse) {
  const uint64_t scale = inverse ? inverse_mod(256, powers.q) : 1;
  const auto scaled = [&](uint64_t exponent) { return multiply_mod(powers.of(exponent, inverse), scale, powers.q); };
  add_split_matrix(tables.columns, [&](uint32_t row, uint32_t column) {
    const uint64_t g = inverse ? column : row, k = inverse ? row : column;
    return scaled(256 * k * (2 * reverse_bits(static_cast<uint32_t>(g), 8) + 1));
  });
  add_split_matrix(tables.rows, [&](uint32_t row, uint32_t column) {
    const uint64_t m = inverse ? column : row, j = inverse ? row : column;
    return scaled(512 * j * reverse_bits(static_cast<uint32_t>(m), 8));
  });
  for (uint64_t place = 0; place < 65536; ++place) {
    const uint64_t odd = 2 * reverse_bits(static_cast<uint32_t>(place / 256), 8) + 1;
    tables.twist.push_back(make_factor<uint32_t>(powers.of(place % 256 * odd, inverse), powers.q));
  }
}

/// Appends the matrix of a pass of 2^bits points. stride: D where it holds the factors of the only group, else 0.
void add_pass(std::vector<uint32_t>& words, const Powers& powers, int bits, uint64_t stride, bool inverse) {
  const uint32_t size = 1u << bits;
  const uint64_t scale = inverse ? inverse_mod(size, powers.q) : 1;
  add_whole_matrix(words, size, powers.q, [&](uint32_t row, uint32_t column) {
    const uint64_t m = inverse ? column : row, k = inverse ? row : column;
    const uint64_t root = (uint64_t{2} << kLogN) / size * reverse_bits(static_cast<uint32_t>(m), bits);
    return multiply_mod(powers.of(k * (root + stride), inverse), scale, powers.q);
  });
}

template <class Passes>
void add_one_pass(HostImmaTables::OnePass& tables, const Powers& powers, bool inverse) {
  add_pass(tables.first, powers, Passes::kFirstBits, (uint64_t{1} << kLogN) >> Passes::kFirstBits, inverse);
  add_pass(tables.later, powers, Passes::kLaterBits, 0, inverse);
  for (int level = Passes::kFirstBits; level < kLogN; level += Passes::kLaterBits) {
    const uint64_t stride = (uint64_t{1} << kLogN) >> (level + Passes::kLaterBits);
    for (uint64_t k = 0; k < uint64_t{1} << Passes::kLaterBits; ++k) {
      for (uint32_t g = 0; g < 1u << level; ++g)
        tables.twist.push_back(
            make_factor<uint32_t>(powers.of(k * stride * (2 * reverse_bits(g, level) + 1), inverse), powers.q));
    }
  }
}

}  // namespace

HostImmaTables make_imma_tables(const std::vector<PrimeRoot>& primes) {
  HostImmaTables tables;
  for (const PrimeRoot& prime : primes) {
    const Powers powers(prime);
    for (bool inverse : {false, true}) {
      add_split(tables.split[inverse], powers, inverse);
      add_one_pass<Passes64>(tables.by_64_32_32[inverse], powers, inverse);
      add_one_pass<Passes16>(tables.by_16[inverse], powers, inverse);
    }
  }
  return tables;
}

}  // namespace polykem::ckks::cuda
