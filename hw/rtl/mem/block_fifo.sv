// SPDX-License-Identifier: Apache-2.0
// The control of a FIFO whose words are in a block RAM outside. The user writes a word that is pushed to in_index_o,
// and reads out_index_o, whose word comes a cycle later. A word can leave from the second cycle after its push on, and
// then one in every cycle.
module block_fifo #(
  parameter int unsigned Depth = 256,
  localparam int unsigned IndexBits = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 clear_i,
  input  logic                 push_i,
  output logic                 ready_o,
  output logic [IndexBits-1:0] in_index_o,
  input  logic                 pop_i,
  output logic                 valid_o,
  output logic [IndexBits-1:0] out_index_o
);
  logic [IndexBits:0] in_q, out_q, out_d;  // counts of words that entered and left; the top bits tell full from empty
  assign ready_o     = (in_q ^ out_q) != (IndexBits+1)'(Depth);
  assign out_d       = out_q + (IndexBits+1)'(pop_i);
  assign in_index_o  = in_q[IndexBits-1:0];
  assign out_index_o = out_q[IndexBits-1:0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q    <= '0;
      out_q   <= '0;
      valid_o <= 1'b0;
    end else if (clear_i) begin
      in_q    <= '0;
      out_q   <= '0;
      valid_o <= 1'b0;
    end else begin
      in_q    <= in_q + (IndexBits+1)'(push_i);
      out_q   <= out_d;
      valid_o <= out_d != in_q;
    end
  end
endmodule
