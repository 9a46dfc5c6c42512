// SPDX-License-Identifier: Apache-2.0
// Computes the next value of a lane of the state. While busy_i is high, this is chi of three mixed lanes. Otherwise it
// is the lane or zero, plus a word or not, according to the flags that keccak_mix then gives. [FIPS202, section 3.2.4]
(* keep_hierarchy *)
module keccak_choice #(
  parameter int unsigned Column = 0  // 0 .. 4
) (
  input  logic        busy_i,
  input  logic [63:0] mixed_i,    // of the lane's own column
  input  logic [63:0] next_i,     // of the next column
  input  logic [63:0] second_i,   // of the column after that
  input  logic [63:0] state_i,
  input  logic [63:0] added_i,
  output logic [63:0] lane_o
);
  // The flags of even columns say that the state is kept, those of odd columns that a word is added.
  logic [63:0] counts, adds;
  assign counts = Column % 2 == 0 ? mixed_i : next_i;
  assign adds   = Column == 4 ? second_i : Column % 2 == 0 ? next_i : mixed_i;
  assign lane_o = busy_i ? mixed_i ^ (~next_i & second_i) : (state_i & counts) ^ (added_i & adds);
endmodule
