// SPDX-License-Identifier: Apache-2.0
// Delays data by `Cycles` cycles. It has no reset, so that synthesis uses the shift registers of LUTs.
module delay_line #(
  parameter int unsigned Width = 12,
  parameter int unsigned Cycles = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] data_i,
  output logic [Width-1:0] data_o
);
  logic [Width-1:0] line_q[Cycles];
  always_ff @(posedge clk_i) begin
    line_q[0] <= data_i;
    for (int unsigned i = 1; i < Cycles; i++) line_q[i] <= line_q[i-1];
  end
  assign data_o = line_q[Cycles-1];
endmodule
