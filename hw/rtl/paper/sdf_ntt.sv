// SPDX-License-Identifier: Apache-2.0
// Computes the NTT and INTT of 128 coefficients, the even or the odd ones of a polynomial, one in every cycle, in seven
// single-path stages. The latency is 174 cycles, and the next frame may follow at once. The NTT takes coefficients in
// order and gives the standard's order. The INTT takes and gives them in bit-reversed order and divides by 128.
module sdf_ntt
  import polykem_hw_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,  // with the first of 128 coefficients
  input  transform_e transform_i,
  input  coeff_t     x_i,
  output logic       start_o,  // with the first of the result
  output coeff_t     x_o
);
  localparam int unsigned Stages = 7;

  coeff_t     x[Stages+1], product[Stages+1];
  logic       start[Stages+1], product_start[Stages+1];
  transform_e transform[Stages+1], product_transform[Stages+1];
  assign x[0]         = x_i;
  assign start[0]     = start_i;
  assign transform[0] = transform_i;

  for (genvar i = 0; i <= Stages; i++) begin : gen_stage
    sdf_multiplier #(.Position(i)) u_multiplier (
      .clk_i, .rst_ni, .start_i(start[i]), .transform_i(transform[i]), .x_i(x[i]),
      .start_o(product_start[i]), .transform_o(product_transform[i]), .x_o(product[i])
    );
    if (i < Stages) begin : gen_butterfly
      sdf_stage #(.Depth(64 >> i)) u_stage (
        .clk_i, .rst_ni, .start_i(product_start[i]), .transform_i(product_transform[i]), .x_i(product[i]),
        .start_o(start[i+1]), .transform_o(transform[i+1]), .x_o(x[i+1])
      );
    end
  end
  assign start_o = product_start[Stages];
  assign x_o     = product[Stages];

  logic unused;
  assign unused = product_transform[Stages] == TransformIntt;
endmodule
