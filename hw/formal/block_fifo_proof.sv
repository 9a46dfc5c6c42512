// SPDX-License-Identifier: Apache-2.0
// Any word, which mark_i selects, leaves the FIFO after those before it, unchanged and once, whichever side pauses. A
// word can leave at most two cycles after its push, and there is room unless Depth words are in the FIFO.
module block_fifo_proof #(
  parameter int unsigned Width = 4,
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
  logic push, pop, valid, ready;
  logic [Width-1:0] word;
  assign pop  = pop_i && valid;
  assign push = push_i && ready && !clear_i;
  logic [IndexBits-1:0] in_index, out_index;
  block_fifo #(.Depth(Depth)) u_dut (
    .clk_i, .rst_ni(!reset_q), .clear_i, .push_i(push), .ready_o(ready), .in_index_o(in_index), .pop_i(pop),
    .valid_o(valid), .out_index_o(out_index)
  );
  ram #(.Width(Width), .Depth(Depth)) u_ram (
    .clk_i, .we_i(push), .waddr_i(in_index), .wdata_i(word_i), .raddr_i(out_index), .rdata_o(word)
  );
  logic               waits_q = 1'b0, came_q;  // came_q: the newest word was pushed in the last cycle
  logic [IndexBits:0] before_q, count;         // number of words that leave before the marked one; of all words
  logic [Width-1:0]   word_q, left_q;
  logic               leaves_q = 1'b0;         // the marked word was read in the last cycle
  assign count = u_dut.in_q - u_dut.out_q;
  always_ff @(posedge clk_i) begin
    came_q <= push;
    leaves_q <= waits_q && pop && before_q == 0;
    left_q   <= word_q;
    if (clear_i || reset_q) waits_q <= 1'b0;
    else if (!waits_q && push && mark_i) begin
      {waits_q, word_q} <= {1'b1, word_i};
      before_q <= count - (IndexBits+1)'(pop);
    end else if (waits_q && pop) begin
      waits_q  <= before_q != 0;
      before_q <= before_q - 1'b1;
    end
  end
  logic [IndexBits-1:0] place;
  assign place = u_dut.out_q[IndexBits-1:0] + before_q[IndexBits-1:0];
  always_comb begin
    if (!reset_q) begin
      assert (count <= (IndexBits+1)'(Depth));
      assert (ready == (count != (IndexBits+1)'(Depth)));
      assert (!valid || count != 0);
      assert (valid || count == 0 || (count == 1 && came_q));
      if (waits_q) begin
        assert (before_q < count);
        assert (u_ram.words[place] == word_q);
      end
      if (leaves_q) assert (word == left_q);
    end
  end
endmodule
