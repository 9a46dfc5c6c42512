// SPDX-License-Identifier: Apache-2.0
// Any pair, which mark_i selects, leaves the commutator once, unchanged, at the right time and on the right side:
//   not crossed   a: in a_o after Depth cycles,  b: in a_o after 2 Depth
//   crossed       a: in b_o at once,             b: in b_o after Depth
module commutator_proof
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Depth = 4
) (
  input logic   clk_i,
  input logic   mark_i,
  input coeff_t a_i,
  input coeff_t b_i
);
  coeff_t a_o, b_o;
  logic [5:0] index_q;  // begins at any value
  always_ff @(posedge clk_i) index_q <= index_q + 6'd1;
  commutator #(.Depth(Depth)) u_dut (.clk_i, .index_i(index_q), .a_i, .b_i, .a_o, .b_o);

  logic       waits_q = 1'b0;
  logic [7:0] age_q = '0;
  coeff_t     a_q, b_q;
  logic       crossed, crossed_q;
  assign crossed = |(index_q & 6'(Depth));
  always_ff @(posedge clk_i) begin
    if (!waits_q && mark_i) begin
      {waits_q, age_q, a_q, b_q, crossed_q} <= {1'b1, 8'd1, a_i, b_i, crossed};
    end else if (waits_q) begin
      age_q <= age_q + 8'd1;
      if (age_q == 8'(2 * Depth)) waits_q <= 1'b0;
    end
  end
  always_comb begin
    if (!waits_q && mark_i && crossed) assert (b_o == a_i);
    if (waits_q) assert (age_q >= 1 && age_q <= 8'(2 * Depth));
    if (waits_q && !crossed_q && age_q == 8'(Depth)) assert (a_o == a_q);
    if (waits_q && !crossed_q && age_q == 8'(2 * Depth)) assert (a_o == b_q);
    if (waits_q && crossed_q && age_q == 8'(Depth)) assert (b_o == b_q);
  end
endmodule
