// SPDX-License-Identifier: Apache-2.0
// The memory of polynomials, as pairs of neighbouring coefficients, with a read and a write port. Each half of a word
// can be written alone. A word comes a cycle after its address.
module pair_ram
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Depth = 1024,
  localparam int unsigned Bits = $clog2(Depth)
) (
  input  logic            clk_i,
  input  logic [1:0]      write_i,
  input  logic [Bits-1:0] write_at_i,
  input  coeff_t [1:0]    pair_i,
  input  logic [Bits-1:0] read_at_i,
  output coeff_t [1:0]    pair_o
);
  for (genvar i = 0; i < 2; i++) begin : gen_half
    coeff_t words[Depth];
    always_ff @(posedge clk_i) begin
      if (write_i[i]) words[write_at_i] <= pair_i[i];
      pair_o[i] <= words[read_at_i];
    end
  end
endmodule
