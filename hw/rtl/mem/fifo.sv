// SPDX-License-Identifier: Apache-2.0
// A FIFO for few words, in LUTs; word_o is its first word while valid_o is high. clear_i empties it and, held for Depth
// cycles, overwrites all words with word_i.
module fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 16,
  localparam int unsigned IndexBits = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 push_i,
  input  logic [Width-1:0]     word_i,
  input  logic                 pop_i,
  output logic                 valid_o,
  output logic [Width-1:0]     word_o,
  output logic [IndexBits:0]   count_o
);
  logic [Width-1:0] words[Depth];
  logic [IndexBits-1:0] first_q, last_q;
  assign valid_o = count_o != 0;
  assign word_o  = words[first_q];
  always_ff @(posedge clk_i) if (push_i || clear_i) words[last_q] <= word_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= '0;
      last_q  <= '0;
      count_o <= '0;
    end else if (clear_i) begin
      first_q <= last_q + 1'b1;
      last_q  <= last_q + 1'b1;
      count_o <= '0;
    end else begin
      if (push_i) last_q  <= last_q + 1'b1;
      if (pop_i)  first_q <= first_q + 1'b1;
      count_o <= count_o + (IndexBits+1)'(push_i) - (IndexBits+1)'(pop_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (!clear_i) begin
      no_overflow : assert (!push_i || count_o != (IndexBits+1)'(Depth) || pop_i);
      no_underflow : assert (!pop_i || valid_o);
    end
  end
endmodule
