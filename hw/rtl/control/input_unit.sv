// SPDX-License-Identifier: Apache-2.0
// Takes a command's input from the stream, passes its parts to other units, and decodes polynomials, four coefficients
// a cycle; with two lanes, eight of t, s and v. The parts of each command, in order:
//   KEYGEN d z   ENCAPS m ek   DECAPS u v (the ciphertext) s ek H(ek) z (the key)   NTT, INTT a   PWM a b   SHAKE words
module input_unit
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Lanes = 1
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic         stop_i,
  input  logic         abort_i,  // with stop_i: the sender of the stream starts again, too
  input  task_t        task_i,
  // the stream
  input  logic         valid_i,
  output logic         ready_o,
  input  logic [63:0]  word_i,
  input  logic         last_i,
  // the word that is taken in this cycle
  output logic         taken_o,
  output in_section_e  section_o,
  output logic [7:0]   index_o,     // its index in its part; for u and v, in the ciphertext
  output logic         to_hash_o,   // there is a word that is also hashed; it is taken once the hash unit is ready
  input  logic         hash_ready_i,
  input  logic         scratch_ready_i,
  output logic [12:0]  have_o,      // [section]: the part has come in
  // decoded words
  output logic         poly_we_o,
  output poly_e        poly_o,
  output logic [1:0]   slot_o,
  output logic [5:0]   poly_index_o,
  output coeff_t [4*Lanes-1:0] quad_o,
  output logic [4:0]   decoded_o,
  input  logic [4:0]   products_i,       // number of finished products; t takes the place of s when s u is finished
  output logic         size_error_o,     // the stream ended too early or too late
  output logic         modulus_error_o,  // a coefficient of ek is not below Q
  output logic         alert_o           // an upset bit was found
);
  function automatic in_section_e first_section(task_t order);
    unique case (order.command)
      CommandKeygen: return InD;
      CommandEncaps: return InM;
      CommandDecaps: return InU;
      CommandShake:  return order.in_words == 0 ? InEnd : InMessage;
      default:       return InA;
    endcase
  endfunction
  function automatic in_section_e next_section(in_section_e section, task_t order);
    unique case (section)
      InD:     return InZ;
      InM:     return InT;
      InU:     return InV;
      InV:     return InS;
      InS:     return InT;
      InT:     return InRho;
      InRho:   return order.command == CommandDecaps ? InH : InEnd;
      InH:     return InZ;
      InA:     return order.command == CommandPwm ? InB : InEnd;
      default: return InEnd;
    endcase
  endfunction

  (* fsm_encoding = "none" *) in_section_e section_q;
  logic        section_parity_q;
  in_section_e section_new, section_after;
  logic [1:0]  slot_q;      // index of the polynomial in its vector
  logic [7:0]  words_q;     // words taken of this polynomial or part
  logic [5:0]  quads_q;
  logic [7:0]  cipher_q;    // words taken of the ciphertext
  logic        open_q;      // a packet has begun and its last word has not come
  logic        draining_q;  // after an error, drops words until the last one

  logic is_poly, is_vector, last_slot, wants_hash, ends_poly, ends_part, modulus_bad;
  width_e width;
  logic [7:0] part_words;
  always_comb begin
    is_vector = section_q inside {InU, InS, InT};
    is_poly   = is_vector || section_q inside {InV, InA, InB};
    last_slot = !is_vector || {1'b0, slot_q} == task_i.k - 3'd1;
    unique case (section_q)
      InU:     width = task_i.k == 3'd4 ? Width11 : Width10;
      InV:     width = task_i.k == 3'd4 ? Width5 : Width4;
      default: width = Width12;
    endcase
    part_words = is_poly ? {2'd0, bits_of(width), 2'd0} : section_q == InMessage ? task_i.in_words : 8'd4;
    wants_hash = section_q == InMessage ||
                 (section_q inside {InT, InRho} && !(task_i.kyber && task_i.command == CommandDecaps));
  end

  logic unpacker_ready, quad_valid, free, place, two;
  coeff_t [4*Lanes-1:0] quad;
  assign free  = section_q != InT || task_i.command != CommandDecaps || products_i > {3'd0, slot_q};
  assign place = section_q != InEnd && words_q != part_words && (is_poly ? unpacker_ready && free : scratch_ready_i);
  assign to_hash_o = valid_i && place && wants_hash && !draining_q;
  assign ready_o   = draining_q || (place && (!wants_hash || hash_ready_i));
  assign taken_o   = valid_i && ready_o && !draining_q;
  assign section_o = section_q;
  assign index_o   = section_q inside {InU, InV} ? cipher_q : words_q;

  quad_unpacker #(.Quads(Lanes)) u_unpacker (
    .clk_i, .clear_i(start_i || stop_i), .width_i(width), .two_i(two), .valid_i(taken_o && is_poly),
    .ready_o(unpacker_ready), .word_i, .valid_o(quad_valid), .quad_o(quad)
  );
  assign ends_poly     = quad_valid && quads_q == (two ? 6'd62 : 6'd63);
  assign ends_part     = is_poly ? ends_poly && last_slot : taken_o && words_q == part_words - 8'd1;
  assign section_after = next_section(section_q, task_i);

  always_comb begin
    modulus_bad = 1'b0;
    for (int unsigned i = 0; i < 4 * Lanes; i++) modulus_bad |= quad[i] >= coeff_t'(Q);
  end
  assign modulus_error_o = quad_valid && modulus_bad && section_q == InT && task_i.command == CommandEncaps &&
                           !task_i.kyber;

  always_comb begin
    section_new = ends_part ? section_after : section_q;
    if (start_i || stop_i) section_new = stop_i ? InEnd : first_section(task_i);
  end
  assign alert_o = ^{section_parity_q, section_q};

  logic expect_last;
  assign expect_last  = section_after == InEnd && last_slot && words_q == part_words - 8'd1;
  assign size_error_o = taken_o && last_i != expect_last;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      section_q        <= InEnd;
      section_parity_q <= ^InEnd;
      slot_q     <= '0;
      words_q    <= '0;
      quads_q    <= '0;
      cipher_q   <= '0;
      have_o     <= '0;
    end else if (start_i || stop_i) begin
      section_q        <= section_new;
      section_parity_q <= ^section_new;
      slot_q     <= '0;
      words_q    <= '0;
      quads_q    <= '0;
      cipher_q   <= '0;
      have_o     <= '0;
    end else begin
      section_q <= section_new;
      if (ends_part) section_parity_q <= ^section_new;
      if (taken_o) begin
        words_q <= words_q + 8'd1;
        if (section_q inside {InU, InV}) cipher_q <= cipher_q + 8'd1;
      end
      if (quad_valid) quads_q <= quads_q + (two ? 6'd2 : 6'd1);
      if (ends_poly) begin
        slot_q  <= slot_q + 2'd1;
        words_q <= '0;
      end
      if (ends_part) begin
        slot_q    <= '0;
        words_q   <= '0;
        if (section_q != InEnd) have_o[section_q] <= 1'b1;
      end
    end
  end

  logic open;
  assign open = valid_i && ready_o ? !last_i : open_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {open_q, draining_q} <= '0;
    else begin
      open_q     <= open && !abort_i;
      draining_q <= open && !abort_i && (draining_q || stop_i);
    end
  end

  // Decompression takes two cycles, so the place of its result is delayed by two.
  for (genvar i = 0; i < 4 * Lanes; i++) begin : gen_decompress
    decompress u_decompress (.clk_i, .whole_i(width == Width12), .y_i(quad[i]), .x_o(quad_o[i]));
  end
  typedef struct packed {
    poly_e      poly;
    logic [1:0] slot;
    logic [5:0] index;
  } target_t;
  target_t target, target_q;
  logic [1:0] valid_q;
  always_comb begin
    unique case (section_q)
      InU:       target.poly = PolyW;
      InV:       target.poly = PolyV;
      InB:       target.poly = PolyY;
      InA:       target.poly = task_i.command == CommandNtt ? PolyW : PolyT;
      default:   target.poly = PolyT;
    endcase
    target.slot  = slot_q;
    target.index = quads_q;
  end
  assign two = Lanes == 2 && target.poly inside {PolyT, PolyV};
  always_ff @(posedge clk_i) begin
    target_q <= target;
    {poly_o, slot_o, poly_index_o} <= target_q;
  end
  assign poly_we_o = valid_q[1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q   <= '0;
      decoded_o <= '0;
    end else if (start_i || stop_i) begin
      valid_q   <= '0;
      decoded_o <= '0;
    end else begin
      valid_q <= {valid_q[0], quad_valid};
      if (poly_we_o && poly_index_o == (Lanes == 2 && poly_o inside {PolyT, PolyV} ? 6'd62 : 6'd63))
        decoded_o <= decoded_o + 5'd1;
    end
  end
endmodule
