// SPDX-License-Identifier: Apache-2.0
// What enters a lane of the state: while busy_i, chi of three mixed lanes; else, by what keccak_mix gives then, its
// own bits or zero, and something added or not. [FIPS202, section 3.2.4]
(* keep_hierarchy *)
module keccak_choice #(
  parameter int unsigned Column = 0  // 0 .. 4
) (
  input  logic        busy_i,
  input  logic [63:0] mixed_i,    // of its own column,
  input  logic [63:0] next_i,     // of the next one,
  input  logic [63:0] second_i,   // and of the one after it
  input  logic [63:0] state_i,
  input  logic [63:0] added_i,
  output logic [63:0] lane_o
);
  // even columns say that the state counts, odd ones that something is added
  logic [63:0] counts, adds;
  assign counts = Column % 2 == 0 ? mixed_i : next_i;
  assign adds   = Column == 4 ? second_i : Column % 2 == 0 ? next_i : mixed_i;
  assign lane_o = busy_i ? mixed_i ^ (~next_i & second_i) : (state_i & counts) ^ (added_i & adds);
endmodule
