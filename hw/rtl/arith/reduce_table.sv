// SPDX-License-Identifier: Apache-2.0
// Computes (value + addend) mod Q by tables of residues. Each group of five bits from bit 15 on selects a residue,
// which is subtracted from the rest. Then the upper five bits of the sum select one that is added. The result is below
// 2 Q; with Exact it is reduced below Q. Tables have five inputs, so that a bit of a table and the bit from which it is
// subtracted fit into one LUT of an adder. The latency is two cycles.
module reduce_table
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Width = 24,  // 16 to 30
  parameter bit          Signed = 0,  // the value is in two's complement
  parameter bit          Exact = 1,
  localparam int unsigned OutBits = Exact ? CoeffBits : CoeffBits + 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] value_i,
  input  coeff_t           addend_i,
  output logic [OutBits-1:0] residue_o
);
  localparam int unsigned LowBits = 15;
  localparam int unsigned Tables = (Width - LowBits + 4) / 5;
  localparam int unsigned HighBits = Width - LowBits;
  localparam int unsigned FoldBits = 11;

  typedef coeff_t table_t[32];
  // Returns the residues of i 2^shift or, from i = `negative` on, of (i - wrap) 2^shift.
  function automatic table_t residues(int unsigned shift, int unsigned negative, int unsigned wrap);
    table_t entries;
    for (int unsigned i = 0; i < 32; i++)
      entries[i] = coeff_t'((i >= negative ? Q * wrap + i - wrap : i) * power(2, shift) % Q);
    return entries;
  endfunction
  function automatic table_t negated(table_t entries);
    for (int unsigned i = 0; i < 32; i++) entries[i] = entries[i] == 0 ? '0 : coeff_t'(Q) - entries[i];
    return entries;
  endfunction

`ifdef FORMAL
  typedef logic signed [35:0] numbers_t[32];
  function automatic numbers_t values(int unsigned shift, int unsigned negative, int unsigned wrap);
    numbers_t entries;
    for (int unsigned i = 0; i < 32; i++)
      entries[i] = 36'((longint'(i) - (i >= negative ? longint'(wrap) : 0)) <<< shift);
    return entries;
  endfunction
  function automatic numbers_t quotients(numbers_t dividends, table_t remainders, logic negative);
    numbers_t entries;
    for (int unsigned i = 0; i < 32; i++)
      entries[i] = 36'((longint'(dividends[i]) + (negative ? longint'(remainders[i]) : -longint'(remainders[i]))) /
                       longint'(Q));
    return entries;
  endfunction
  coeff_t parts[Tables+1];
  assign parts[0] = '0;
`endif

  // The lower twelve bits of the sums, their carry and their borrows. The whole sum is in -3 (Q - 1) .. 2^15 + 2^12.
  logic carry;
  logic [Tables:1] borrows;
  for (genvar i = 0; i <= Tables; i++) begin : gen_sum
    (* keep *) logic [CoeffBits-1:0] sum;
    if (i == 0) begin : gen_rest
      assign {carry, sum} = {1'b0, value_i[CoeffBits-1:0]} + {1'b0, addend_i};
    end else begin : gen_table
      localparam int unsigned Shift = LowBits + 5 * (i - 1);
      localparam int unsigned Bits = i == Tables ? HighBits - 5 * (i - 1) : 5;
      localparam int unsigned Negative = Signed && i == Tables ? 2 ** (Bits - 1) : 32;
      localparam table_t Residues = negated(residues(Shift, Negative, 2 ** Bits));
      logic [Bits-1:0] high;
      assign high = value_i[Shift+:Bits];
`ifdef FORMAL
      localparam numbers_t Values = values(Shift, Negative, 2 ** Bits);
      localparam numbers_t Quotients = quotients(Values, Residues, 1'b1);
      logic signed [35:0] value;
      assign value    = Signed && i == Tables ? 36'(signed'(high)) : 36'(high);
      assign parts[i] = Residues[5'(high)];
      always_comb begin
        assert (value <<< Shift == 36'(Q) * Quotients[5'(high)] - 36'(parts[i]));
        assert (parts[i] < coeff_t'(Q));
        assert (14'(sum) == 14'(gen_sum[i-1].sum) - 14'(parts[i]) + {1'b0, borrows[i], 12'd0});
      end
`endif
      assign {borrows[i], sum} = {1'b0, gen_sum[i-1].sum} - {1'b0, Residues[5'(high)]};
    end
  end
  typedef logic [3:0] upper_t[128];
  function automatic upper_t uppers();
    upper_t entries;
    for (int unsigned i = 0; i < 128; i++) entries[i] = 4'(i / 16 + i % 2 - $countones(3'(i / 2)));
    return entries;
  endfunction
  localparam upper_t Uppers = uppers();
  logic [15:0] sum, sum_q;
  assign sum = {Uppers[{value_i[LowBits-1:CoeffBits], 3'(borrows), carry}], gen_sum[Tables].sum};
  always_ff @(posedge clk_i) sum_q <= sum;

  // The folded sum is at most 2^11 - 1 + Q - 1 < 2 Q.
  localparam int unsigned TopNegative = 26;  // from here on, the upper five bits mean a negative number
  localparam table_t TopResidues = residues(FoldBits, TopNegative, 32);
  logic [CoeffBits:0] folded;
  logic [OutBits-1:0] residue;
  assign folded  = 13'(sum_q[FoldBits-1:0]) + 13'(TopResidues[sum_q[15:FoldBits]]);
  assign residue = OutBits'(folded - (Exact && reaches_q(folded) ? 13'(Q) : '0));
  always_ff @(posedge clk_i) residue_o <= residue;

`ifdef FORMAL
  // The tables hold residues, every sum has the residue of the value, and the last subtraction makes it less than Q.
  // The 16 bits of sum determine the whole sum, since no two values of its range are equal modulo 2^16.
  always_comb begin
    assert (14'({carry, gen_sum[0].sum}) == 14'(value_i[CoeffBits-1:0]) + 14'(addend_i));
    assert (sum[15:CoeffBits] == 4'(value_i[LowBits-1:CoeffBits]) + 4'(carry) - 4'($countones(borrows)));
  end
  localparam numbers_t TopValues = values(FoldBits, TopNegative, 32);
  localparam numbers_t TopQuotients = quotients(TopValues, TopResidues, 1'b0);
  logic [4:0] top;
  assign top = sum_q[15:FoldBits];
  always_comb begin
    assert (TopValues[top] == 36'(TopResidues[top]) + 36'(Q) * TopQuotients[top]);
    assert (14'(folded) == 14'(sum_q[FoldBits-1:0]) + 14'(TopResidues[top]));
    assert (13'(residue) < (Exact ? 13'(Q) : 13'(2 * Q)));
    assert (folded == 13'(residue) || folded == 13'(residue) + 13'(Q));
  end
`endif
endmodule
