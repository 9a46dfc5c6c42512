// SPDX-License-Identifier: Apache-2.0
// The five units of a command never wait for each other in a circle. The proof has no time: its inputs are any places
// in the five lists of programs_pkg that fit each other when pipelines and streams have moved all that they could. It
// claims that some unit can then move, or that the command has ended. Since it covers all such places, and not only
// those that a run reaches in some number of cycles, it holds at any time.
module deadlock_proof
  import polykem_hw_pkg::*;
  import programs_pkg::*;
(
  input task_t       task_i,
  // input unit: the part, its polynomial, words taken of the polynomial or part
  input in_section_e in_section_i,
  input logic [1:0]  in_slot_i,
  input logic [5:0]  in_words_i,
  // hash unit: the section, the number of the noise polynomial or entry of A, words pushed of that entry, words hashed
  input hash_e       hash_section_i,
  input logic [4:0]  hash_job_i,
  input logic [5:0]  hash_pushed_i,
  input logic [7:0]  hashed_i,
  // product and transform unit
  input product_t    product_i,
  input logic [5:0]  product_word_i,
  input logic [4:0]  transform_i,
  // output unit: the part, its polynomial, words of hashed parts that went into the FIFO
  input out_e        out_section_i,
  input logic [1:0]  out_slot_i,
  input logic [7:0]  out_hashed_i
);
  localparam logic [10:0] MatrixWords = 11'd256;  // at most this many wait in core's u_matrix
  localparam logic [7:0] OutputWords = 8'd16;    // at most this many wait in output_unit's u_fifo

  logic keygen, encaps, decaps;
  logic [4:0] k;
  assign keygen = task_i.command == CommandKeygen;
  assign encaps = task_i.command == CommandEncaps;
  assign decaps = task_i.command == CommandDecaps;
  assign k      = 5'(task_i.k);
  logic [3:0] hash_at;
  assign hash_at = hash_place(task_i, hash_section_i);
  function automatic logic hash_is_past(task_t order, hash_e now, hash_e section);
    return hash_place(order, now) > hash_place(order, section);
  endfunction

  // ------------------------------------------------------------------ what other units learn of the places
  logic [12:0] have;
  logic [3:0]  in_place;
  always_comb begin  // the place of a part among those of its command
    unique case (in_section_i)
      InD, InM, InU: in_place = 4'd0;
      InV:           in_place = 4'd1;
      InS:           in_place = 4'd2;
      InT:           in_place = 4'd3;
      InRho:         in_place = 4'd4;
      InH:           in_place = 4'd5;
      InZ:           in_place = 4'd6;
      default:       in_place = 4'd7;
    endcase
    have        = '0;
    have[InD]   = in_place > 0;
    have[InM]   = in_place > 0;
    have[InV]   = in_place > 1;
    have[InT]   = in_place > 3;
    have[InRho] = in_place > 4;
    have[InH]   = in_place > 5;
    have[InZ]   = in_place > 6;
  end
  counts_t counts;
  always_comb begin
    counts.products   = products_before(task_i, product_i);
    counts.transforms = transform_i;
    unique case (in_section_i)
      InU:     counts.decoded = {3'd0, in_slot_i};
      InV:     counts.decoded = k;
      InS:     counts.decoded = k + 5'd1 + {3'd0, in_slot_i};
      InT:     counts.decoded = decoded_before(task_i) + {3'd0, in_slot_i};
      InD, InM: counts.decoded = 5'd0;
      default: counts.decoded = keygen ? 5'd0 : decoded_before(task_i) + k;
    endcase
    if (hash_section_i == HashNoise) counts.noise = hash_job_i;
    else if (hash_is_past(task_i, hash_section_i, HashNoise)) counts.noise = keygen ? times(task_i, 2) :
                                                                              times(task_i, 2) + 5'd1;
    else counts.noise = 5'd0;
  end
  logic [10:0] pushed, popped;  // words of A
  always_comb begin
    if (hash_section_i == HashMatrix) pushed = {hash_job_i, hash_pushed_i};
    else if (hash_is_past(task_i, hash_section_i, HashMatrix)) pushed = {times(task_i, k), 6'd0};
    else pushed = '0;
    popped = {entries_before(task_i, product_i), 6'd0};
    if (product_i.kind == ProductMatrix) popped = popped + {5'd0, product_word_i};
  end
  logic message_ready, compared, hash_done;
  assign message_ready = out_section_i != OutM;
  assign compared      = !(out_section_i inside {OutM, OutV, OutU});
  assign hash_done     = hash_section_i == HashEnd;

  // The words that the hash unit takes from the stream, for H(ek), and from the output unit, in key generation and
  // Kyber.
  logic [7:0] ek_words, cipher_words, from_input, from_output, ek_taken;
  logic hashes_input, hashes_output;
  always_comb begin
    ek_words = 8'd48 * 8'(task_i.k) + 8'd4;
    unique case (task_i.k)
      3'd2:    cipher_words = 8'd96;
      3'd3:    cipher_words = 8'd136;
      default: cipher_words = 8'd196;
    endcase
    hashes_input  = encaps || (decaps && !task_i.kyber);
    hashes_output = keygen || (encaps && task_i.kyber);
    from_input    = ek_words;
    from_output   = keygen ? ek_words : cipher_words;
    if (in_section_i == InT) ek_taken = 8'd48 * {6'd0, in_slot_i} + {2'd0, in_words_i};
    else if (in_section_i == InRho) ek_taken = ek_words - 8'd4 + {2'd0, in_words_i};
    else ek_taken = in_place > 4 ? ek_words : 8'd0;
  end
  hash_e input_hash, output_hash;
  assign input_hash  = HashKey;
  assign output_hash = keygen ? HashKey : HashCipher;
  logic takes_input, takes_output;  // the sponge needs a word of the stream, of the output unit
  assign takes_input  = hashes_input && hash_section_i == input_hash && ek_taken != from_input;
  assign takes_output = hashes_output && hash_section_i == output_hash && hashed_i != from_output;

  // ------------------------------------------------------------------ places that fit each other
  logic fits_input, fits_hash, fits_matrix, fits_output;
  always_comb begin
    unique case (in_section_i)
      InD:         fits_input = keygen;
      InM:         fits_input = encaps;
      InU, InV, InS, InH: fits_input = decaps;
      InT, InRho:  fits_input = encaps || decaps;
      InZ:         fits_input = keygen || decaps;
      default:     fits_input = in_section_i == InEnd;
    endcase
    fits_input &= {3'd0, in_slot_i} < k && in_words_i <= (in_section_i == InT ? 6'd47 : 6'd3);
    // The sponge has all words that the stream gave it.
    if (hashes_input && !hash_is_past(task_i, hash_section_i, input_hash) && hash_section_i != input_hash) begin
      fits_input &= ek_taken == 0;
    end
    if (hashes_input && hash_is_past(task_i, hash_section_i, input_hash)) fits_input &= ek_taken == from_input;

    fits_hash = hash_at != 4'd15;
    if (hash_section_i == HashNoise) fits_hash &= hash_job_i < (keygen ? times(task_i, 2) : times(task_i, 2) + 5'd1);
    if (hash_section_i == HashMatrix) fits_hash &= hash_job_i < times(task_i, k);
    if (hashes_output) begin
      fits_hash &= hashed_i <= out_hashed_i && out_hashed_i - hashed_i <= OutputWords;
      if (hash_at < hash_place(task_i, output_hash)) fits_hash &= hashed_i == 0;
      if (hash_at > hash_place(task_i, output_hash)) fits_hash &= hashed_i == from_output;
    end else begin
      fits_hash &= hashed_i == 0 && out_hashed_i == 0;
    end

    fits_matrix = product_exists(task_i, product_i) && pushed >= popped && pushed - popped <= MatrixWords &&
                  transform_i <= transform_jobs(task_i);

    fits_output = out_exists(task_i, out_section_i);
    fits_output &= {3'd0, out_slot_i} < k;
    // All words of hashed parts before this place have gone into the FIFO.
    if (keygen) begin
      if (out_section_i == OutS) fits_output &= out_hashed_i == 0;
      if (out_section_i == OutT) begin
        fits_output &= out_hashed_i >= 8'd48 * {6'd0, out_slot_i} && out_hashed_i <= 8'd48 * {6'd0, out_slot_i} + 8'd48;
      end
      if (out_section_i == OutRho) fits_output &= out_hashed_i >= ek_words - 8'd4 && out_hashed_i <= ek_words;
      if (out_section_i inside {OutH, OutZ, OutEnd}) fits_output &= out_hashed_i == ek_words;
    end else if (hashes_output) begin
      if (out_section_i == OutV) fits_output &= out_hashed_i == 0;
      if (out_section_i inside {OutU, OutWaiting}) fits_output &= out_hashed_i <= cipher_words;
      if (out_section_i inside {OutK, OutEnd}) fits_output &= out_hashed_i == cipher_words;
    end
  end

  // ------------------------------------------------------------------ who cannot move
  logic input_waits, hash_waits, product_waits, transform_waits, output_waits, ended;
  always_comb begin
    input_waits = in_section_i == InEnd || (hashes_input && in_section_i inside {InT, InRho} && !takes_input) ||
                  (decaps && in_section_i == InT && counts.products <= {3'd0, in_slot_i});  // t takes s's memory

    hash_waits = !hash_guard(task_i, hash_section_i, have, message_ready, compared);
    unique case (hash_section_i)
      HashKey: begin
        if (keygen) hash_waits = takes_output && out_hashed_i == hashed_i;
        else if (takes_input) hash_waits = !(in_section_i inside {InT, InRho});
        else hash_waits = decaps && !have[InH];
      end
      HashMatrix: hash_waits |= pushed - popped == MatrixWords;
      HashCipher: hash_waits = takes_output && out_hashed_i == hashed_i;
      HashEnd:    hash_waits = 1'b1;
      default: ;
    endcase

    product_waits   = !product_guard(task_i, product_i, counts, pushed != popped);
    transform_waits = !transform_guard(task_i, transform_i, counts);

    // Words that wait for the hash unit block those behind them.
    if (out_hashed_i != hashed_i) output_waits = !takes_output;
    else output_waits = !out_guard(task_i, out_section_i, out_slot_i, counts, have, hash_done, compared);

    ended = hash_done && out_section_i == OutEnd && out_hashed_i == hashed_i;
  end
  always_comb begin
    if (is_kem(task_i) && fits_input && fits_hash && fits_matrix && fits_output && !ended) begin
      assert (!(input_waits && hash_waits && product_waits && transform_waits && output_waits));
    end
  end
endmodule
