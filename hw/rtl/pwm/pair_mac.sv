// SPDX-License-Identifier: Apache-2.0
// Computes a pair of coefficients of accumulator + a b in the NTT domain [FIPS203, Alg 12]:
//   c0 + a0 b0 + a1 b1 gamma,  c1 + (a0 + a1)(b0 + b1) - a0 b0 - a1 b1
// The latency is ten cycles.
module pair_mac
  import polykem_hw_pkg::*;
#(
  parameter reduce_e Method = ReduceTable
) (
  input  logic         clk_i,
  input  logic         valid_i,   // 0: the operands count as zero, so that no secret stays here
  input  logic         begins_i,  // the accumulator counts as zero
  input  logic         one_i,     // b counts as 1
  input  coeff_t [1:0] accumulator_i,
  input  coeff_t [1:0] a_i,
  input  coeff_t [1:0] b_i,
  input  coeff_t       gamma_i,  // five cycles after the operands
  output coeff_t [1:0] result_o
);
  localparam int unsigned Sum = CoeffBits + 1;
  localparam int unsigned Product = 2 * CoeffBits;

  coeff_t [1:0] accumulator_q;
  always_ff @(posedge clk_i) begin
    accumulator_q <= accumulator_i;
    if (!valid_i || begins_i) accumulator_q <= '0;
  end

  // Cycles 1 to 3: three products.
  coeff_t a0_q, a1_q, b0_q, b1_q;
  logic [Sum-1:0] a_sum_q, b_sum_q;
  logic [Product-1:0] low_q, low_qq, high_q, high_qq;
  logic [Product:0] cross_q, cross_qq;  // modulo 2^25, as the result that is computed from them
  always_ff @(posedge clk_i) begin
    {a1_q, a0_q} <= a_i;
    {b1_q, b0_q} <= b_i;
    a_sum_q      <= {1'b0, a_i[0]} + {1'b0, a_i[1]};
    b_sum_q      <= {1'b0, b_i[0]} + {1'b0, b_i[1]};
    if (!valid_i) {a1_q, a0_q, a_sum_q, b1_q, b0_q, b_sum_q} <= '0;
    if (one_i)    {b1_q, b0_q, b_sum_q} <= {CoeffBits'(0), CoeffBits'(1), Sum'(1)};
    low_q        <= a0_q * b0_q;
    high_q       <= a1_q * b1_q;
    cross_q      <= (Product + 1)'(a_sum_q * b_sum_q);
    low_qq       <= low_q;
    high_qq      <= high_q;
    cross_qq     <= cross_q;
  end

  // Cycles 4 and 5: a1 b1 modulo Q, less than 2 Q. Cycles 6 to 8: its product with gamma.
  logic [CoeffBits:0] high_residue, high_factor_q;
  coeff_t gamma_q;
  logic [Product:0] twisted_q, twisted_qq;
  reduce #(.Width(Product), .Exact(0), .Method(Method)) u_high (
    .clk_i, .value_i(high_qq), .addend_i('0), .residue_o(high_residue)
  );
  always_ff @(posedge clk_i) begin
    high_factor_q <= high_residue;
    gamma_q       <= gamma_i;
    twisted_q     <= (Product + 1)'(high_factor_q * gamma_q);
    twisted_qq    <= twisted_q;
  end

  // Cycles 9 and 10: the even result, from at most Q^2 + 2 Q^2 < 2^25.
  logic [Product-1:0] low_late;
  coeff_t even_accumulator;
  delay_line #(.Width(Product), .Cycles(5)) u_low (.clk_i, .data_i(low_qq), .data_o(low_late));
  delay_line #(.Width(CoeffBits), .Cycles(7)) u_even_accumulator (
    .clk_i, .data_i(accumulator_q[0]), .data_o(even_accumulator)
  );
  reduce #(.Width(Product + 1), .Method(Method)) u_even (
    .clk_i, .value_i((Product + 1)'(low_late) + twisted_qq), .addend_i(even_accumulator), .residue_o(result_o[0])
  );

  // Cycles 4 to 6: the odd result, which is then delayed. `keep` prevents synthesis from making one sum of three
  // operands.
  (* keep *) logic [Product:0] outer;
  logic [Product:0] odd_q;
  coeff_t odd_accumulator, odd;
  assign outer = (Product + 1)'(low_qq) + (Product + 1)'(high_qq);
  always_ff @(posedge clk_i) odd_q <= cross_qq - outer;
  delay_line #(.Width(CoeffBits), .Cycles(3)) u_odd_accumulator (
    .clk_i, .data_i(accumulator_q[1]), .data_o(odd_accumulator)
  );
  reduce #(.Width(Product + 1), .Method(Method)) u_odd (
    .clk_i, .value_i(odd_q), .addend_i(odd_accumulator), .residue_o(odd)
  );
  delay_line #(.Width(CoeffBits), .Cycles(4)) u_result (.clk_i, .data_i(odd), .data_o(result_o[1]));
endmodule
