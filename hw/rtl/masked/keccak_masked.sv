// SPDX-License-Identifier: Apache-2.0
// Keccak-f[1600] on a state in two shares, first-order masked: domain-oriented masking [DOM16, section 3] of chi, all
// other steps on each share alone. A round takes two cycles: theta, rho, pi; then the products of chi. Both end in
// registers, so that no glitch meets two shares of one bit.
//
// While busy_o is low, write_i writes word_i to lane write_lane_i of both shares, and start_i begins 24 rounds in the
// next cycle. While refresh_o is high, random_i has to be new, uniform and independent of all else.
module keccak_masked
  import keccak_pkg::*;
(
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             write_i,
  input  logic [4:0]       write_lane_i,
  input  logic [1:0][63:0] word_i,
  input  logic             start_i,
  output logic             busy_o,
  output logic             refresh_o,
  input  logic [24:0][63:0] random_i,
  input  logic [4:0]       read_lane_i,
  output logic [1:0][63:0] word_o      // while busy_o is low: a lane of each share
);
  logic [4:0] round_q;  // 24: idle
  logic       chi_q;    // the second cycle of a round
  assign busy_o    = round_q < 24;
  assign refresh_o = busy_o && chi_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {round_q, chi_q} <= {5'd24, 1'b0};
    else if (busy_o) begin
      chi_q   <= !chi_q;
      round_q <= round_q + 5'(chi_q);
    end else if (start_i) round_q <= '0;
  end

  // [share]: the state is own_q ^ cross_q. cross_q holds the products with the other share, which random_i masks.
  logic [24:0][63:0] own_q[2], cross_q[2], sums[2], mixed[2];
  for (genvar s = 0; s < 2; s++) begin : gen_share
    for (genvar i = 0; i < 25; i++) begin : gen_lane
      localparam int unsigned Next = (i % 5 + 1) % 5 + i - i % 5;
      localparam int unsigned Second = (i % 5 + 2) % 5 + i - i % 5;
      logic [63:0] first, constant;
      assign sums[s][i] = own_q[s][i] ^ cross_q[s][i];
      // The complement of a bit is that of its first share.
      assign first    = s == 0 ? ~own_q[s][Next] : own_q[s][Next];
      assign constant = s == 0 && i == 0 ? RoundConstants[round_q] : '0;
      always_ff @(posedge clk_i) begin
        if (busy_o && !chi_q) begin
          own_q[s][i]   <= mixed[s][i];
          cross_q[s][i] <= '0;
        end else if (busy_o) begin
          own_q[s][i]   <= own_q[s][i] ^ (first & own_q[s][Second]) ^ constant;
          cross_q[s][i] <= (first & own_q[1-s][Second]) ^ random_i[i];
        end else if (write_i && write_lane_i == 5'(i)) begin
          own_q[s][i]   <= word_i[s];
          cross_q[s][i] <= '0;
        end
      end
    end
    keccak_mix u_mix (.state_i(sums[s]), .busy_i(1'b1), .flags_i('0), .mixed_o(mixed[s]));
    assign word_o[s] = busy_o ? '0 : sums[s][read_lane_i];
  end
endmodule
