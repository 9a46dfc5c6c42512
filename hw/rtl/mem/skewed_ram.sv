// SPDX-License-Identifier: Apache-2.0
// The memory of polynomials of which four neighbouring coefficients, or two pairs 128 apart, are read or written in one
// cycle.
//   in order    word c is coefficients 4c .. 4c + 3
//   in pairs    word t is coefficients 2t, 2t + 1, 2t + 128, 2t + 129
// Pair t of half h (coefficients 128 h + 2t and 128 h + 2t + 1) is in bank h ^ t[0] at address t, so that a word of
// either kind takes one pair from each bank. we_i[0] enables the even coefficients of a word, we_i[1] the odd ones.
// A slot holds a polynomial. Slots 0 to 3 are a memory, slots 4 to 7 another one; zeroize_i writes zeros to both.
module skewed_ram
  import polykem_hw_pkg::*;
(
  input  logic         clk_i,
  input  logic         zeroize_i,
  input  logic [1:0]   we_i,
  input  logic         win_order_i,
  input  logic [2:0]   wslot_i,
  input  logic [5:0]   windex_i,
  input  coeff_t [3:0] wdata_i,
  input  logic         rin_order_i,
  input  logic [2:0]   rslot_i,
  input  logic [5:0]   rindex_i,
  output coeff_t [3:0] rdata_o
);
  logic wswap, rswap, rswap_q, rupper_q;
  assign wswap = win_order_i ? windex_i[5] : windex_i[0];
  assign rswap = rin_order_i ? rindex_i[5] : rindex_i[0];
  always_ff @(posedge clk_i) {rswap_q, rupper_q} <= {rswap, rslot_i[2]};

  coeff_t [1:0] found[2][2];  // [upper slots][bank][parity]
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic [7:0] waddr, raddr;
    assign waddr = {wslot_i[1:0], win_order_i ? {windex_i[4:0], windex_i[5] ^ 1'(b)} : windex_i};
    assign raddr = {rslot_i[1:0], rin_order_i ? {rindex_i[4:0], rindex_i[5] ^ 1'(b)} : rindex_i};
    coeff_t [1:0] wdata;
    assign wdata = wswap ^ 1'(b) ? wdata_i[3:2] : wdata_i[1:0];
    for (genvar u = 0; u < 2; u++) begin : gen_upper
      ram #(.Width(2 * CoeffBits), .Depth(256), .Parts(2)) u_ram (
        .clk_i, .we_i(zeroize_i ? 2'b11 : we_i & {2{wslot_i[2] == 1'(u)}}), .waddr_i(waddr), .wdata_i(wdata),
        .raddr_i(raddr), .rdata_o(found[u][b])
      );
    end
  end
  for (genvar e = 0; e < 2; e++) begin : gen_element
    for (genvar p = 0; p < 2; p++) begin : gen_read
      assign rdata_o[2*e+p] = found[rupper_q][1'(e)^rswap_q][p];
    end
  end
endmodule
