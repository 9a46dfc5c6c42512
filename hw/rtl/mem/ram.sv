// SPDX-License-Identifier: Apache-2.0
// A memory with a write port and a read port. Each of the `Parts` equal parts of a word has a write enable. The word at
// raddr_i comes a cycle later. The user never reads an address while it is written.
module ram #(
  parameter int unsigned Width = 24,
  parameter int unsigned Depth = 512,
  parameter int unsigned Parts = 1,
  localparam int unsigned AddressBits = $clog2(Depth)
) (
  input  logic                   clk_i,
  input  logic [Parts-1:0]       we_i,
  input  logic [AddressBits-1:0] waddr_i,
  input  logic [Width-1:0]       wdata_i,
  input  logic [AddressBits-1:0] raddr_i,
  output logic [Width-1:0]       rdata_o
);
  localparam int unsigned PartBits = Width / Parts;
  (* ram_style = "block" *) logic [Width-1:0] words[Depth];
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Parts; i++)
      if (we_i[i]) words[waddr_i][i*PartBits+:PartBits] <= wdata_i[i*PartBits+:PartBits];
    rdata_o <= words[raddr_i];
  end
endmodule
