// SPDX-License-Identifier: Apache-2.0
// Computes Compress_d [FIPS203, 4.7], round(2^d x / Q) mod 2^d, for d = 1, 4, 5, 10, 11. The result is in the upper d
// bits of y; the bits below it are arbitrary. With Width12, x passes through. The latency is two cycles. Two
// coefficients share a table in block RAM.
module compress
  import polykem_hw_pkg::*;
(
  input  logic         clk_i,
  input  width_e       width_i,
  input  coeff_t [1:0] x_i,
  output coeff_t [1:0] y_o
);
  // The first quotient of four neighbours. Each other one is larger by its distance to the first, or by one more.
  coeff_t [1:0]    first;
  logic [1:0][3:1] more_of;
  quotients u_quotients (
    .clk_i, .index_i({x_i[1][11:2], x_i[0][11:2]}), .first_o(first), .more_o(more_of)
  );

  function automatic logic [2:0] low(width_e width, logic [1:0] distance, logic more);
    logic [2:0] rest = 3'(distance) + 3'(more);
    unique case (width)
      Width10: return rest + 3'd2;
      Width11: return rest + 3'd1;
      Width12: return '0;
      default: return rest;
    endcase
  endfunction

  width_e width_q;
  always_ff @(posedge clk_i) width_q <= width_i;
  for (genvar i = 0; i < 2; i++) begin : gen_coeff
    coeff_t x_q;
    always_ff @(posedge clk_i) x_q <= x_i[i];

    // The rest of the quotient, and a one below the upper d bits, which rounds them.
    logic [3:0] mores;
    (* keep *) logic more;
    coeff_t     addend;
    assign mores  = {more_of[i], 1'b0};
    assign more   = mores[x_q[1:0]];
    assign addend = {1'b0, width_q == Width1, 2'b0, width_q == Width4, width_q == Width5, 3'd0,
                     low(width_q, x_q[1:0], more)};
    // The addend is the first operand, since an FPGA's adder can compute the choice in front of its second one.
    always_ff @(posedge clk_i) y_o[i] <= addend + (width_q == Width12 ? x_q : first[i]);
  end
endmodule
