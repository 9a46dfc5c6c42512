// SPDX-License-Identifier: Apache-2.0
// Selects one of four words, with a LUT of six inputs for each bit. It keeps its hierarchy, because synthesis would
// otherwise replace shifts of two such levels by three levels of LUTs with three inputs.
(* keep_hierarchy *)
module choose #(
  parameter int unsigned Width = 64
) (
  input  logic [1:0]            which_i,
  input  logic [3:0][Width-1:0] words_i,
  output logic [Width-1:0]      word_o
);
  assign word_o = words_i[which_i];
endmodule
