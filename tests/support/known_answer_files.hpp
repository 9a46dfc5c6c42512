// SPDX-License-Identifier: Apache-2.0
// The known-answer files of tests/data, and the number of cases that each must have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/input.hpp"
#include "kat/formats.hpp"

namespace polykem::cli {

inline constexpr const char* kAccumulated = "accumulated.json";

/// Cases of the files that do not hold ten counts of NIST's KAT program.
inline const std::map<std::string, std::size_t> kCases = {
    {"acvp/2024-08_f38183487e/ML-KEM-encapDecap-FIPS203/internalProjection.json.gz", 105},
    {"acvp/2024-08_f38183487e/ML-KEM-keyGen-FIPS203/internalProjection.json.gz", 75},
    {"acvp/v1.1.0.43/ML-KEM-encapDecap-FIPS203-tr1/internalProjection.json.gz", 195},
    {"acvp/v1.1.0.43/ML-KEM-encapDecap-FIPS203/internalProjection.json.gz", 165},
    {"acvp/v1.1.0.43/ML-KEM-keyGen-FIPS203/internalProjection.json.gz", 75},
    {"cctv/intermediate/ML-KEM-1024.txt.gz", 2},  // one key pair under Kyber, one exchange under ML-KEM
    {"cctv/intermediate/ML-KEM-512.txt.gz", 2},
    {"cctv/intermediate/ML-KEM-768.txt.gz", 2},
    {"cctv/modulus/ML-KEM-1024.txt.gz", 1040},
    {"cctv/modulus/ML-KEM-512.txt.gz", 775},
    {"cctv/modulus/ML-KEM-768.txt.gz", 780},
    {"cctv/strcmp/ML-KEM-1024.txt.gz", 1},
    {"cctv/strcmp/ML-KEM-512.txt.gz", 1},
    {"cctv/strcmp/ML-KEM-768.txt.gz", 1},
    {"cctv/unluckysample/ML-KEM-1024.txt.gz", 2},
    {"cctv/unluckysample/ML-KEM-512.txt.gz", 2},
    {"cctv/unluckysample/ML-KEM-768.txt.gz", 2},
    {"wycheproof/mlkem_1024_encaps_test.json.gz", 269},
    {"wycheproof/mlkem_1024_keygen_seed_test.json.gz", 100},
    {"wycheproof/mlkem_1024_semi_expanded_decaps_test.json.gz", 9},
    {"wycheproof/mlkem_1024_test.json.gz", 193},
    {"wycheproof/mlkem_512_encaps_test.json.gz", 261},
    {"wycheproof/mlkem_512_keygen_seed_test.json.gz", 100},
    {"wycheproof/mlkem_512_semi_expanded_decaps_test.json.gz", 9},
    {"wycheproof/mlkem_512_test.json.gz", 193},
    {"wycheproof/mlkem_768_encaps_test.json.gz", 265},
    {"wycheproof/mlkem_768_keygen_seed_test.json.gz", 100},
    {"wycheproof/mlkem_768_semi_expanded_decaps_test.json.gz", 9},
    {"wycheproof/mlkem_768_test.json.gz", 193},
};

inline std::size_t expected_cases(const std::string& file) {
  const auto found = kCases.find(file);
  return found != kCases.end() ? found->second : 10;
}

/// The files of tests/data that hold known answers of KEMs, except accumulated hashes, as paths below it.
inline std::vector<std::string> known_answer_files(const std::string& data) {
  const std::set<std::string> others{"ecdh", "hpke", "mldsa"};  // vectors of other kinds
  std::vector<std::string> all;
  for (std::filesystem::recursive_directory_iterator entry(data), end; entry != end; ++entry) {
    const std::string name = std::filesystem::relative(entry->path(), data).generic_string();
    const std::string extension = entry->path().extension();
    if (others.contains(name)) entry.disable_recursion_pending();
    if (name != kAccumulated && (extension == ".json" || extension == ".gz")) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  return all;
}

inline KnownAnswers load(const std::string& data, const std::string& file) {
  return parse_known_answers(read_text_maybe_gzip(data + "/" + file), nullptr);
}

}  // namespace polykem::cli
