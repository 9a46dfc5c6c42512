// SPDX-License-Identifier: Apache-2.0
// Reorders pairs between two stages of a lane: takes pairs (e, e + 2 Depth) and gives pairs (e, e + Depth), `Depth`
// cycles later. The second of each pair is delayed by a FIFO, then the two paths are swapped for `Depth` cycles, then
// the first of each pair is delayed.
module commutator
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Depth = 32  // a power of two
) (
  input  logic       clk_i,
  input  logic [5:0] index_i,  // of the pair that enters, 0 .. 63
  input  coeff_t     a_i,
  input  coeff_t     b_i,
  output coeff_t     a_o,
  output coeff_t     b_o
);
  coeff_t b_late, upper, lower;
  logic   crossed;
  delay_line #(.Width(CoeffBits), .Cycles(Depth)) u_before (.clk_i, .data_i(b_i), .data_o(b_late));
  assign crossed = |(index_i & 6'(Depth));
  assign upper   = crossed ? b_late : a_i;
  assign lower   = crossed ? a_i : b_late;
  delay_line #(.Width(CoeffBits), .Cycles(Depth)) u_after (.clk_i, .data_i(upper), .data_o(a_o));
  assign b_o = lower;
endmodule
