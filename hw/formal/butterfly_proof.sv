// SPDX-License-Identifier: Apache-2.0
// A butterfly multiplies the right numbers, and its results have the right residues for any 12 bits a and b if `reduce`
// gives a number r below 2 Q with the residue of the product: table24_signed proves this. Here r is any such number.
//   NTT   a_o = a - r, b_o = a + r      INTT  2 a_o = a + b, b_o = r      (mod Q)
module butterfly_proof
  import polykem_hw_pkg::*;
(
  input logic       clk_i,
  input transform_e transform_i,
  input coeff_t     a_i,
  input coeff_t     b_i,
  input centred_t   twiddle_i
);
  localparam int unsigned Cycles = 5;
  coeff_t a_o, b_o;
  butterfly u_dut (.clk_i, .transform_i, .a_i, .b_i, .twiddle_i, .a_o, .b_o);

  // What entered n cycles ago.
  logic       intt[Cycles+1];
  coeff_t     a[Cycles+1], b[Cycles+1];
  logic signed [2*CoeffBits-1:0] product_q;
  logic [CoeffBits:0] r_q;
  logic [2:0] age_q = '0;
  assign intt[0] = transform_i == TransformIntt;
  assign a[0]    = a_i;
  assign b[0]    = b_i;
  for (genvar n = 0; n < Cycles; n++) begin : gen_late
    always_ff @(posedge clk_i) {intt[n+1], a[n+1], b[n+1]} <= {intt[n], a[n], b[n]};
  end
  always_ff @(posedge clk_i) begin
    product_q <= (2*CoeffBits)'(u_dut.factor_q * twiddle_i);
    r_q       <= u_dut.r;
    if (age_q != 3'(Cycles)) age_q <= age_q + 3'd1;
  end

  logic signed [CoeffBits:0] factor;
  assign factor = {1'b0, b[1]} - (intt[1] ? {1'b0, a[1]} : '0);
  // How many times Q what leaves is above what it should be.
  function automatic logic is_multiple(logic signed [15:0] excess, int least, int most);
    is_multiple = 1'b0;
    for (int n = least; n <= most; n++) is_multiple |= excess == 16'(n * int'(Q));
  endfunction
  logic signed [15:0] last_a, last_b, r, a_out, b_out;
  assign {last_a, last_b, r}  = {16'(a[Cycles]), 16'(b[Cycles]), 16'(r_q)};
  assign {a_out, b_out}       = {16'(a_o), 16'(b_o)};
  always_comb begin
    assume (u_dut.r < 13'(2 * Q));
    assume (r_q < 13'(2 * Q));
    if (age_q >= 1) assert (u_dut.factor_q == factor);
    if (age_q >= 2) assert (u_dut.product_q == product_q);
    if (age_q == 3'(Cycles)) begin
      if (intt[Cycles]) begin
        assert (is_multiple(2 * a_out - last_a - last_b, -1, 1));
        assert (is_multiple(b_out - r, -2, 0));
      end else begin
        assert (is_multiple(a_out - last_a + r, 0, 2));
        assert (is_multiple(b_out - last_a - r, -2, 0));
      end
    end
    assert (age_q <= 3'(Cycles));
  end
endmodule
