// SPDX-License-Identifier: Apache-2.0
// Computes one butterfly in every cycle, with a latency of five cycles. Coefficients that enter and leave are any 12
// bits with the right residue. The twiddle factor enters negated, so that both transforms share the adders: b or b - a,
// which is signed, is multiplied by it, and a or zero is added to the product r.
//   NTT   (a, b) -> (a - r, a + r), r = -b w        [FIPS203, Alg 9, L8-10]
//   INTT  (a, b) -> ((a + b) / 2, r), r = (a - b) w; w includes the division by 2
module butterfly
  import polykem_hw_pkg::*;
#(
  parameter reduce_e Method = ReduceTable
) (
  input  logic       clk_i,
  input  transform_e transform_i,  // of the pair that enters
  input  coeff_t     a_i,
  input  coeff_t     b_i,
  input  centred_t  twiddle_i,    // -w, a cycle after its pair
  output coeff_t     a_o,
  output coeff_t     b_o
);
  localparam int unsigned Delay = 4;  // latency of the product

  // One DSP block with its registers; |factor twiddle| <= 4095 (Q - 1) / 2 < 2^23.
  logic signed [CoeffBits:0] factor_q;
  logic signed [2*CoeffBits-1:0] product_q;
  always_ff @(posedge clk_i) begin
    factor_q  <= {1'b0, b_i} - (transform_i == TransformIntt ? {1'b0, a_i} : '0);
    product_q <= (2*CoeffBits)'(factor_q * twiddle_i);
  end
  logic [CoeffBits:0] r;  // less than 2 Q
  reduce #(.Width(2 * CoeffBits), .Signed(1), .Exact(0), .Method(Method)) u_reduce (
    .clk_i, .value_i(product_q), .addend_i('0), .residue_o(r)
  );

  coeff_t a, b;
  logic   intt;
  delay_line #(.Width(2 * CoeffBits + 1), .Cycles(Delay)) u_late (
    .clk_i, .data_i({transform_i == TransformIntt, a_i, b_i}), .data_o({intt, a, b})
  );

  // a - r, which is more than -2 Q, or a + b, which is less than 2^13. The last bit is the adder's carry in.
  logic [13:0] upper;
  logic unused;
  assign {upper, unused} = {2'b00, a, 1'b1} + {!intt, intt ? {1'b0, b} : ~r, !intt};
  // 2 Q is added to a difference below -3072, Q to any other negative one. A sum is halved; if it is odd, Q is added
  // first or, from 4096 on, subtracted.
  coeff_t correction, half;
  always_comb begin
    half = intt ? upper[12:1] : upper[11:0];
    if (intt) begin
      correction = !upper[0] ? '0 : upper[12] ? -coeff_t'((Q - 1) / 2) : coeff_t'((Q + 1) / 2);
    end else begin
      correction = !upper[13] ? '0 : upper[12] && |upper[11:10] ? coeff_t'(Q) : coeff_t'(2 * Q);
    end
  end

  // Sums are written as differences, x + y = x - ~y - 1, so that synthesis computes only y in the adder's LUTs.
  coeff_t halved;
  logic   unused_halved;
  assign {halved, unused_halved} = {correction, 1'b0} - {~half, 1'b1};
  // The sum is at most 2 Q - 1 + 4095. From 4096 on, Q is subtracted; from 7168 on, 2 Q.
  logic [13:0] lower, not_a;
  logic unused_lower;
  coeff_t excess;
  assign not_a  = intt ? '1 : {2'b11, ~a};
  assign {lower, unused_lower} = {1'b0, r, 1'b0} - {not_a, 1'b1};
  assign excess = lower[13] || &lower[12:10] ? coeff_t'(2 * Q) : lower[12] ? coeff_t'(Q) : '0;
  always_ff @(posedge clk_i) begin
    a_o <= halved;
    b_o <= lower[11:0] - excess;
  end
endmodule
