// SPDX-License-Identifier: Apache-2.0
// The table of compress, with a latency of a cycle: x M / 2^21 with M = round(2^33 / Q), which is close enough to
// 2^12 x / Q for every d to round correctly; the test of compress tries all x. It is the only memory with initial
// contents beside twiddles: an ASIC replaces both modules by ROMs, this one with two ports of 1,024 words of 15 bits.
module quotients
  import polykem_hw_pkg::*;
(
  input  logic              clk_i,
  input  logic [1:0][9:0]   index_i,  // x / 4
  output coeff_t [1:0]      first_o,  // the quotient of x = 4 index
  output logic [1:0][3:1]   more_o    // whether that of x + j is larger by j + 1, not by j
);
  localparam longint unsigned Factor = 2580335;  // check-magic: 2580335 == round(2^33 / 3329)
  function automatic int unsigned quotient(int unsigned x);
    return 32'((64'(x) * Factor) >> 21);
  endfunction
  typedef struct packed {
    logic [3:1] more;
    coeff_t     first;
  } entry_t;
  typedef entry_t table_t[1024];
  function automatic table_t entries();
    table_t found;
    for (int unsigned i = 0; i < 1024; i++) begin
      found[i].first = coeff_t'(quotient(4 * i));
      for (int unsigned j = 1; j < 4; j++) found[i].more[j] = quotient(4 * i + j) - quotient(4 * i) != j;
    end
    return found;
  endfunction
  (* ram_style = "block" *) entry_t entries_q[1024];
  initial entries_q = entries();
  for (genvar i = 0; i < 2; i++) begin : gen_port
    always_ff @(posedge clk_i) {more_o[i], first_o[i]} <= entries_q[index_i[i]];
  end
endmodule
