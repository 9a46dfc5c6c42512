// SPDX-License-Identifier: Apache-2.0
// The negated twiddle factor of pair `index_i` in stage `Stage` of a lane, a cycle later.
//   NTT   zeta^BitRev7(2^Stage + block)             [FIPS203, Alg 9, L4]
//   INTT  zeta^(-(2e + 1) 2^Stage) / 2, e the place of the pair in its block
module twiddles
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Stage = 0
) (
  input  logic       clk_i,
  input  transform_e transform_i,
  input  logic [5:0] index_i,
  output centered_t  twiddle_o
);
  localparam int unsigned Stride = 64 >> Stage;

  typedef centered_t table_t[64];
  function automatic centered_t negated(int unsigned factor);
    return factor <= Q / 2 ? -centered_t'(factor) : centered_t'(Q - factor);
  endfunction
  function automatic table_t forward();
    table_t entries;
    for (int unsigned i = 0; i < 64; i++)
      entries[i] = negated(power(Zeta, bit_reverse((1 << Stage) + i / Stride, 7)));
    return entries;
  endfunction
  function automatic table_t inverse();
    table_t entries;
    // zeta has order 256
    for (int unsigned i = 0; i < 64; i++)
      entries[i] = negated(power(Zeta, 256 - (((2 * (i % Stride) + 1) << Stage) % 256)) * ((Q + 1) / 2) % Q);
    return entries;
  endfunction
  localparam table_t Forward = forward();
  localparam table_t Inverse = inverse();

  (* ram_style = "block" *) centered_t twiddles_q[128];
  typedef centered_t both_t[128];
  function automatic both_t both();
    both_t entries;
    for (int unsigned i = 0; i < 64; i++) begin
      entries[i]    = Forward[i];
      entries[64+i] = Inverse[i];
    end
    return entries;
  endfunction
  initial twiddles_q = both();
  always_ff @(posedge clk_i) twiddle_o <= twiddles_q[{transform_i == TransformIntt, index_i}];
endmodule
