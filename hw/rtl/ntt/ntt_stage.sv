// SPDX-License-Identifier: Apache-2.0
// Computes butterflies of coefficients that are 64 >> Stage apart, and reorders their results for the next stage. The
// twiddle factor of a pair is to come a cycle after index_o.
module ntt_stage
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Stage = 0,
  parameter reduce_e     Method = ReduceTable
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,
  input  transform_e transform_i,
  input  coeff_t     a_i,
  input  coeff_t     b_i,
  output transform_e transform_now_o,
  output logic [5:0] index_o,
  input  centred_t  twiddle_i,
  output logic       start_o,
  output transform_e transform_o,
  output coeff_t     a_o,
  output coeff_t     b_o
);
  localparam int unsigned ButterflyCycles = 5;
  localparam int unsigned Depth = 32 >> Stage;  // 0 after the last stage
  localparam int unsigned Cycles = ButterflyCycles + Depth;

  // The place of the pair in its frame, and the frame's transform. The place counts on between frames, unused.
  logic [5:0] index, index_q;
  transform_e transform, transform_q;
  assign index     = start_i ? '0 : index_q;
  assign transform = start_i ? transform_i : transform_q;
  always_ff @(posedge clk_i) begin
    index_q     <= index + 6'd1;
    transform_q <= transform;
  end

  assign transform_now_o = transform;
  assign index_o         = index;
  coeff_t a, b;
  butterfly #(.Method(Method)) u_butterfly (
    .clk_i, .transform_i(transform), .a_i, .b_i, .twiddle_i, .a_o(a), .b_o(b)
  );

  if (Depth > 0) begin : gen_commutator
    logic [5:0] late;  // index of the pair that leaves the butterfly
    delay_line #(.Width(6), .Cycles(ButterflyCycles)) u_index (.clk_i, .data_i(index), .data_o(late));
    commutator #(.Depth(Depth)) u_commutator (.clk_i, .index_i(late), .a_i(a), .b_i(b), .a_o, .b_o);
  end else begin : gen_last
    assign a_o = a;
    assign b_o = b;
  end

  // The start of the frame is delayed as its pairs are.
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
