// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/ntt.hpp"

namespace polykem::ckks {

/// Returns root^bitrev(i), i = 0..N-1.
Ntt::Factors Ntt::powers(const Modulus& q, uint64_t root, unsigned log_n) {
  const size_t n = size_t{1} << log_n;
  Factors table{std::vector<uint64_t>(n), std::vector<uint64_t>(n)};
  uint64_t power = 1;
  for (size_t i = 0; i < n; ++i) {
    const Factor factor = q.factor(power);
    const size_t at = bit_reverse(i, log_n);
    table.values[at] = factor.value;
    table.quotients[at] = factor.quotient;
    power = q.mul(power, root);
  }
  return table;
}

Ntt::Ntt(unsigned log_n, uint64_t q, uint64_t psi)
    : q_(q),
      psi_(psi),
      n_(size_t{1} << log_n),
      roots_(powers(q_, psi, log_n)),
      inverse_roots_(powers(q_, q_.inverse(psi), log_n)),
      inverse_n_(q_.inverse(n_)),
      last_(last_layer(1)) {}

LastLayer Ntt::last_layer(uint64_t constant) const {
  const uint64_t sum = q_.mul(inverse_n_, constant);
  return {q_.factor(sum), q_.factor(q_.mul(sum, inverse_roots_.values[1]))};
}

}  // namespace polykem::ckks
