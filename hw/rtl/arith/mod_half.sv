// SPDX-License-Identifier: Apache-2.0
// a / 2 mod Q where halve_i is set, else a; combinational: an odd a becomes even by adding Q.
module mod_half
  import polykem_hw_pkg::*;
(
  input  logic   halve_i,
  input  coeff_t a_i,
  output coeff_t half_o
);
  // the constant first: an adder of an FPGA has room for the choice in front of its second operand
  assign half_o = (halve_i && a_i[0] ? coeff_t'((Q + 1) / 2) : '0) + (halve_i ? a_i >> 1 : a_i);
endmodule
