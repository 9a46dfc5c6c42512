// SPDX-License-Identifier: Apache-2.0
// Hashes and samples, one job after the other. A job gathers a message block by block, from the scratch memory or from
// words that come in, and squeezes blocks. While a block leaves, the next permutation runs: that of the same job, or
// the first one of the next job, whose seed has been gathered. After three blocks of an entry of A, the next seed
// begins. If three blocks are too few, as for one entry in 140, the entry's seed is hashed again and squeezed further.
module hash_unit
  import polykem_hw_pkg::*;
#(
  parameter int unsigned RoundsPerCycle = 1,
  parameter int unsigned Lanes = 1
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              start_i,
  input  logic              stop_i,
  input  logic              zeroize_i,
  input  task_t             task_i,
  input  logic [12:0]       have_i,
  input  logic              message_ready_i,   // the decrypted message is in its slot
  input  logic              compared_i,        // the second encryption has been compared with the ciphertext
  input  logic              accepted_i,        // valid with compared_i: they are equal
  input  logic              refused_i,         // the complement of accepted_i
  // words to hash, from the input, the output and the ciphertext's memory
  input  logic              in_valid_i,
  output logic              in_ready_o,
  input  logic [63:0]       in_word_i,
  input  logic              out_valid_i,
  output logic              out_ready_o,
  input  logic [63:0]       out_word_i,
  output logic [7:0]        cipher_address_o,  // address of the word that comes a cycle later
  output logic              cipher_reads_o,    // this unit wants to read that memory
  input  logic              cipher_valid_i,    // it could, a cycle ago
  input  logic [63:0]       cipher_word_i,
  // scratch memory
  output slot_e             scratch_slot_o,
  output logic [1:0]        scratch_index_o,
  input  logic [63:0]       scratch_word_i,
  input  logic              scratch_parity_i,
  output logic              digest_we_o,
  output slot_e             digest_slot_o,
  output logic [1:0]        digest_index_o,
  output logic [63:0]       digest_word_o,
  // results
  output logic              noise_we_o,
  output logic [3:0]        noise_slot_o,
  output logic [4:0]        noise_row_o,       // row of eight coefficients; the first of two rows
  output logic              noise_two_rows_o,
  output logic signed [2:0] noise_o[16],
  output logic [4:0]        noise_count_o,
  output logic              matrix_push_o,
  input  logic              matrix_ready_i,
  output coeff_t [Lanes-1:0][3:0] matrix_o,
  output logic              raw_push_o,        // words of CommandShake
  output logic              raw_last_o,
  input  logic              raw_ready_i,
  output logic              key_error_o,       // H(ek) differs from the hash in the decapsulation key
  output logic [1:0]        phase_o,           // 0: seeds, H(ek); 1: the hash that gives r; 2: noise and A; 3: the rest
  output logic              done_o,
  output logic              alert_o            // an upset bit was found
);
  typedef enum logic [3:0] {
    HashSeeds,    // G(d, k): rho, sigma
    HashMessage,  // Kyber: m = H(m)
    HashKey,      // H(ek)
    HashReject,   // J(z, c), last, since nothing waits for it; Kyber: H(c), first
    HashShared,   // G(m, H(ek)): K, r
    HashNoise,
    HashMatrix,
    HashCipher,   // Kyber's encapsulation: H(c)
    HashKdf,      // Kyber: K = KDF(K or z, H(c))
    HashRaw,
    HashEnd
  } section_e;

  typedef struct packed {
    section_e   section;
    logic       parity; // of section
    logic [3:0] outer;  // of HashNoise, the number of the polynomial
    logic [1:0] inner;
  } cursor_t;

  function automatic cursor_t first_job(section_e section);
    return '{section: section, parity: ^section, outer: '0, inner: '0};
  endfunction

  logic keygen, decaps;
  assign keygen = task_i.command == CommandKeygen;
  assign decaps = task_i.command == CommandDecaps;

  function automatic section_e first_section(task_t order);
    unique case (order.command)
      CommandKeygen: return HashSeeds;
      CommandEncaps: return order.kyber ? HashMessage : HashKey;
      CommandDecaps: return order.kyber ? HashReject : HashKey;
      CommandShake:  return HashRaw;
      default:       return HashEnd;
    endcase
  endfunction
  function automatic section_e next_section(section_e section, task_t order);
    unique case (section)
      HashSeeds:   return HashNoise;
      HashMessage: return HashKey;
      HashKey: begin
        if (order.command == CommandKeygen) return HashEnd;
        return HashShared;
      end
      HashReject:  return order.kyber ? HashShared : HashEnd;
      HashShared:  return HashNoise;
      HashNoise:   return HashMatrix;
      HashMatrix: begin
        if (order.command == CommandKeygen) return HashKey;
        if (!order.kyber) return order.command == CommandEncaps ? HashEnd : HashReject;
        return order.command == CommandEncaps ? HashCipher : HashKdf;
      end
      HashCipher:  return HashKdf;
      default:     return HashEnd;
    endcase
  endfunction

  // ------------------------------------------------------------------ jobs
  // cursor_q: the job whose blocks leave; absorbed_q, if ahead_q: the job whose first permutation runs meanwhile;
  // lead_q: the job whose message is gathered
  (* fsm_encoding = "none" *) cursor_t cursor_q, absorbed_q, lead_q;
  cursor_t lead_next;
  logic [3:0] noise_polys;
  assign noise_polys = keygen ? {task_i.k, 1'b0} : {task_i.k, 1'b1};
  always_comb begin
    lead_next = first_job(next_section(lead_q.section, task_i));
    if (lead_q.section == HashNoise && lead_q.outer != noise_polys - 4'd1) begin
      lead_next = lead_q;
      lead_next.outer = lead_q.outer + 4'd1;
    end
    if (lead_q.section == HashMatrix) begin
      if ({1'b0, lead_q.inner} != task_i.k - 3'd1) begin
        lead_next = lead_q;
        lead_next.inner = lead_q.inner + 2'd1;
      end else if (lead_q.outer != {1'b0, task_i.k} - 4'd1) begin
        lead_next = lead_q;
        lead_next.outer = lead_q.outer + 4'd1;
        lead_next.inner = '0;
      end
    end
  end

  logic is_xof, is_digest, may_start, eta_is_3;
  keccak_rate_e rate;
  logic [1:0] scratch_parts;  // number of slots, of four words, with which the message begins
  slot_e slot_first;
  logic [7:0] message_words, key_words, cipher_words, reject_words;
  logic [23:0] suffix;        // the bytes of the message after its last word, and the padding
  assign is_digest = !(cursor_q.section inside {HashNoise, HashMatrix, HashRaw});
  assign eta_is_3  = task_i.k == 3'd2 && (keygen || cursor_q.outer < 4'd2);
  always_comb begin
    // ek has 48 k + 4 words, c 40 k + 16 or, for k = 4, 44 k + 20; reject_words includes z.
    unique case (task_i.k)
      3'd2:    {key_words, cipher_words, reject_words} = {8'd100, 8'd96, 8'd100};
      3'd3:    {key_words, cipher_words, reject_words} = {8'd148, 8'd136, 8'd140};
      default: {key_words, cipher_words, reject_words} = {8'd196, 8'd196, 8'd200};
    endcase
    is_xof        = lead_q.section inside {HashKdf} || (lead_q.section == HashReject && !task_i.kyber) ||
                    (lead_q.section == HashRaw && task_i.xof);
    suffix        = is_xof ? 24'h1F : 24'h06;
    rate          = RateSha3_256;
    scratch_parts = 2'd0;
    slot_first    = SlotM;
    message_words = key_words;
    may_start     = 1'b1;
    unique case (lead_q.section)
      HashSeeds: begin
        rate          = RateSha3_512;
        scratch_parts = 2'd1;
        slot_first    = SlotSigma;
        message_words = 8'd4;
        may_start     = have_i[InD];
        if (!task_i.kyber) suffix = {8'd0, 8'h06, 5'd0, task_i.k};
      end
      HashMessage: begin
        scratch_parts = 2'd1;
        message_words = 8'd4;
        may_start     = have_i[InM];
      end
      HashReject: begin
        scratch_parts = {1'b0, !task_i.kyber};
        slot_first    = SlotZ;
        message_words = task_i.kyber ? cipher_words : reject_words;
        may_start     = task_i.kyber ? have_i[InV] : have_i[InZ];
      end
      HashShared: begin
        rate          = RateSha3_512;
        scratch_parts = 2'd2;
        message_words = 8'd8;
        may_start     = decaps ? message_ready_i && have_i[InH] : have_i[InM];
      end
      HashNoise: begin
        scratch_parts = 2'd1;
        slot_first    = SlotSigma;
        message_words = 8'd4;
        suffix        = {8'd0, 8'h1F, 4'd0, lead_q.outer};
      end
      HashMatrix: begin
        rate          = RateShake128;
        scratch_parts = 2'd1;
        slot_first    = SlotRho;
        message_words = 8'd4;
        suffix        = {8'h1F, 6'd0, lead_q.inner, 4'd0, lead_q.outer};
        may_start     = keygen || have_i[InRho];
      end
      HashCipher: message_words = cipher_words;
      HashKdf: begin
        scratch_parts = 2'd2;
        slot_first    = decaps && (!accepted_i || refused_i) ? SlotZ : SlotK;
        message_words = 8'd8;
        may_start     = !decaps || (compared_i && have_i[InZ]);
      end
      HashRaw: begin
        rate          = task_i.rate;
        message_words = task_i.in_words;
      end
      HashEnd: may_start = 1'b0;
      default: ;
    endcase
  end

  // ------------------------------------------------------------------ the sponge
  typedef enum logic [2:0] {StateMix = 3'b000, StateSqueeze = 3'b011, StateDrain = 3'b101} state_e;  // even parity
  (* fsm_encoding = "none" *) state_e state_q;

  logic [4:0] lane_q;  // lane of the input block that is written next
  logic first, absorb, capture, permute, ahead, busy, fill_fire, takes_word, draining;
  logic [63:0] fill_word, word;
  logic [95:0] word_96;
  keccak_core #(.RoundsPerCycle(RoundsPerCycle), .Lanes(Lanes)) u_keccak (
    .clk_i, .rst_ni, .first_i(first), .absorb_i(absorb), .capture_i(capture), .permute_i(permute), .busy_o(busy),
    .write_i(fill_fire), .write_lane_i(lane_q), .word_i(fill_word), .next_i(draining && takes_word), .word_o(word),
    .wide_word_o(word_96)
  );

  // ------------------------------------------------------------------ gathering a block
  logic [4:0] rate_last;
  logic [7:0] message_q;      // words of the message so far
  logic       padded_q, first_block_q, filled_q;
  logic       gathers, takes, filling, source_valid, from_scratch;
  logic [63:0] source;
  assign rate_last    = last_lane(rate);
  // A seed of noise or matrix is also gathered while such a job squeezes, since neither needs the other's results.
  assign gathers      = !filled_q && may_start &&
                        (state_q == StateMix || (cursor_q.section inside {HashNoise, HashMatrix} &&
                                                 lead_q.section inside {HashNoise, HashMatrix}));
  assign takes        = message_q != message_words;
  assign from_scratch = (scratch_parts[0] && message_q[7:2] == 0) || (scratch_parts[1] && message_q[7:3] == 0);
  always_comb begin
    source       = in_word_i;
    source_valid = in_valid_i;
    if (from_scratch) begin
      source       = scratch_word_i;
      source_valid = 1'b1;
    end else if (lead_q.section == HashReject) begin
      source       = cipher_word_i;
      source_valid = cipher_valid_i;
    end else if (lead_q.section == HashCipher || (lead_q.section == HashKey && keygen)) begin
      source       = out_word_i;
      source_valid = out_valid_i;
    end
    fill_word = source;
    if (!takes) begin
      fill_word     = padded_q ? '0 : 64'(suffix);
      fill_word[63] = lane_q == rate_last;
    end
  end
  assign filling     = gathers && takes && !from_scratch;
  assign in_ready_o  = filling && (lead_q.section == HashRaw || (lead_q.section == HashKey && !keygen));
  assign out_ready_o = filling && (lead_q.section == HashCipher || (lead_q.section == HashKey && keygen));
  assign fill_fire   = gathers && (!takes || source_valid);

  // The ciphertext's parity is checked where it is compared.
  logic wrong_parity;
  assign wrong_parity = gathers && takes && from_scratch && !(^{scratch_parity_i, scratch_word_i});
  assign alert_o      = ^{cursor_q.parity, cursor_q.section} || ^{lead_q.parity, lead_q.section} || ^state_q ||
                         wrong_parity;

  // The ciphertext's memory answers a cycle later.
  logic [7:0] cipher_q;
  logic takes_cipher;
  assign cipher_reads_o   = filling && lead_q.section == HashReject;
  assign takes_cipher     = cipher_reads_o && cipher_valid_i;
  assign cipher_address_o = cipher_q + 8'(takes_cipher);

  // ------------------------------------------------------------------ what leaves the buffer
  logic [4:0] words_q;          // words of the block still needed; with two lanes, wide words of a matrix entry
  logic [2:0] block_q;          // number of blocks that have been captured
  logic       ahead_q, redo_q;
  logic [1:0] skip_q;
  logic [7:0] raw_left_q;
  logic [3:0] digest_q;
  logic [5:0] pushed_q;         // words pushed of a matrix entry
  logic [4:0] row_q;            // row of a noise polynomial

  logic digest_may, gear_mode, gear_in_ready, gear_valid, gear_out_ready, gear_clear;
  logic [47:0] word_48;
  assign draining  = state_q == StateDrain;
  assign gear_mode = (Lanes == 1 && cursor_q.section == HashMatrix) || (cursor_q.section == HashNoise && eta_is_3);
  gearbox u_gearbox (
    .clk_i, .clear_i(gear_clear), .valid_i(draining && gear_mode && words_q != 0), .ready_o(gear_in_ready),
    .word_i(word), .valid_o(gear_valid), .ready_i(gear_out_ready), .word_o(word_48)
  );
  logic sampler_ready, sampler_valid;
  // With two lanes the sampler takes 96 bits at a time, 14 times a block, without the gearbox.
  coeff_t [4*Lanes-1:0] candidates;
  if (Lanes == 1) begin : gen_narrow
    assign candidates = word_48;
  end else begin : gen_wide
    assign candidates = word_96;
  end
  uniform_sampler #(.Candidates(4 * Lanes)) u_uniform (
    .clk_i, .clear_i(gear_clear),
    .valid_i(draining && (Lanes == 2 || gear_valid) && cursor_q.section == HashMatrix),
    .ready_o(sampler_ready), .candidates_i(candidates), .valid_o(sampler_valid), .ready_i(matrix_ready_i),
    .coeffs_o(matrix_o)
  );
  assign matrix_push_o  = draining && sampler_valid && matrix_ready_i;
  assign gear_out_ready = draining && (cursor_q.section == HashMatrix ? sampler_ready : 1'b1);

  // With eta = 3, 48 bits hold eight coefficients; with eta = 2, a word holds sixteen.
  logic signed [2:0] noise_3[8], noise_2[16];
  assign noise_two_rows_o = !eta_is_3;
  binomial_sampler #(.Eta(3), .Coeffs(8)) u_word_48 (.bits_i(word_48), .coeffs_o(noise_3));
  binomial_sampler #(.Eta(2), .Coeffs(16)) u_word (.bits_i(word), .coeffs_o(noise_2));
  for (genvar i = 0; i < 16; i++) begin : gen_noise
    assign noise_o[i] = i < 8 && eta_is_3 ? noise_3[i%8] : noise_2[i];
  end
  assign noise_we_o   = draining && cursor_q.section == HashNoise && (eta_is_3 ? gear_valid : 1'b1);
  assign noise_slot_o = cursor_q.outer;
  assign noise_row_o  = row_q;

  assign digest_may = !(decaps && cursor_q.section == HashKey) || have_i[InH];
  assign raw_push_o = draining && cursor_q.section == HashRaw && raw_ready_i;
  assign raw_last_o = raw_left_q == 8'd1;

  logic block_drained, job_done;
  logic runs_short;  // a matrix entry needs more than its first three blocks
  always_comb begin
    unique case (cursor_q.section)
      HashNoise:  takes_word = !eta_is_3 || (gear_in_ready && words_q != 0);
      HashMatrix: takes_word = Lanes == 1 ? gear_in_ready && words_q != 0 : sampler_ready;
      HashRaw:    takes_word = raw_ready_i;
      default:    takes_word = digest_may;
    endcase
    if (gear_mode) block_drained = words_q == 0 && (!gear_valid || gear_out_ready);
    else           block_drained = words_q == 5'd1 && takes_word;
    unique case (cursor_q.section)
      HashNoise:  job_done = block_drained && (!eta_is_3 || block_q == 3'd2);
      HashMatrix: job_done = matrix_push_o && pushed_q == 6'(64 / Lanes - 1);
      HashRaw:    job_done = block_drained && raw_left_q == 8'd1;
      default:    job_done = block_drained;
    endcase
    job_done &= draining;
    block_drained &= draining;
  end
  assign runs_short = cursor_q.section == HashMatrix && block_q == 3'd3 && !redo_q;
  assign gear_clear = start_i || stop_i || job_done;

  always_comb begin
    digest_we_o    = draining && is_digest && !(decaps && cursor_q.section == HashKey);
    digest_index_o = digest_q[1:0];
    digest_word_o  = word;
    unique case (cursor_q.section)
      HashSeeds:   digest_slot_o = digest_q[2] ? SlotSigma : SlotRho;
      HashShared:  digest_slot_o = digest_q[2] ? SlotSigma : SlotK;
      HashMessage: digest_slot_o = SlotM;
      HashKey:     digest_slot_o = SlotH;
      HashReject:  digest_slot_o = SlotJ;
      HashCipher:  digest_slot_o = SlotJ;
      HashKdf:     digest_slot_o = SlotJ;  // not over K: a word that a fault left out would show K
      default:     digest_slot_o = SlotK;
    endcase
  end
  assign key_error_o = draining && decaps && cursor_q.section == HashKey && digest_may && word != scratch_word_i;

  always_comb begin
    scratch_slot_o  = message_q[2] ? (lead_q.section == HashShared ? SlotH : SlotJ) : slot_first;
    scratch_index_o = message_q[1:0];
    if (draining && is_digest) begin
      scratch_slot_o  = SlotH;
      scratch_index_o = digest_q[1:0];
    end
  end

  // ------------------------------------------------------------------ the sequence
  logic last_block, absorbed, squeezes;
  logic [4:0] rate_words;
  assign rate_words = last_lane(task_i.rate) + 5'd1;
  always_comb begin
    unique case (cursor_q.section)
      HashNoise:  last_block = !eta_is_3 || block_q == 3'd1;
      HashMatrix: last_block = !redo_q && block_q == 3'd2;
      HashRaw:    last_block = raw_left_q <= 8'(rate_words);
      default:    last_block = 1'b1;
    endcase
    squeezes = state_q == StateSqueeze && !busy && skip_q == 0;
    ahead    = squeezes && last_block && filled_q;
    absorbed = ahead || (state_q == StateMix && !busy && filled_q);
    capture  = squeezes || zeroize_i;
    absorb   = absorbed || zeroize_i;
    first    = (absorbed && first_block_q) || zeroize_i;
    permute  = absorbed || (state_q == StateSqueeze && !busy && (skip_q != 0 || !last_block));
  end

  assign done_o = state_q == StateMix && lead_q.section == HashEnd;
  always_comb begin
    unique case (cursor_q.section)
      HashKey:                  phase_o = keygen ? 2'd3 : 2'd0;
      HashSeeds, HashMessage:   phase_o = 2'd0;
      HashShared:               phase_o = 2'd1;
      HashNoise, HashMatrix:    phase_o = 2'd2;
      default:                  phase_o = 2'd3;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateMix;
      cursor_q <= first_job(HashEnd);
      lead_q   <= first_job(HashEnd);
      noise_count_o <= '0;
      {lane_q, message_q, padded_q, filled_q, cipher_q} <= '0;
      {words_q, block_q, ahead_q, redo_q, skip_q, raw_left_q, digest_q, pushed_q, row_q} <= '0;
      first_block_q <= 1'b1;
    end else if (start_i || stop_i) begin
      state_q <= StateMix;
      cursor_q <= first_job(stop_i ? HashEnd : first_section(task_i));
      lead_q   <= first_job(stop_i ? HashEnd : first_section(task_i));
      noise_count_o <= '0;
      raw_left_q <= task_i.out_words;
      {lane_q, message_q, padded_q, filled_q, cipher_q} <= '0;
      {words_q, block_q, ahead_q, redo_q, skip_q, digest_q, pushed_q, row_q} <= '0;
      first_block_q <= 1'b1;
    end else begin
      if (fill_fire) begin
        lane_q   <= takes ? lane_q + 5'd1 : rate_last;
        filled_q <= lane_q == rate_last;
        if (takes) message_q <= message_q + 8'd1;
        else       padded_q  <= 1'b1;
        if (takes_cipher) cipher_q <= cipher_q + 8'd1;
      end
      if (absorbed) begin
        lane_q        <= '0;
        filled_q      <= 1'b0;
        first_block_q <= padded_q;
        if (padded_q) begin
          message_q <= '0;
          padded_q  <= 1'b0;
          lead_q    <= lead_next;
        end
      end
      unique case (state_q)
        StateMix: if (absorbed && padded_q) begin
          state_q <= StateSqueeze;
          skip_q  <= redo_q ? 2'd3 : 2'd0;
        end
        StateSqueeze: if (!busy) begin
          if (skip_q != 0) skip_q <= skip_q - 2'd1;
          else begin
            state_q <= StateDrain;
            block_q <= block_q + 3'd1;
            ahead_q <= ahead;
            unique case (cursor_q.section)
              HashNoise:  words_q <= !eta_is_3 ? 5'd16 : block_q == 0 ? 5'd17 : 5'd7;
              HashMatrix: words_q <= Lanes == 1 ? 5'd21 : 5'd14;
              HashRaw:    words_q <= last_block ? raw_left_q[4:0] : rate_words;
              HashSeeds, HashShared: words_q <= 5'd8;
              default:    words_q <= 5'd4;
            endcase
          end
        end
        StateDrain: begin
          if (takes_word) begin
            words_q <= words_q - 5'd1;
            if (is_digest) digest_q <= digest_q + 4'd1;
            if (cursor_q.section == HashRaw) raw_left_q <= raw_left_q - 8'd1;
          end
          if (noise_we_o) row_q <= row_q + (eta_is_3 ? 5'd1 : 5'd2);
          if (matrix_push_o) pushed_q <= pushed_q + 6'd1;
          if (job_done) begin
            state_q  <= ahead_q ? StateSqueeze : StateMix;
            cursor_q <= ahead_q ? absorbed_q : lead_q;
            block_q  <= '0;
            redo_q   <= 1'b0;
            digest_q <= '0;
            pushed_q <= '0;
            row_q    <= '0;
            if (cursor_q.section == HashNoise) noise_count_o <= noise_count_o + 5'd1;
          end else if (block_drained) begin
            state_q <= StateSqueeze;
            if (runs_short) begin
              // The seed of the next entry may have been gathered in the same lanes; it is gathered again later.
              state_q <= StateMix;
              redo_q  <= 1'b1;
              lead_q  <= cursor_q;
              {lane_q, message_q, padded_q, filled_q} <= '0;
            end
          end
        end
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk_i) if (absorbed) absorbed_q <= lead_q;
endmodule
