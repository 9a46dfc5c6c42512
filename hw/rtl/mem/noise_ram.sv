// SPDX-License-Identifier: Apache-2.0
// The memory of noise: coefficients in -3 .. 3, three bits each. A slot holds a polynomial, and its row r holds
// coefficients 8r .. 8r + 7. Rows 2r and 2r + 1 may be written together. Four coefficients are read, and come a cycle
// later: in order, 4c .. 4c + 3, or in pairs, 2t, 2t + 1, 2t + 128 and 2t + 129. As in skewed_ram, pair t of half h is
// in bank h ^ t[0]; an address of a bank holds four pairs, of two rows.
module noise_ram (
  input  logic              clk_i,
  input  logic              zeroize_i,  // writes zeros to address zeroize_address_i of both banks
  input  logic [7:0]        zeroize_address_i,
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
  typedef logic [1:0][2:0] pair_t;
  logic [1:0] place, place_q;  // the place of the pair among the four of an address
  logic swap, swap_q;
  assign place = rin_order_i ? rindex_i[1:0] : rindex_i[2:1];
  assign swap  = rin_order_i ? rindex_i[5] : rindex_i[0];
  always_ff @(posedge clk_i) {place_q, swap_q} <= {place, swap};

  pair_t pairs[2][4];  // [row][pair]
  for (genvar i = 0; i < 8; i++) begin : gen_pairs
    assign pairs[0][i/2][i%2] = wdata_i[i];
    assign pairs[1][i/2][i%2] = two_rows_i ? wdata_i[8+i] : wdata_i[i];
  end
  pair_t [3:0] found[2];
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    pair_t [3:0] wdata;
    logic [7:0] waddr, raddr;
    for (genvar i = 0; i < 4; i++) begin : gen_place
      assign wdata[i] = zeroize_i ? '0 : pairs[i/2][{1'(i % 2), wrow_i[4] ^ 1'(b)}];
    end
    assign waddr = zeroize_i ? zeroize_address_i : {wslot_i, wrow_i[4:1]};
    assign raddr = {rslot_i, rin_order_i ? rindex_i[5:2] : {rindex_i[0] ^ 1'(b), rindex_i[5:3]}};
    ram #(.Width(24), .Depth(256), .Parts(2)) u_ram (
      .clk_i,
      .we_i({zeroize_i || (we_i && (two_rows_i || wrow_i[0])), zeroize_i || (we_i && (two_rows_i || !wrow_i[0]))}),
      .waddr_i(waddr), .wdata_i(wdata), .raddr_i(raddr), .rdata_o(found[b])
    );
  end
  for (genvar e = 0; e < 2; e++) begin : gen_read
    pair_t pair;
    assign pair           = found[1'(e)^swap_q][place_q];
    assign rdata_o[2*e]   = pair[0];
    assign rdata_o[2*e+1] = pair[1];
  end
endmodule
