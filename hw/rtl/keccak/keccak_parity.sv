// SPDX-License-Identifier: Apache-2.0
// Computes the parities of the columns of Keccak's state. [FIPS202, section 3.2.1]
(* keep_hierarchy *)
module keccak_parity (
  input  logic [24:0][63:0] state_i,
  output logic [4:0][63:0]  parity_o
);
  for (genvar x = 0; x < 5; x++) begin : gen_column
    assign parity_o[x] = state_i[x] ^ state_i[x+5] ^ state_i[x+10] ^ state_i[x+15] ^ state_i[x+20];
  end
endmodule
