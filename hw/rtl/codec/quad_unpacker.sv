// SPDX-License-Identifier: Apache-2.0
// Computes ByteDecode_d [FIPS203, Alg 6]: unpacks words of 64 bits into values of d bits, four at a time, least
// significant bits first. With Quads = 2, two_i requests eight values in one cycle; not for d = 10 and 11, since two
// words may hold fewer. Values of less than 12 bits are in the upper d of bits 10 to 0, as `decompress` takes them.
module quad_unpacker
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Quads = 1  // 1 or 2
) (
  input  logic         clk_i,
  input  logic         clear_i,
  input  width_e       width_i,
  input  logic         two_i,
  input  logic         valid_i,
  output logic         ready_o,
  input  logic  [63:0] word_i,
  output logic         valid_o,  // for one cycle
  output coeff_t [4*Quads-1:0] quad_o
);
  // A window of two words. The next quad begins at nibble place_q of the first word.
  logic [63:0] first_q, second_q;
  logic [1:0]  words_q, words_left;
  logic [3:0]  place_q;
  logic [3+Quads:0]     place_after;
  logic [Quads-1:0]     drops;  // words of the window that are used up
  logic                 takes;  // a word enters
  // Shifts by quarters of a word, then by nibbles. Left to itself, synthesis takes more LUTs.
  logic [3:0][48*Quads+11:0] quarters;
  logic [3:0][48*Quads-1:0]  nibbles;
  (* keep *) logic [48*Quads+11:0] coarse;
  (* keep *) logic [48*Quads-1:0]  joined;
  assign place_after = (4+Quads)'(place_q) +
                       (4+Quads)'(Quads == 2 && two_i ? {bits_of(width_i), 1'b0} : 5'(bits_of(width_i)));
  assign valid_o     = Quads == 2 ? {words_q, 4'd0} >= 6'(place_after) :
                       words_q[1] || (words_q[0] && place_after <= (4+Quads)'(16));
  assign drops       = valid_o ? place_after[3+Quads:4] : '0;
  assign words_left  = words_q - 2'(drops);
  assign ready_o     = !words_left[1];
  assign takes       = valid_i && ready_o;
  for (genvar i = 0; i < 4; i++) begin : gen_shift
    assign quarters[i] = (48*Quads+12)'({second_q, first_q} >> (16 * i));
    assign nibbles[i]  = (48*Quads)'(coarse >> (4 * i));
  end
  assign coarse = quarters[place_q[3:2]];
  assign joined = nibbles[place_q[1:0]];

  function automatic coeff_t [4*Quads-1:0] split(logic [48*Quads-1:0] bits, width_e width);
    coeff_t [4*Quads-1:0] quad;
    for (int unsigned i = 0; i < 4 * Quads; i++) begin
      unique case (width)
        Width1:  quad[i] = {1'b0, bits[i], 10'd0};
        Width4:  quad[i] = {1'b0, bits[4*i+:4], 7'd0};
        Width5:  quad[i] = {1'b0, bits[5*i+:5], 6'd0};
        Width10: quad[i] = {1'b0, bits[10*i+:10], 1'd0};
        Width11: quad[i] = {1'b0, bits[11*i+:11]};
        default: quad[i] = bits[12*i+:12];
      endcase
    end
    return quad;
  endfunction
  assign quad_o = split(joined, width_i);

  always_ff @(posedge clk_i) begin
    if (clear_i) begin
      first_q  <= '0;
      second_q <= '0;
      words_q  <= '0;
      place_q  <= '0;
    end else begin
      if (takes && words_left == 0) first_q <= word_i;
      else if (drops != 0)          first_q <= second_q;
      if (takes)   second_q <= word_i;  // it is used only if there is a first word
      if (valid_o) place_q <= place_after[3:0];
      words_q <= words_left + 2'(takes);
    end
  end
endmodule
