// SPDX-License-Identifier: Apache-2.0
// Computes (a - b) mod Q; combinational.
module mod_sub
  import polykem_hw_pkg::*;
(
  input  coeff_t a_i,
  input  coeff_t b_i,
  output coeff_t difference_o
);
  logic [CoeffBits:0] difference;
  assign difference   = {1'b0, a_i} - {1'b0, b_i};
  assign difference_o = difference[CoeffBits-1:0] + (difference[CoeffBits] ? coeff_t'(Q) : '0);
endmodule
