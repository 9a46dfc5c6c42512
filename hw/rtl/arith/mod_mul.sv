// SPDX-License-Identifier: Apache-2.0
// Computes a * b mod Q in one DSP block with its registers. The latency is five cycles.
module mod_mul
  import polykem_hw_pkg::*;
#(
  parameter reduce_e Method = ReduceTable
) (
  input  logic   clk_i,
  input  coeff_t a_i,
  input  coeff_t b_i,
  output coeff_t product_o
);
  coeff_t a_q, b_q;
  logic [2*CoeffBits-1:0] product_q, product_qq;
  always_ff @(posedge clk_i) begin
    a_q        <= a_i;
    b_q        <= b_i;
    product_q  <= a_q * b_q;
    product_qq <= product_q;
  end
  reduce #(.Width(2 * CoeffBits), .Method(Method)) u_reduce (
    .clk_i, .value_i(product_qq), .addend_i('0), .residue_o(product_o)
  );
endmodule
