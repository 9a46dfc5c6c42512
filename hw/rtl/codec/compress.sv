// SPDX-License-Identifier: Apache-2.0
// Compress_d [FIPS203, 4.7]: round(2^d x / Q) mod 2^d for d = 1, 4, 5, 10, 11, in the low d bits, two cycles later, of
// two coefficients, which share a table in block RAM: x M / 2^21 with M = round(2^33 / Q) is close enough to 2^12 x / Q
// that every d rounds right; the test tries all x.
module compress
  import polykem_hw_pkg::*;
(
  input  logic             clk_i,
  input  width_e           width_i,
  input  coeff_t [1:0]     x_i,
  output logic [1:0][10:0] y_o
);
  localparam longint unsigned Factor = 2580335;  // check-magic: 2580335 == round(2^33 / 3329)
  typedef logic [CoeffBits-1:0] table_t[4096];
  function automatic table_t quotients();
    table_t entries;
    for (int unsigned x = 0; x < 4096; x++) entries[x] = CoeffBits'((64'(x) * Factor) >> 21);
    return entries;
  endfunction
  (* ram_style = "block" *) logic [CoeffBits-1:0] quotients_q[4096];
  initial quotients_q = quotients();

  width_e width_q;
  always_ff @(posedge clk_i) width_q <= width_i;
  for (genvar i = 0; i < 2; i++) begin : gen_coeff
    logic [32:21] quotient_q;  // bits of x M
    always_ff @(posedge clk_i) quotient_q <= quotients_q[x_i[i]];

    // 2^d x / Q has its fraction below bit 33 - d; adding the bit below that one rounds.
    logic [10:0] whole;
    logic        half;
    always_comb begin
      unique case (width_q)
        Width1:  {whole, half} = {10'd0, quotient_q[32], quotient_q[31]};
        Width4:  {whole, half} = {7'd0, quotient_q[32:29], quotient_q[28]};
        Width5:  {whole, half} = {6'd0, quotient_q[32:28], quotient_q[27]};
        Width10: {whole, half} = {1'b0, quotient_q[32:23], quotient_q[22]};
        default: {whole, half} = {quotient_q[32:22], quotient_q[21]};
      endcase
    end
    logic [10:0] sum;
    assign sum = whole + 11'(half);
    always_ff @(posedge clk_i) begin
      unique case (width_q)
        Width1:  y_o[i] <= {10'd0, sum[0]};
        Width4:  y_o[i] <= {7'd0, sum[3:0]};
        Width5:  y_o[i] <= {6'd0, sum[4:0]};
        Width10: y_o[i] <= {1'b0, sum[9:0]};
        default: y_o[i] <= sum;
      endcase
    end
  end
endmodule
