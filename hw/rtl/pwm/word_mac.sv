// SPDX-License-Identifier: Apache-2.0
// Computes accumulator + a b for the four coefficients of a word, a word in every cycle; index_i is its index in the
// polynomial, 0 .. 63. The latency is ten cycles.
module word_mac
  import polykem_hw_pkg::*;
#(
  parameter reduce_e Method = ReduceTable
) (
  input  logic         clk_i,
  input  logic         valid_i,   // 0: the operands count as zero
  input  logic         begins_i,  // the accumulator counts as zero
  input  logic         one_i,     // b counts as 1
  input  logic   [5:0] index_i,
  input  coeff_t [3:0] accumulator_i,
  input  coeff_t [3:0] a_i,
  input  coeff_t [3:0] b_i,
  output coeff_t [3:0] result_o
);
  coeff_t [1:0] gamma;
  logic [5:0] index;
  delay_line #(.Width(6), .Cycles(5)) u_index (.clk_i, .data_i(index_i), .data_o(index));
  gammas u_gammas (.index_i(index), .gammas_o(gamma));
  for (genvar i = 0; i < 2; i++) begin : gen_pair
    pair_mac #(.Method(Method)) u_pair (
      .clk_i, .valid_i, .begins_i, .one_i, .accumulator_i(accumulator_i[2*i+:2]),
      .a_i(a_i[2*i+:2]), .b_i(b_i[2*i+:2]), .gamma_i(gamma[i]), .result_o(result_o[2*i+:2])
    );
  end
endmodule
