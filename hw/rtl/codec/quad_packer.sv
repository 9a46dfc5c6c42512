// SPDX-License-Identifier: Apache-2.0
// Computes ByteEncode_d [FIPS203, Alg 5]: packs values of d bits, four at a time, into words of 64 bits, least
// significant bits first. A polynomial fills whole words for every d.
module quad_packer
  import polykem_hw_pkg::*;
(
  input  logic         clk_i,
  input  logic         clear_i,
  input  width_e       width_i,
  input  logic         valid_i,
  input  coeff_t [3:0] quad_i,  // the upper d bits of each
  output logic         valid_o,  // with word_o, for one cycle
  output logic [63:0]  word_o
);
  // The quad is rotated to its place in a ring of 16 nibbles, first by nibbles, then by quarters of a word. The part
  // that reaches beyond the end begins the next word.
  logic [63:0] kept_q, turned;
  logic [3:0][59:0] nibbles;
  logic [3:0][63:0] quarters;
  logic [59:0] fine;
  logic [3:0]  count_q;  // nibbles of the word that are complete
  logic [4:0]  count;
  logic [47:0] joined;
  always_comb begin
    unique case (width_i)
      Width1:  joined = 48'({quad_i[3][11], quad_i[2][11], quad_i[1][11], quad_i[0][11]});
      Width4:  joined = 48'({quad_i[3][11:8], quad_i[2][11:8], quad_i[1][11:8], quad_i[0][11:8]});
      Width5:  joined = 48'({quad_i[3][11:7], quad_i[2][11:7], quad_i[1][11:7], quad_i[0][11:7]});
      Width10: joined = 48'({quad_i[3][11:2], quad_i[2][11:2], quad_i[1][11:2], quad_i[0][11:2]});
      Width11: joined = 48'({quad_i[3][11:1], quad_i[2][11:1], quad_i[1][11:1], quad_i[0][11:1]});
      default: joined = quad_i;
    endcase
    count  = {1'b0, count_q} + {1'b0, bits_of(width_i)};
  end
  for (genvar i = 0; i < 4; i++) begin : gen_shift
    assign nibbles[i]  = 60'(joined) << (4 * i);
    assign quarters[i] = 64'(({2{4'd0, fine}} << (16 * i)) >> 64);
  end
  choose #(.Width(60)) u_nibbles (.which_i(count_q[1:0]), .words_i(nibbles), .word_o(fine));
  choose #(.Width(64)) u_quarters (.which_i(count_q[3:2]), .words_i(quarters), .word_o(turned));
  assign valid_o = valid_i && count[4];
  for (genvar i = 0; i < 16; i++) begin : gen_nibble
    logic is_new;
    assign is_new         = 5'(i) >= {1'b0, count_q};
    assign word_o[4*i+:4] = is_new ? turned[4*i+:4] : kept_q[4*i+:4];
    // A nibble that is not complete yet may be written too; it is written again later.
    always_ff @(posedge clk_i) begin
      if (clear_i)                              kept_q[4*i+:4] <= '0;
      else if (valid_i && (is_new || count[4])) kept_q[4*i+:4] <= turned[4*i+:4];
    end
  end
  always_ff @(posedge clk_i) begin
    if (clear_i)      count_q <= '0;
    else if (valid_i) count_q <= count[3:0];
  end
endmodule
