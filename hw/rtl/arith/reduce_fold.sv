// SPDX-License-Identifier: Apache-2.0
// Computes value mod Q by folding, since 2^12 = 2^9 + 2^8 - 1 (mod Q). A fold multiplies the part from bit 12 on by
// 767 = 2^9 + 2^8 - 1, with shifts and a subtraction, and adds it to the lower 12 bits. When 13 bits are left, one
// comparison and subtraction complete the reduction. The latency is two cycles.
module reduce_fold
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Width = 24  // 13 to 27
) (
  input  logic             clk_i,
  input  logic [Width-1:0] value_i,
  output coeff_t           residue_o
);
  // Folds a value below 2^28 once. The residue stays the same, and a value below 2^n becomes less than about 2^(n-2).
  function automatic logic [27:0] fold(logic [27:0] value);
    logic [15:0] high = value[27:12];
    return {16'd0, value[11:0]} + {3'd0, high, 9'd0} + {4'd0, high, 8'd0} - {12'd0, high};
  endfunction

  // Bounds after each fold. From values up to 2^27 - 1: 25,136,896; 4,712,448 + 4,095; 886,462, which has 20 bits. From
  // any 20 bits: 199,680; 40,911; 10,998; 4,862.
  logic [27:0] folded[4], refolded[5];
  logic [19:0] partial_q;
  always_comb begin
    folded[0] = 28'(value_i);
    for (int unsigned i = 0; i < 3; i++) folded[i+1] = fold(folded[i]);
    refolded[0] = 28'(partial_q);
    for (int unsigned i = 0; i < 4; i++) refolded[i+1] = fold(refolded[i]);
  end

  logic [12:0] rest, less;
  coeff_t      residue;
  assign rest    = refolded[4][12:0];
  assign less    = rest - 13'(Q);  // negative if the top bit is set, since rest < 2^12 + Q
  assign residue = less[12] ? rest[11:0] : less[11:0];
  always_ff @(posedge clk_i) begin
    partial_q <= folded[3][19:0];
    residue_o <= residue;
  end

`ifdef FORMAL
  // Every fold subtracts a multiple of Q, no bits are lost, and the result is the residue, whatever partial_q is.
  always_comb begin
    for (int unsigned i = 0; i < 3; i++) assert (folded[i] == folded[i+1] + 28'(Q) * (folded[i] >> 12));
    for (int unsigned i = 0; i < 4; i++) assert (refolded[i] == refolded[i+1] + 28'(Q) * (refolded[i] >> 12));
    assert (folded[3] >> 20 == 0);
    assert (refolded[4] >> 13 == 0);
    assert (residue < coeff_t'(Q));
    assert (rest == 13'(residue) || rest == 13'(residue) + 13'(Q));
  end
`endif
endmodule
