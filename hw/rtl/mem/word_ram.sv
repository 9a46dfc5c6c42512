// SPDX-License-Identifier: Apache-2.0
// The memory of polynomials in the NTT domain, 64 words each. we_i[0] enables the even coefficients of a word, we_i[1]
// the odd ones. With WriteWords or ReadWords = 2, two neighbouring words, the first at an even address, are written or
// read in one cycle; even and odd words are then in separate memories. With Checked, each half of a word has a bit that
// makes its parity odd, unless erase_i is high while it is written.
module word_ram
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Slots = 4,
  parameter int unsigned WriteWords = 1,  // 1 or 2
  parameter int unsigned ReadWords = 1,   // 1 or 2
  parameter bit Checked = 1'b0,
  localparam int unsigned AddressBits = $clog2(64 * Slots)
) (
  input  logic                   clk_i,
  input  logic [1:0]             we_i,
  input  logic [AddressBits-1:0] waddr_i,
  input  coeff_t [WriteWords-1:0][3:0] wdata_i,
  input  logic                   erase_i,
  input  logic [AddressBits-1:0] raddr_i,
  output coeff_t [ReadWords-1:0][3:0]  rdata_o,
  output logic [ReadWords-1:0]   intact_o  // the word that is read was written, and no upset bit is found in it
);
  localparam int unsigned HalfBits = 2 * CoeffBits + 32'(Checked);
  localparam int unsigned Banks = WriteWords > ReadWords ? WriteWords : ReadWords;
  coeff_t [Banks-1:0][3:0] found;
  logic [Banks-1:0][1:0] odd;
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic written;
    coeff_t [3:0] wdata;
    assign written = Banks == WriteWords || waddr_i[0] == 1'(b);
    assign wdata   = wdata_i[b%WriteWords];
    for (genvar p = 0; p < 2; p++) begin : gen_parity
      logic [HalfBits-1:0] half_in, half_out;
      if (Checked) begin : gen_checked
        assign half_in   = {~^{wdata[2+p], wdata[p]} && !erase_i, wdata[2+p], wdata[p]};
        assign odd[b][p] = ^half_out;
      end else begin : gen_plain
        assign half_in   = {wdata[2+p], wdata[p]};
        assign odd[b][p] = 1'b1;
        logic unused;
        assign unused = erase_i;
      end
      assign {found[b][2+p], found[b][p]} = half_out[2*CoeffBits-1:0];
      ram #(.Width(HalfBits), .Depth(64 * Slots / Banks)) u_ram (
        .clk_i, .we_i(we_i[p] && written), .waddr_i(waddr_i[AddressBits-1:Banks-1]),
        .wdata_i(half_in), .raddr_i(raddr_i[AddressBits-1:Banks-1]), .rdata_o(half_out)
      );
    end
  end
  logic odd_q;
  always_ff @(posedge clk_i) odd_q <= Banks != ReadWords && raddr_i[0];
  for (genvar n = 0; n < ReadWords; n++) begin : gen_read
    assign rdata_o[n]  = found[Banks == ReadWords ? n : 32'(odd_q)];
    assign intact_o[n] = &odd[Banks == ReadWords ? n : 32'(odd_q)];
  end
endmodule
