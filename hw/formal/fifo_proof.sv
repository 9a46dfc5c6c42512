// SPDX-License-Identifier: Apache-2.0
// Any word, which mark_i selects, leaves the FIFO after those before it, unchanged and once, whichever side pauses.
// count_o is the number of words in the FIFO.
module fifo_proof #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 16,
  localparam int unsigned IndexBits = $clog2(Depth)
) (
  input logic             clk_i,
  input logic             clear_i,
  input logic             push_i,
  input logic             pop_i,
  input logic             mark_i,
  input logic [Width-1:0] word_i
);
  logic reset_q = 1'b1;
  always_ff @(posedge clk_i) reset_q <= 1'b0;
  logic push, pop, valid;
  logic [Width-1:0] word;
  logic [IndexBits:0] count;
  // The user's part of fifo's own assertions: no pop of an empty FIFO, no push to a full one without a pop.
  assign pop  = pop_i && valid;
  assign push = push_i && !clear_i && (count != (IndexBits+1)'(Depth) || pop);
  fifo #(.Width(Width), .Depth(Depth)) u_dut (
    .clk_i, .rst_ni(!reset_q), .clear_i, .push_i(push), .word_i, .pop_i(pop && !clear_i), .valid_o(valid),
    .word_o(word), .count_o(count)
  );
  logic               waits_q = 1'b0;
  logic [IndexBits:0] before_q;  // number of words that leave before the marked one
  logic [Width-1:0]   word_q;
  logic [IndexBits-1:0] place;
  always_ff @(posedge clk_i) begin
    if (clear_i || reset_q) waits_q <= 1'b0;
    else if (!waits_q && push && mark_i) begin
      {waits_q, word_q} <= {1'b1, word_i};
      before_q <= count - (IndexBits+1)'(pop);
    end else if (waits_q && pop) begin
      waits_q  <= before_q != 0;
      before_q <= before_q - 1'b1;
    end
  end
  assign place = u_dut.first_q + before_q[IndexBits-1:0];
  always_comb begin
    if (!reset_q) begin
      assert (count <= (IndexBits+1)'(Depth));
      assert (u_dut.last_q == u_dut.first_q + count[IndexBits-1:0]);
      if (waits_q) begin
        assert (before_q < count);
        assert (u_dut.words[place] == word_q);
      end
      if (waits_q && before_q == 0) assert (valid && word == word_q);
    end
  end
endmodule
