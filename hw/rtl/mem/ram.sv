// SPDX-License-Identifier: Apache-2.0
// One write port, one read port; the word of raddr_i comes a cycle later. Nobody reads an address while
// it is written.
module ram #(
  parameter int unsigned Width = 24,
  parameter int unsigned Depth = 512,
  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input  logic                   clk_i,
  input  logic                   we_i,
  input  logic [AddressBits-1:0] waddr_i,
  input  logic [Width-1:0]       wdata_i,
  input  logic [AddressBits-1:0] raddr_i,
  output logic [Width-1:0]       rdata_o
);
  (* ram_style = "block" *) logic [Width-1:0] words[Depth];
  always_ff @(posedge clk_i) begin
    if (we_i) words[waddr_i] <= wdata_i;
    rdata_o <= words[raddr_i];
  end
endmodule
