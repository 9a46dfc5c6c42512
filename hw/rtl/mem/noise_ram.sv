// SPDX-License-Identifier: Apache-2.0
// Noise, three bits a coefficient, -3 .. 3. Row r of a slot holds coefficients 8r .. 8r + 7; rows 2r and 2r + 1 may be
// written together. What is read comes a cycle later: in order, 4c .. 4c + 3, or in pairs, 2t, 2t + 1, 2t + 128 and
// 2t + 129.
module noise_ram (
  input  logic              clk_i,
  input  logic              wipe_i,
  input  logic              we_i,
  input  logic              two_rows_i,
  input  logic [3:0]        wslot_i,
  input  logic [4:0]        wrow_i,
  input  logic signed [2:0] wdata_i[16],
  input  logic              rin_order_i,
  input  logic [3:0]        rslot_i,
  input  logic [5:0]        rindex_i,
  output logic signed [2:0] rdata_o[4]
);
  logic [6:0] raddr;
  assign raddr = {rslot_i, rin_order_i ? rindex_i[4:2] : rindex_i[5:3]};
  logic [2:0] place_q, place_d;  // of the pair among the 16 of an address
  logic in_order_q, upper_q;
  assign place_d = rin_order_i ? {rindex_i[1:0], 1'b0} : rindex_i[2:0];
  always_ff @(posedge clk_i) {place_q, in_order_q, upper_q} <= {place_d, rin_order_i, rindex_i[5]};

  logic [1:0][7:0][2:0] wdata, found[2];
  for (genvar i = 0; i < 8; i++) begin : gen_pack
    assign wdata[0][i] = wdata_i[i];
    assign wdata[1][i] = two_rows_i ? wdata_i[8+i] : wdata_i[i];
  end
  for (genvar h = 0; h < 2; h++) begin : gen_half
    for (genvar b = 0; b < 2; b++) begin : gen_row
      ram #(.Width(24), .Depth(128)) u_ram (
        .clk_i, .we_i(wipe_i || (we_i && wrow_i[4] == 1'(h) && (two_rows_i || wrow_i[0] == 1'(b)))),
        .waddr_i({wslot_i, wrow_i[3:1]}), .wdata_i(wdata[b]), .raddr_i(raddr), .rdata_o(found[h][b])
      );
    end
  end
  logic [15:0][2:0] first, second;
  logic [2:0] second_place;
  assign first        = found[in_order_q && upper_q];
  assign second       = in_order_q ? first : found[1];
  assign second_place = in_order_q ? place_q + 3'd1 : place_q;
  for (genvar p = 0; p < 2; p++) begin : gen_read
    assign rdata_o[p]   = first[{place_q, 1'(p)}];
    assign rdata_o[2+p] = second[{second_place, 1'(p)}];
  end
endmodule
