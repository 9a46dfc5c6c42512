// SPDX-License-Identifier: Apache-2.0
// Computes a / 2 mod Q if halve_i is set; otherwise passes a through. Combinational: Q is added to an odd a.
module mod_half
  import polykem_hw_pkg::*;
(
  input  logic   halve_i,
  input  coeff_t a_i,
  output coeff_t half_o
);
  // The constant is the first operand, since an FPGA's adder can compute the choice in front of its second one.
  assign half_o = (halve_i && a_i[0] ? coeff_t'((Q + 1) / 2) : '0) + (halve_i ? a_i >> 1 : a_i);
endmodule
