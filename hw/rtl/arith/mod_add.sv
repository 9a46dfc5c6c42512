// SPDX-License-Identifier: Apache-2.0
// Computes (a + b) mod Q; combinational.
module mod_add
  import polykem_hw_pkg::*;
(
  input  coeff_t a_i,
  input  coeff_t b_i,
  output coeff_t sum_o
);
  logic [CoeffBits:0] sum;
  assign sum   = {1'b0, a_i} + {1'b0, b_i};
  assign sum_o = sum[CoeffBits-1:0] - (reaches_q(sum) ? coeff_t'(Q) : '0);
endmodule
