// SPDX-License-Identifier: Apache-2.0
// Computes Compress_d [FIPS203, 4.7], round(2^d x / Q) mod 2^d, for d = 1, 4, 5, 10, 11. The result is in the upper d
// bits of y; the bits below it are arbitrary. With Width12, x passes through. The latency is two cycles. Two
// coefficients share a table in block RAM. It has x M / 2^21 with M = round(2^33 / Q), which is close enough to 2^12 x
// / Q for every d to round correctly; the test tries all x.
module compress
  import polykem_hw_pkg::*;
(
  input  logic         clk_i,
  input  width_e       width_i,
  input  coeff_t [1:0] x_i,
  output coeff_t [1:0] y_o
);
  localparam longint unsigned Factor = 2580335;  // check-magic: 2580335 == round(2^33 / 3329)
  function automatic int unsigned quotient(int unsigned x);
    return 32'((64'(x) * Factor) >> 21);
  endfunction
  // The first quotient of four neighbours. Each other one is larger by its distance to the first, or by one more.
  typedef struct packed {
    logic [3:1] more;
    coeff_t     first;
  } entry_t;
  typedef entry_t table_t[1024];
  function automatic table_t quotients();
    table_t entries;
    for (int unsigned i = 0; i < 1024; i++) begin
      entries[i].first = coeff_t'(quotient(4 * i));
      for (int unsigned j = 1; j < 4; j++) entries[i].more[j] = quotient(4 * i + j) - quotient(4 * i) != j;
    end
    return entries;
  endfunction
  (* ram_style = "block" *) entry_t quotients_q[1024];
  initial quotients_q = quotients();

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
    entry_t entry_q;
    coeff_t x_q;
    always_ff @(posedge clk_i) begin
      entry_q <= quotients_q[x_i[i][11:2]];
      x_q     <= x_i[i];
    end

    // The rest of the quotient, and a one below the upper d bits, which rounds them.
    logic [3:0] mores;
    (* keep *) logic more;
    coeff_t     addend;
    assign mores  = {entry_q.more, 1'b0};
    assign more   = mores[x_q[1:0]];
    assign addend = {1'b0, width_q == Width1, 2'b0, width_q == Width4, width_q == Width5, 3'd0,
                     low(width_q, x_q[1:0], more)};
    // The addend is the first operand, since an FPGA's adder can compute the choice in front of its second one.
    always_ff @(posedge clk_i) y_o[i] <= addend + (width_q == Width12 ? x_q : entry_q.first);
  end
endmodule
