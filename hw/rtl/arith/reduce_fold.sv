// SPDX-License-Identifier: Apache-2.0
// value mod Q by 2^12 = 2^9 + 2^8 - 1 (mod Q): the part from bit 12 on is multiplied by 767 = 2^9 + 2^8 - 1, which
// takes shifts and one subtraction, and added to the rest, until 13 bits are left; comparators do the rest. A result
// follows its value two cycles later.
module reduce_fold
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Width = 24  // 13 to 27
) (
  input  logic             clk_i,
  input  logic [Width-1:0] value_i,
  output coeff_t           residue_o
);
  // One fold of a value below 2^28. It keeps the residue, and what was below 2^n is then below 2^(n-2) or so.
  function automatic logic [27:0] fold(logic [27:0] value);
    logic [15:0] high = value[27:12];
    return {16'd0, value[11:0]} + {3'd0, high, 9'd0} + {4'd0, high, 8'd0} - {12'd0, high};
  endfunction

  // 2^27 - 1 becomes at most 25,136,896, 4,712,448 + 4,095, 886,462; any 20 bits 199,680, 40,911, 10,998 and 4,862.
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
  // Every fold takes away a multiple of Q, nothing is cut off, and the result is a residue, whatever partial_q was.
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
