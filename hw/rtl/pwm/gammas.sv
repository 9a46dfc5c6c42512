// SPDX-License-Identifier: Apache-2.0
// Gives gamma of both pairs of word `index_i`: zeta^(2 BitRev7(2 index) + 1) for the first, its negative for the
// second. [FIPS203, Alg 11, L2]
module gammas
  import polykem_hw_pkg::*;
(
  input  logic   [5:0] index_i,
  output coeff_t [1:0] gammas_o
);
  typedef coeff_t table_t[64];
  function automatic table_t entries();
    table_t found;
    for (int unsigned i = 0; i < 64; i++) found[i] = coeff_t'(power(Zeta, 2 * bit_reverse(2 * i, 7) + 1));
    return found;
  endfunction
  localparam table_t Gamma = entries();
  assign gammas_o = {coeff_t'(Q) - Gamma[index_i], Gamma[index_i]};
endmodule
