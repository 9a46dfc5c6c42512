// SPDX-License-Identifier: Apache-2.0
// Iota of Keccak-f[1600].
package keccak_pkg;

  typedef logic [23:0][63:0] constants_t;

  // Bit 2^j - 1 of the constant of round r is rc(j + 7 r). [FIPS202, Alg 5, 6]
  function automatic logic rc(int unsigned t);
    logic [8:0] r = 9'h01;
    for (int unsigned i = 0; i < t % 255; i++) begin
      r = {r[7:0], 1'b0};
      if (r[8]) r ^= 9'h171;
    end
    return r[0];
  endfunction

  function automatic constants_t round_constants();
    constants_t found = '0;
    for (int unsigned r = 0; r < 24; r++)
      for (int unsigned j = 0; j < 7; j++) found[r][(1<<j)-1] = rc(j + 7 * r);
    return found;
  endfunction

  // A module that is tested alone need not use it.
  // verilator lint_off UNUSEDPARAM
  parameter constants_t RoundConstants = round_constants();
  // verilator lint_on UNUSEDPARAM

endpackage
