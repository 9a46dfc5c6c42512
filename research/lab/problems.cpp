// SPDX-License-Identifier: Apache-2.0
// The problems. --n and --nbar change the sizes of matrices.
#include "lab.hpp"

namespace polykem::lab {

namespace {

constexpr uint32_t kTernary = 1;

void add_ntru(std::vector<Problem>& list, size_t n, uint32_t q, bool usual) {
  const std::string name = "ntru" + std::to_string(n);
  const auto add = [&](const char* suffix, const char* operands, uint32_t modulus, uint32_t b_bound, bool phi) {
    list.push_back({.name = name + suffix,
                    .title = "NTRU n = " + std::to_string(n) + ", " + operands,
                    .shape = Shape::kCyclic,
                    .n = n,
                    .rows = 1,
                    .q = modulus,
                    .b_bound = b_bound,
                    .modulo_phi = phi,
                    .usual = usual && suffix[0] == '\0'});
  };
  add("", "Rq by ternary", q, kTernary, false);
  add("-general", "Rq by Rq", q, 0, false);
  add("-bytes", "modulo 2^8", 256, 0, false);
  add("-s3", "modulo (3, Phi_n)", 3, 0, true);
}

void add_negacyclic(std::vector<Problem>& list, const char* name, const char* title, size_t n, uint32_t q,
                    uint32_t b_bound) {
  list.push_back(
      {.name = name, .title = title, .shape = Shape::kNegacyclic, .n = n, .rows = 1, .q = q, .b_bound = b_bound});
}

void add_matrix(std::vector<Problem>& list, const char* name, const char* title, size_t n, size_t rows, uint32_t q,
                uint32_t b_bound) {
  list.push_back(
      {.name = name, .title = title, .shape = Shape::kMatrix, .n = n, .rows = rows, .q = q, .b_bound = b_bound});
}

std::vector<Problem> make_problems() {
  std::vector<Problem> list;
  add_ntru(list, 509, 2048, true);
  add_ntru(list, 677, 2048, true);
  add_ntru(list, 701, 8192, true);
  add_ntru(list, 821, 4096, true);
  add_ntru(list, 1229, 4096, false);
  add_ntru(list, 1373, 16384, false);
  add_negacyclic(list, "ring512", "n = 512, q = 2048, by ternary", 512, 2048, kTernary);
  add_negacyclic(list, "lac512", "LAC n = 512, by ternary", 512, 251, kTernary);
  add_negacyclic(list, "lac1024", "LAC n = 1024, by ternary", 1024, 251, kTernary);
  add_negacyclic(list, "saber256", "Saber, by a secret of -5 .. 5", 256, 8192, 5);
  add_negacyclic(list, "kyber256", "Kyber, by a secret of -3 .. 3", 256, 3329, 3);
  add_matrix(list, "frodo640", "FrodoKEM-640's S' A", 640, 8, 32768, 12);
  add_matrix(list, "frodo976", "FrodoKEM-976's S' A", 976, 8, 65536, 10);
  add_matrix(list, "frodo1344", "FrodoKEM-1344's S' A", 1344, 8, 65536, 6);
  add_matrix(list, "tensorfro560", "a row by a matrix of 560 x 560, TensorFro's", 560, 1, 65536, 12);
  return list;
}

}  // namespace

const std::vector<Problem>& problems() {
  static const std::vector<Problem> list = make_problems();
  return list;
}

}  // namespace polykem::lab
