// SPDX-License-Identifier: Apache-2.0
// A FIFO in block RAM. Its first word waits in a register, so one cycle passes before a word shows; then a word leaves
// in every cycle.
module block_fifo #(
  parameter int unsigned Width = 48,
  parameter int unsigned Depth = 512,
  localparam int unsigned IndexBits = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,
  input  logic             push_i,
  output logic             ready_o,
  input  logic [Width-1:0] word_i,
  input  logic             pop_i,
  output logic             valid_o,
  output logic [Width-1:0] word_o
);
  logic [IndexBits:0] in_q, out_q, out_d;  // the words that entered, and that left; the top bit tells full from empty
  assign ready_o = (in_q ^ out_q) != (IndexBits+1)'(Depth);
  assign out_d   = out_q + (IndexBits+1)'(pop_i);
  ram #(.Width(Width), .Depth(Depth)) u_ram (
    .clk_i, .we_i(push_i), .waddr_i(in_q[IndexBits-1:0]), .wdata_i(word_i),
    .raddr_i(out_d[IndexBits-1:0]), .rdata_o(word_o)
  );
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
      valid_o <= out_d != in_q;  // a word pushed in this cycle is not yet there
    end
  end
endmodule
