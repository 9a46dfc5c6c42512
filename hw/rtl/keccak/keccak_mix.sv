// SPDX-License-Identifier: Apache-2.0
// Computes theta, rho and pi of Keccak-f[1600]; combinational. [FIPS202, section 3.2]
// The state is 25 lanes of 64 bits; lane (x, y) is number x + 5 y. While busy_i is low, every bit of lane i is
// flags_i[i]. keccak_choice takes three of these bits for each of its own, so it needs no other input for its choice.
// This module, keccak_parity and keccak_choice keep their hierarchy, because synthesis would otherwise move the choice
// and need one more multiplexer for each bit.
(* keep_hierarchy *)
module keccak_mix (
  input  logic [24:0][63:0] state_i,
  input  logic              busy_i,
  input  logic [24:0]       flags_i,
  output logic [24:0][63:0] mixed_o
);
  // Rho: the number of bits by which lane x + 5 y is rotated. [FIPS202, table 2, modulo 64]
  localparam int unsigned Turn[25] = '{
    0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14
  };

  logic [4:0][63:0] parity;
  keccak_parity u_parity (.state_i, .parity_o(parity));
  for (genvar x = 0; x < 5; x++) begin : gen_column
    for (genvar y = 0; y < 5; y++) begin : gen_lane
      localparam int unsigned To = y + 5 * ((2 * x + 3 * y) % 5);
      localparam int unsigned By = Turn[x+5*y];
      logic [63:0] lane, turned;
      assign lane        = state_i[x+5*y] ^ parity[(x+4)%5] ^ {parity[(x+1)%5][62:0], parity[(x+1)%5][63]};
      assign turned      = 64'({lane, lane} >> ((64 - By) % 64));
      assign mixed_o[To] = busy_i ? turned : {64{flags_i[To]}};
    end
  end
endmodule
