// SPDX-License-Identifier: Apache-2.0
// The multiplier between two butterflies of a single-path pipeline, with a latency of five cycles. Before stage
// `Position` of the NTT it multiplies the second half of each block by the twiddle factor of [FIPS203, Alg 9]. After
// the stage before that, it multiplies differences of the INTT by zeta^(-(2e + 1) 2^stage) / 2. All other coefficients
// are multiplied by 1.
module sdf_multiplier
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Position = 0  // 0 .. 7
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,  // with the first of 128 coefficients
  input  transform_e transform_i,
  input  coeff_t     x_i,
  output logic       start_o,
  output transform_e transform_o,
  output coeff_t     x_o
);
  localparam int unsigned Cycles = 5;

  typedef coeff_t table_t[128];
  function automatic table_t forward();
    table_t entries;
    for (int unsigned i = 0; i < 128; i++) entries[i] = 12'd1;
    if (Position < 7)
      for (int unsigned i = 0; i < 128; i++)
        if (((i >> (6 - Position)) & 1) == 1)
          entries[i] = coeff_t'(power(Zeta, bit_reverse((1 << Position) + (i >> (7 - Position)), 7)));
    return entries;
  endfunction
  function automatic table_t inverse();
    table_t entries;
    for (int unsigned i = 0; i < 128; i++) entries[i] = 12'd1;
    if (Position > 0)
      for (int unsigned i = 0; i < 128; i++)
        if (((i >> (7 - Position)) & 1) == 1)
          entries[i] = coeff_t'(power(Zeta, 256 - (((2 * (i % (128 >> Position)) + 1) << (Position - 1)) % 256))
                                * ((Q + 1) / 2) % Q);
    return entries;
  endfunction
  localparam table_t Forward = forward();
  localparam table_t Inverse = inverse();

  logic [6:0] index, index_q;
  transform_e transform, transform_q;
  assign index     = start_i ? '0 : index_q;
  assign transform = start_i ? transform_i : transform_q;
  always_ff @(posedge clk_i) begin
    index_q     <= index + 7'd1;
    transform_q <= transform;
  end

  mod_mul #(.Method(ReduceFold)) u_mul (
    .clk_i, .a_i(x_i), .b_i(transform == TransformIntt ? Inverse[index] : Forward[index]), .product_o(x_o)
  );

  logic [Cycles-1:0] starts_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) starts_q <= '0;
    else         starts_q <= {starts_q[Cycles-2:0], start_i};
  end
  assign start_o = starts_q[Cycles-1];
  logic transform_late;
  delay_line #(.Width(1), .Cycles(Cycles)) u_transform (.clk_i, .data_i(transform), .data_o(transform_late));
  assign transform_o = transform_e'(transform_late);
endmodule
