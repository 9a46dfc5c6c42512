// SPDX-License-Identifier: Apache-2.0
// Computes Decompress_d [FIPS203, 4.8], round(Q y / 2^d), for d = 1, 4, 5, 10, 11. The input is y' = y 2^(11 - d),
// since Q y / 2^d = Q y' / 2^11. With whole_i, y passes through. The latency is two cycles.
module decompress
  import polykem_hw_pkg::*;
(
  input  logic   clk_i,
  input  logic   whole_i,
  input  coeff_t y_i,  // below 2^11 unless whole_i
  output coeff_t x_o
);
  // Q = 13 2^8 + 1, so the result is (13 y' + y' / 2^8 + 4) / 8, computed as the sum of 8 y' + y' / 2^8 and 5 y' + 4.
  logic [13:0] five_q;
  logic [14:0] sum;
  coeff_t      y_q;
  logic        unused;
  logic [12:0] upper;
  assign upper = {3'd0, y_i[10:2], 1'b1} + {1'b0, y_i[10:0], 1'b1};
  always_ff @(posedge clk_i) begin
    five_q <= whole_i ? '0 : {upper[12:1], y_i[1:0]};
    y_q    <= y_i;
  end
  assign sum    = {y_q, y_q[10:8]} + {1'b0, five_q};
  assign unused = ^{sum[2:0], upper[0]};
  always_ff @(posedge clk_i) x_o <= sum[14:3];
endmodule
