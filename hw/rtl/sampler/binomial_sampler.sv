// SPDX-License-Identifier: Apache-2.0
// Computes SamplePolyCBD [FIPS203, Alg 8], one coefficient from each 2 Eta bits; combinational. A coefficient is in
// -3 .. 3, in two's complement.
module binomial_sampler #(
  parameter int unsigned Eta = 2,  // 2 or 3
  parameter int unsigned Coeffs = 8
) (
  input  logic [2*Eta*Coeffs-1:0] bits_i,
  output logic signed [2:0]       coeffs_o[Coeffs]
);
  // As a table, a bit of a coefficient takes one LUT.
  typedef logic signed [2:0] table_t[2**(2*Eta)];
  function automatic table_t differences();
    table_t entries;
    for (int unsigned i = 0; i < 2 ** (2 * Eta); i++)
      entries[i] = 3'($countones(i[Eta-1:0])) - 3'($countones(i[2*Eta-1:Eta]));
    return entries;
  endfunction
  localparam table_t Differences = differences();
  for (genvar i = 0; i < Coeffs; i++) begin : gen_coeff
    assign coeffs_o[i] = Differences[bits_i[2*Eta*i+:2*Eta]];
  end
endmodule
