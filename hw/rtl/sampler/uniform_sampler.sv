// SPDX-License-Identifier: Apache-2.0
// Computes SampleNTT [FIPS203, Alg 7]: takes `Candidates` integers a cycle and gives those below Q, in order, as many
// at a time. The data is public, so its time may depend on it.
module uniform_sampler
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Candidates = 4  // a power of two
) (
  input  logic         clk_i,
  input  logic         clear_i,   // begins a polynomial
  input  logic         valid_i,
  output logic         ready_o,
  input  coeff_t [Candidates-1:0] candidates_i,
  output logic         valid_o,
  input  logic         ready_i,
  output coeff_t [Candidates-1:0] coeffs_o
);
  localparam int unsigned CountBits = $clog2(Candidates);
  typedef logic [CountBits-1:0] place_t;

  // The accepted candidates are moved together, then rotated to their places in a ring of `Candidates` places. Those
  // that reach beyond its end are kept and begin the next output.
  coeff_t [Candidates-1:0] kept_q, close, turned;
  place_t count_q;             // number of kept coefficients
  logic [Candidates-1:0] accepted;
  place_t from[Candidates];    // [i]: the index of the accepted candidate number i
  logic [CountBits:0] number, total;
  always_comb begin
    number = '0;
    for (int unsigned i = 0; i < Candidates; i++) from[i] = place_t'(i);
    for (int unsigned i = 0; i < Candidates; i++) begin
      accepted[i] = valid_i && !reaches_q({1'b0, candidates_i[i]});
      if (accepted[i]) begin
        from[place_t'(number)] = place_t'(i);
        number = number + 1'b1;
      end
    end
    total = {1'b0, count_q} + number;
  end
  for (genvar i = 0; i < Candidates; i++) begin : gen_place
    logic is_new;
    assign close[i]    = candidates_i[from[i]];
    assign turned[i]   = close[place_t'(i)-count_q];
    assign is_new      = (CountBits+1)'(i) >= {1'b0, count_q};
    assign coeffs_o[i] = is_new ? turned[i] : kept_q[i];
    // A place that is not filled yet may be written too; it is written again later.
    always_ff @(posedge clk_i) if (ready_o && (is_new || valid_o)) kept_q[i] <= turned[i];
  end
  assign valid_o = total[CountBits];
  assign ready_o = !valid_o || ready_i;

  always_ff @(posedge clk_i) begin
    if (clear_i)      count_q <= '0;
    else if (ready_o) count_q <= total[CountBits-1:0];
  end

`ifdef FORMAL
  // Every kept coefficient was accepted, and so was every one that leaves.
  initial count_q = '0;
  always_comb begin
    for (int unsigned i = 0; i < Candidates; i++) if (place_t'(i) < count_q) assert (kept_q[i] < coeff_t'(Q));
    for (int unsigned i = 0; i < Candidates; i++) if (valid_o) assert (coeffs_o[i] < coeff_t'(Q));
    assert (total <= (CountBits+1)'(2 * Candidates - 1));
  end
`endif
endmodule
