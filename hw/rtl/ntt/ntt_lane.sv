// SPDX-License-Identifier: Apache-2.0
// Transforms 128 coefficients, the even or the odd ones of a polynomial, in seven stages, a pair in every cycle. A
// frame is 64 pairs in 64 cycles without a gap; the next frame may follow at once. The first pair of the result comes
// 98 cycles after the first pair of the frame. Pairs of coefficients 64 apart enter the NTT, and pairs of neighbours
// leave it. The INTT takes pairs of neighbours in bit-reversed order and divides by 128.
module ntt_lane
  import polykem_hw_pkg::*;
#(
  parameter reduce_e Method = ReduceTable
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       start_i,      // with the first pair of a frame
  input  transform_e transform_i,  // with start_i
  input  coeff_t     a_i,
  input  coeff_t     b_i,
  output logic       start_o,      // with the first pair of the result
  output transform_e transform_o,  // with start_o
  output coeff_t     a_o,
  output coeff_t     b_o
);
  localparam int unsigned Stages = 7;

  coeff_t     a[Stages+1], b[Stages+1];
  logic       start[Stages+1];
  transform_e transform[Stages+1], transform_now[Stages];
  logic [5:0] index[Stages];
  centred_t  twiddle[Stages];

  assign a[0]         = a_i;
  assign b[0]         = b_i;
  assign start[0]     = start_i;
  assign transform[0] = transform_i;

  for (genvar i = 0; i < Stages; i++) begin : gen_stage
    ntt_stage #(.Stage(i), .Method(Method)) u_stage (
      .clk_i, .rst_ni,
      .start_i(start[i]), .transform_i(transform[i]), .a_i(a[i]), .b_i(b[i]),
      .transform_now_o(transform_now[i]), .index_o(index[i]), .twiddle_i(twiddle[i]),
      .start_o(start[i+1]), .transform_o(transform[i+1]), .a_o(a[i+1]), .b_o(b[i+1])
    );
  end

  for (genvar i = 0; i < Stages; i += 2) begin : gen_twiddles
    localparam int unsigned Last = i + 1 < Stages ? i + 1 : i;
    twiddles #(.First(i), .Stages(Last - i + 1)) u_twiddles (
      .clk_i, .transform_i(transform_now[i:Last]), .index_i(index[i:Last]), .twiddle_o(twiddle[i:Last])
    );
  end

  // Between the stages, coefficients are any 12 bits with the right residue.
  assign a_o         = a[Stages] - (reaches_q({1'b0, a[Stages]}) ? coeff_t'(Q) : '0);
  assign b_o         = b[Stages] - (reaches_q({1'b0, b[Stages]}) ? coeff_t'(Q) : '0);
  assign start_o     = start[Stages];
  assign transform_o = transform[Stages];
endmodule
