// SPDX-License-Identifier: Apache-2.0
// Gives the negated twiddle factor of pair `index_i` in stage `First` of a lane and, from the other port of the same
// block RAM, that of the stage after it, with a latency of a cycle.
//   NTT   zeta^BitRev7(2^stage + block)             [FIPS203, Alg 9, L4]
//   INTT  zeta^(-(2e + 1) 2^stage) / 2, where e is the place of the pair in its block
module twiddles
  import polykem_hw_pkg::*;
#(
  parameter int unsigned First = 0,
  parameter int unsigned Stages = 2  // 1: only stage First
) (
  input  logic       clk_i,
  input  transform_e transform_i[Stages],
  input  logic [5:0] index_i[Stages],
  output centred_t  twiddle_o[Stages]
);
  localparam int unsigned Entries = 128 * Stages;
  function automatic centred_t negated(int unsigned factor);
    return factor <= Q / 2 ? -centred_t'(factor) : centred_t'(Q - factor);
  endfunction
  function automatic centred_t forward(int unsigned stage, int unsigned i);
    return negated(power(Zeta, bit_reverse((1 << stage) + i / (64 >> stage), 7)));
  endfunction
  function automatic centred_t inverse(int unsigned stage, int unsigned i);
    // The order of zeta is 256.
    return negated(power(Zeta, 256 - (((2 * (i % (64 >> stage)) + 1) << stage) % 256)) * ((Q + 1) / 2) % Q);
  endfunction
  typedef centred_t table_t[Entries];
  function automatic table_t factors();
    table_t entries;
    for (int unsigned i = 0; i < Entries; i++)
      entries[i] = i / 64 % 2 == 0 ? forward(First + i / 128, i % 64) : inverse(First + i / 128, i % 64);
    return entries;
  endfunction

  (* ram_style = "block" *) centred_t twiddles_q[Entries];
  initial twiddles_q = factors();
  for (genvar n = 0; n < Stages; n++) begin : gen_stage
    always_ff @(posedge clk_i)
      twiddle_o[n] <= twiddles_q[$clog2(Entries)'({1'(n), transform_i[n] == TransformIntt, index_i[n]})];
  end
endmodule
