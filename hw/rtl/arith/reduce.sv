// SPDX-License-Identifier: Apache-2.0
// Computes (value + addend) mod Q by the method for which the core was built. The latency is two cycles.
module reduce
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Width = 24,  // 16 to 27; at most 26 if Signed
  parameter bit          Signed = 0,  // the value is in two's complement
  parameter bit          Exact = 1,   // 0: the residue is only less than 2 Q
  parameter reduce_e     Method = ReduceTable,
  localparam int unsigned Bits = Exact ? CoeffBits : CoeffBits + 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] value_i,   // with ReduceFold, at most 2^27 - 4096
  input  coeff_t           addend_i,
  output logic [Bits-1:0]  residue_o
);
  if (Method == ReduceTable) begin : gen_table
    reduce_table #(.Width(Width), .Signed(Signed), .Exact(Exact)) u_reduce (.clk_i, .value_i, .addend_i, .residue_o);
  end else begin : gen_fold
    // The least multiple of Q that makes every value non-negative.
    localparam int unsigned Offset = Signed ? (2 ** (Width - 1) + Q - 1) / Q * Q : 0;
    localparam int unsigned Sum = Width < 27 ? Width + 1 : Width;
    logic [Sum-1:0] value;
    coeff_t residue;
    assign value = (Signed ? Sum'(signed'(value_i)) : Sum'(value_i)) + Sum'(Offset) + Sum'(addend_i);
    reduce_fold #(.Width(Sum)) u_reduce (.clk_i, .value_i(value), .residue_o(residue));
    assign residue_o = Bits'(residue);
  end
endmodule
