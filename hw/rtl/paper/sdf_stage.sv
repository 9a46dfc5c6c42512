// SPDX-License-Identifier: Apache-2.0
// Computes butterflies of coefficients that are Depth apart, with one coefficient in every cycle. The first half of a
// block waits in the FIFO. While the second half comes, sums leave at once, and differences go into the FIFO, from
// which they leave while the first half of the next block comes. The INTT halves the sums.
module sdf_stage
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Depth = 64  // a power of two
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,  // with the first of 128 coefficients
  input  transform_e transform_i,
  input  coeff_t     x_i,
  output logic       start_o,  // Depth + 1 cycles later
  output transform_e transform_o,
  output coeff_t     x_o
);
  logic [6:0] index, index_q;
  transform_e transform, transform_q;
  assign index     = start_i ? '0 : index_q;
  assign transform = start_i ? transform_i : transform_q;
  always_ff @(posedge clk_i) begin
    index_q     <= index + 7'd1;
    transform_q <= transform;
  end

  logic   second;  // the coefficient is in the second half of its block
  coeff_t first, sum, half, difference;
  assign second = |(index & 7'(Depth));
  delay_line #(.Width(CoeffBits), .Cycles(Depth)) u_fifo (
    .clk_i, .data_i(second ? difference : x_i), .data_o(first)
  );
  mod_add u_add (.a_i(first), .b_i(x_i), .sum_o(sum));
  mod_half u_half (.halve_i(transform == TransformIntt), .a_i(sum), .half_o(half));
  mod_sub u_sub (.a_i(first), .b_i(x_i), .difference_o(difference));
  always_ff @(posedge clk_i) x_o <= second ? half : first;

  logic [Depth:0] starts_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) starts_q <= '0;
    else         starts_q <= {starts_q[Depth-1:0], start_i};
  end
  assign start_o = starts_q[Depth];
  logic transform_late;
  delay_line #(.Width(1), .Cycles(Depth + 1)) u_transform (.clk_i, .data_i(transform), .data_o(transform_late));
  assign transform_o = transform_e'(transform_late);
endmodule
