// SPDX-License-Identifier: Apache-2.0
// Compares both reductions of every value of `Width` bits with a counter modulo Q. Values of one bit less are also
// reduced as signed values, and by the table without its last step.
module sweep
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Width = 27
) (
  input  logic clk_i,
  output logic done_o,
  output logic wrong_o  // some residue was
);
  localparam int unsigned Signed = Width - 1;

  logic [Width:0] value_q;  // the value that enters; two cycles later its residue leaves
  coeff_t wanted_q, fold, table_based, signed_fold, signed_table;
  logic [CoeffBits:0] loose;
  reduce #(.Width(Width), .Method(ReduceFold)) u_fold (
    .clk_i, .value_i(value_q[Width-1:0]), .addend_i('0), .residue_o(fold)
  );
  reduce #(.Width(Width), .Method(ReduceTable)) u_table (
    .clk_i, .value_i(value_q[Width-1:0]), .addend_i('0), .residue_o(table_based)
  );
  reduce #(.Width(Signed), .Signed(1), .Method(ReduceFold)) u_signed_fold (
    .clk_i, .value_i(value_q[Signed-1:0]), .addend_i('0), .residue_o(signed_fold)
  );
  reduce #(.Width(Signed), .Signed(1), .Method(ReduceTable)) u_signed_table (
    .clk_i, .value_i(value_q[Signed-1:0]), .addend_i('0), .residue_o(signed_table)
  );
  reduce #(.Width(Signed), .Signed(1), .Exact(0), .Method(ReduceTable)) u_loose (
    .clk_i, .value_i(value_q[Signed-1:0]), .addend_i('0), .residue_o(loose)
  );
  initial begin
    value_q         = '0;
    wanted_q        = '0;
    wanted_signed_q = '0;
    wrong_o         = 1'b0;
  end
  function automatic coeff_t following(coeff_t residue);
    return residue == coeff_t'(Q - 1) ? '0 : residue + 12'd1;
  endfunction

  // signed values begin anew in the middle, with the least one, and at the end, with zero
  logic [Signed-1:0] left;
  coeff_t wanted_signed_q, wanted_signed;
  assign left = Signed'(value_q - 2);
  always_comb begin
    wanted_signed = wanted_signed_q;
    if (left == 0) wanted_signed = '0;
    if (left == {1'b1, {(Signed - 1){1'b0}}}) wanted_signed = coeff_t'(Q - 2 ** (Signed - 1) % Q);
  end
  assign done_o = value_q == (Width + 1)'(2 ** Width + 2);
  always_ff @(posedge clk_i) begin
    value_q <= value_q + 1'b1;
    if (value_q >= 2) begin
      wanted_q        <= following(wanted_q);
      wanted_signed_q <= following(wanted_signed);
      if (fold != wanted_q || table_based != wanted_q) wrong_o <= 1'b1;
      if (signed_fold != wanted_signed || signed_table != wanted_signed) wrong_o <= 1'b1;
      if (loose != 13'(wanted_signed) && loose != 13'(wanted_signed) + 13'(Q)) wrong_o <= 1'b1;
    end
  end
endmodule
