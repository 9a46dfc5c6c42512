// SPDX-License-Identifier: Apache-2.0
// Converts words of 64 bits to words of 48 bits, in order, least significant bits first: three to four.
module gearbox (
  input  logic        clk_i,
  input  logic        clear_i,  // drops the kept bits
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] word_i,
  output logic        valid_o,
  input  logic        ready_i,
  output logic [47:0] word_o
`ifdef FORMAL
  , input logic mark_i, input logic [1:0] quarter_i
`endif
);
  logic [47:0] kept_q;  // the end of the last word; its upper 16 kept_words_q bits are still to come
  logic [1:0]  kept_words_q;

  // If 48 bits are kept, they leave and no word enters. Otherwise the first bits of the next word follow them.
  assign valid_o = kept_words_q == 2'd3 || valid_i;
  assign ready_o = kept_words_q != 2'd3 && ready_i;

  always_comb begin
    unique case (kept_words_q)
      2'd0:    word_o = word_i[47:0];
      2'd1:    word_o = {word_i[31:0], kept_q[47:32]};
      2'd2:    word_o = {word_i[15:0], kept_q[47:16]};
      default: word_o = kept_q;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      kept_words_q <= '0;
      kept_q       <= '0;
    end else if (valid_o && ready_i) begin
      kept_words_q <= kept_words_q + 2'd1;
      if (ready_o) kept_q <= word_i[63:16];
    end
  end

`ifdef FORMAL
  // Any quarter of any word leaves once, unchanged and in order. mark_i selects quarter quarter_i of the word that
  // enters; ahead_q counts the quarters before it.
  initial kept_words_q = '0;
  logic        waits_q = 1'b0;
  logic [15:0] quarter_q;
  logic [2:0]  ahead_q, ahead;
  logic        enters, waits;
  logic [15:0] quarter;
  always_comb begin
    enters  = mark_i && valid_i && ready_o && !waits_q;
    waits   = waits_q || enters;
    quarter = waits_q ? quarter_q : word_i[16*quarter_i+:16];
    ahead   = waits_q ? ahead_q : 3'(kept_words_q) + 3'(quarter_i);
    if (waits && valid_o && ready_i && ahead < 3) assert (word_o[16*ahead[1:0]+:16] == quarter);
    if (waits_q) assert (ahead_q < 3'(kept_words_q) && kept_q[16*(2'd3-kept_words_q+ahead_q[1:0])+:16] == quarter_q);
  end
  always_ff @(posedge clk_i) begin
    waits_q   <= waits && !clear_i && !(valid_o && ready_i && ahead < 3);
    quarter_q <= quarter;
    ahead_q   <= valid_o && ready_i ? ahead - 3'd3 : ahead;
  end
`endif
endmodule
