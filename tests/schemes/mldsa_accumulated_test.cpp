// SPDX-License-Identifier: Apache-2.0
// Tests published hashes of many key pairs and signatures of ML-DSA, from data/accumulated.json, on every backend.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "common/input.hpp"
#include "common/prehash.hpp"
#include "kat/coins.hpp"
#include "prim/keccak/keccak.hpp"
#include "support/signer.hpp"

namespace polykem::test {
namespace {

nlohmann::json published(const std::string& set) {
  return nlohmann::json::parse(cli::read_text_maybe_gzip(POLYKEM_MLDSA_VECTORS "/accumulated.json")).at(set);
}

std::string hex(std::span<const uint8_t> bytes, std::string_view digits = "0123456789abcdef") {
  std::string out;
  for (const uint8_t byte : bytes)
    out += {digits[byte >> 4], digits[byte & 15]};
  return out;
}

std::span<const uint8_t> record(const Bytes& all, size_t i, size_t bytes) {
  return std::span(all).subspan(i * bytes, bytes);
}

void expect_all_verify(const Signer& signer, size_t count, const Bytes& pk, const polykem_messages& messages,
                       const Bytes& signatures) {
  const auto items = signer.verify(count, pk, messages, signatures);
  EXPECT_EQ(std::count(items.begin(), items.end(), POLYKEM_OK), static_cast<std::ptrdiff_t>(count));
}

/// CCTV's procedure: seeds from one SHAKE128 stream, public keys and deterministic signatures of the empty message
/// into another.
std::string hash_of_rounds(const Signer& signer, size_t rounds) {
  constexpr size_t kSeedBytes = 32, kBatch = 500;
  Shake seeds(Shake::Strength::kShake128), hash(Shake::Strength::kShake128);
  const polykem_messages empty = deterministic(strings({}, 0, true));
  for (size_t done = 0; done < rounds;) {
    const size_t count = std::min(kBatch, rounds - done);
    Bytes seed(count * kSeedBytes), pk, sk;
    seeds.squeeze(seed);
    signer.keygen(count, seed, pk, sk);
    const Bytes signatures = signer.sign(count, sk, empty);
    expect_all_verify(signer, count, pk, empty, signatures);
    for (size_t i = 0; i < count; ++i) {
      hash.absorb(record(pk, i, signer.info.public_key_bytes));
      hash.absorb(record(signatures, i, signer.info.signature_bytes));
    }
    done += count;
  }
  Bytes out(32);
  hash.squeeze(out);
  return hex(out);
}

/// The random inputs of the 100 counts of NIST's known-answer program.
struct NistCounts {
  static constexpr size_t kCount = 100;
  std::vector<Bytes> seed;   ///< of each count's own generator
  Bytes xi, rnd, text;       ///< of all counts
  std::vector<size_t> ends;  ///< where messages begin and end in `text`

  NistCounts() : ends(1, 0) {
    Bytes entropy(cli::NistDrbg::kSeedBytes);
    for (size_t i = 0; i < entropy.size(); ++i)
      entropy[i] = static_cast<uint8_t>(i);
    cli::NistDrbg all(entropy);
    for (size_t i = 0; i < kCount; ++i) {
      seed.push_back(all.generate(cli::NistDrbg::kSeedBytes));
      append(text, all.generate(33 * (i + 1)));
      ends.push_back(text.size());
      cli::NistDrbg own(seed.back());
      append(xi, own.generate(32));
      append(rnd, own.generate(32));
    }
  }

  std::span<const uint8_t> message(size_t i) const { return std::span(text).subspan(ends[i], ends[i + 1] - ends[i]); }

 private:
  static void append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
};

/// A line of the response file, whose hexadecimal digits are capital letters.
std::string line(std::string_view name, std::span<const uint8_t> bytes, std::span<const uint8_t> more = {}) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return fmt::format("{} = {}{}\n", name, hex(bytes, kDigits), hex(more, kDigits));
}

/// SHA-256 of the response file that NIST's program writes, as liboqs prints it.
std::string hash_of_response_file(const Signer& signer) {
  const NistCounts counts;
  Bytes pk, sk;
  signer.keygen(NistCounts::kCount, counts.xi, pk, sk);
  polykem_messages messages = Signer::messages({counts.text.data(), counts.ends.data(), 0, 0});
  const Bytes signatures = signer.sign(NistCounts::kCount, sk, messages, counts.rnd);
  expect_all_verify(signer, NistCounts::kCount, pk, messages, signatures);
  std::string file;
  for (size_t i = 0; i < NistCounts::kCount; ++i) {
    const auto message = counts.message(i), signature = record(signatures, i, signer.info.signature_bytes);
    file += fmt::format("{}count = {}\n", i == 0 ? "" : "\n", i) + line("seed", counts.seed[i]);
    file += fmt::format("mlen = {}\n", message.size()) + line("msg", message);
    file += line("pk", record(pk, i, signer.info.public_key_bytes));
    file += line("sk", record(sk, i, signer.info.secret_key_bytes));
    file += fmt::format("smlen = {}\n", signature.size() + message.size()) + line("sm", signature, message);
  }
  cli::Prehash sha256("sha256");
  sha256.update({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
  Bytes out;
  sha256.finish(out);
  return hex(out);
}

using Place = std::tuple<std::string, std::string>;  // a set on a backend

class Accumulated : public testing::TestWithParam<Place> {
 protected:
  std::string set() const { return std::get<0>(GetParam()); }
  const Signer signer{set(), std::get<1>(GetParam())};
};

TEST_P(Accumulated, NistKat) {
  EXPECT_EQ(hash_of_response_file(signer), published(set()).at("nist_kat").get<std::string>());
}

TEST_P(Accumulated, Cctv100) {
  EXPECT_EQ(hash_of_rounds(signer, 100), published(set()).at("cctv").at("100").get<std::string>());
}

class Accumulated10000 : public Accumulated {};

TEST_P(Accumulated10000, Cctv) {
  EXPECT_EQ(hash_of_rounds(signer, 10000), published(set()).at("cctv").at("10000").get<std::string>());
}

std::vector<Place> places() {
  std::vector<Place> out;
  for (const std::string& backend : backends()) {
    for (const char* set : {"ML-DSA-44", "ML-DSA-65", "ML-DSA-87"})
      out.emplace_back(set, backend);
  }
  return out;
}

std::string place_name(const testing::TestParamInfo<Place>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Accumulated, testing::ValuesIn(places()), place_name);
INSTANTIATE_TEST_SUITE_P(Full, Accumulated10000, testing::ValuesIn(places()), place_name);

}  // namespace
}  // namespace polykem::test
