// SPDX-License-Identifier: Apache-2.0
// Outputs the results of a command, part by part. It reads four coefficients a cycle, adds noise and message,
// compresses, and packs words into one of two FIFOs: from one they go to the stream and the hash unit, from the other,
// which holds what must not leave the core, to the scratch memory or the comparison.
//   KEYGEN s ek H(ek) z   ENCAPS v (to wait), u, v, K   DECAPS m (to scratch), v u (to be compared), K
// Other commands have one result. v is computed first, since its sum is ready before the last part of u.
module output_unit
  import polykem_hw_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic         stop_i,
  input  logic         zeroize_i,
  input  task_t        task_i,
  input  counts_t      counts_i,
  input  logic [12:0]  have_i,
  input  logic         hash_done_i,
  // polynomials; a word comes a cycle after its address
  output logic [2:0]        slot_o,        // slot in W, or of a finished row; 4 is v
  output logic [3:0]        noise_slot_o,
  output logic [5:0]        index_o,
  input  coeff_t [3:0]      normal_i,
  input  coeff_t [3:0]      row_i,
  input  logic signed [2:0] noise_i[4],
  // scratch memory, which answers in the same cycle; the message is read while no word leaves
  output slot_e        scratch_slot_o,
  output logic [1:0]   scratch_index_o,
  input  logic [63:0]  scratch_word_i,
  input  logic         scratch_parity_i,
  output logic         message_we_o,   // writes a word of the decrypted message
  output logic [1:0]   message_windex_o,
  input  logic         scratch_ready_i,
  output logic         message_ready_o,
  // the ciphertext's memory; a word comes a cycle after its address
  output logic [7:0]   cipher_address_o,
  output logic         cipher_we_o,      // in encapsulation v waits there until u has left
  input  logic         cipher_ready_i,   // no other unit reads it
  output logic         cipher_reads_o,
  input  logic [63:0]  cipher_word_i,
  input  logic         cipher_parity_i,
  // The verdict, in two rails: a ciphertext is accepted if one says so and the other does not say that it is refused.
  output logic         compared_o,
  output logic         accepted_o,
  output logic         refused_o,
  // words of CommandShake
  input  logic         raw_push_i,
  input  logic         raw_last_i,
  input  logic [63:0]  raw_word_i,
  output logic         raw_ready_o,
  output logic [63:0]  inner_word_o,   // to the scratch memory and the ciphertext's
  // the result
  output logic [63:0]  word_o,
  output logic         valid_o,        // to the stream
  input  logic         ready_i,
  output logic         last_o,
  output logic         hash_valid_o,
  input  logic         hash_ready_i,
  output logic         done_o,
  output logic         alert_o         // an upset bit was found
);
  typedef enum logic [3:0] {
    OutS, OutT, OutRho, OutH, OutZ, OutM, OutV, OutU, OutWaiting, OutK, OutNormal, OutRow, OutWords, OutEnd
  } section_e;
  typedef enum logic [1:0] {SinkStream, SinkHashed, SinkMessage, SinkCipher} sink_e;
  typedef struct packed {
    logic        last, hashed;
    logic [63:0] word;
  } entry_t;
  typedef struct packed {
    logic        to_cipher, parity;
    logic [63:0] word;
  } inner_t;

  function automatic section_e first_section(task_t order);
    unique case (order.command)
      CommandKeygen: return OutS;
      CommandEncaps: return OutV;
      CommandDecaps: return OutM;
      CommandPwm:    return OutRow;
      CommandShake:  return OutWords;
      default:       return OutNormal;
    endcase
  endfunction
  function automatic section_e next_section(section_e section, logic decapsulates);
    unique case (section)
      OutS:    return OutT;
      OutT:    return OutRho;
      OutRho:  return OutH;
      OutH:    return OutZ;
      OutM:    return OutV;
      OutV:    return OutU;
      OutU:    return decapsulates ? OutK : OutWaiting;
      OutWaiting: return OutK;
      default: return OutEnd;
    endcase
  endfunction

  logic decaps, encaps;
  assign decaps = task_i.command == CommandDecaps;
  assign encaps = task_i.command == CommandEncaps;
  (* fsm_encoding = "none" *) section_e section_q;
  section_e section_new;
  logic section_parity_q;
  logic [1:0] slot_q;
  logic [5:0] index_q;
  logic [4:0] k, row, transforms_before;
  assign k   = {2'd0, task_i.k};
  assign row = {3'd0, slot_q};
  assign transforms_before = decaps ? {1'd0, task_i.k, 1'd0} + 5'd1 : k;  // before those of rows and t y

  // ------------------------------------------------------------------ which part
  typedef struct packed {
    logic   use_row, use_noise, use_message, subtract, last;
    width_e width;
    sink_e  sink;
  } how_t;
  how_t how;
  logic is_vector, is_words, may_run, last_slot, runs, runs_words, runs_waiting, waiting_q, pipeline_empty, room;
  always_comb begin
    is_vector = section_q inside {OutS, OutT, OutU};
    is_words  = section_q inside {OutRho, OutH, OutZ, OutK};
    last_slot = !is_vector || slot_q == 2'(task_i.k - 3'd1);
    how       = '{use_row: 1'b0, use_noise: 1'b0, use_message: 1'b0, subtract: 1'b0, last: 1'b0, width: Width12,
                  sink: SinkStream};
    slot_o         = {1'b0, slot_q};
    noise_slot_o   = '0;
    scratch_slot_o = SlotM;
    may_run        = 1'b0;
    unique case (section_q)
      OutS: begin
        slot_o  = {1'b1, slot_q};
        may_run = counts_i.transforms > row;
      end
      OutT: begin
        how.use_row = 1'b1;
        how.sink    = SinkHashed;
        may_run     = counts_i.transforms > k + row &&
                      counts_i.products > row + (task_i.k == 3'd2 ? 5'd2 : task_i.k == 3'd3 ? 5'd6 : 5'd12);
      end
      OutRho: begin
        scratch_slot_o = SlotRho;
        how.sink       = SinkHashed;
        may_run        = 1'b1;
      end
      OutH: begin
        scratch_slot_o = SlotH;
        may_run        = hash_done_i;
      end
      OutZ: begin
        scratch_slot_o = SlotZ;
        how.last       = 1'b1;
        may_run        = have_i[InZ];
      end
      OutM: begin  // s u - v rounds to the same bits as v - s u
        how.use_row  = 1'b1;
        how.subtract = 1'b1;
        how.width    = Width1;
        how.sink     = SinkMessage;
        slot_o       = 3'd4;
        may_run      = counts_i.transforms > k;
      end
      OutU: begin
        how.use_noise = 1'b1;
        how.width     = task_i.k == 3'd4 ? Width11 : Width10;
        noise_slot_o  = 4'(k + row);
        may_run       = counts_i.transforms > transforms_before + row + 5'd1;  // t y is transformed after row 0
      end
      OutV: begin
        how.use_noise   = 1'b1;
        how.use_message = 1'b1;
        how.width       = task_i.k == 3'd4 ? Width5 : Width4;
        slot_o          = 3'd4;
        noise_slot_o    = {task_i.k, 1'b0};
        may_run         = counts_i.transforms > transforms_before + 5'd1;
      end
      OutK: begin
        scratch_slot_o = task_i.kyber || (decaps && (!accepted_o || refused_o)) ? SlotJ : SlotK;
        how.last       = 1'b1;
        may_run        = (!decaps || compared_o) && hash_done_i;
      end
      OutNormal: begin
        slot_o   = task_i.command == CommandNtt ? 3'd4 : 3'd0;
        how.last = 1'b1;
        may_run  = counts_i.transforms != 0;
      end
      OutRow: begin  // W, which is added, is zero in this command
        how.use_row = 1'b1;
        how.last    = 1'b1;
        may_run     = counts_i.products != 0;
      end
      default: ;
    endcase
    if (section_q inside {OutU, OutWaiting} && !decaps) how.sink = task_i.kyber ? SinkHashed : SinkStream;
    if (section_q == OutV || (section_q == OutU && decaps)) how.sink = SinkCipher;
    runs       = may_run && !is_words && room;
    runs_words = may_run && is_words && room && pipeline_empty && !waiting_q;
    // All of v has been stored long before u ends.
    runs_waiting = section_q == OutWaiting && room && pipeline_empty;
  end
  how_t how_q;
  logic [5:0] last_index, index_late_q;
  assign last_index      = is_words ? 6'd3 : section_q != OutWaiting ? '1 : task_i.k == 3'd4 ? 6'd19 : 6'd15;
  assign index_o         = index_q;
  assign scratch_index_o = is_words ? index_q[1:0] : index_late_q[5:4];

  logic steps, ends_slot, new_section;
  assign steps       = runs || runs_words || runs_waiting;
  assign ends_slot   = steps && index_q == last_index;
  assign new_section = start_i || stop_i || (ends_slot && last_slot) ||
                       (!steps && section_q == OutWords && raw_push_i && raw_last_i);
  always_comb begin
    section_new = next_section(section_q, decaps);
    if (start_i) section_new = first_section(task_i);
    if (stop_i)  section_new = OutEnd;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)          {section_parity_q, section_q} <= {^OutEnd, OutEnd};
    else if (new_section) {section_parity_q, section_q} <= {^section_new, section_new};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      slot_q  <= '0;
      index_q <= '0;
    end else if (start_i || stop_i) begin
      slot_q  <= '0;
      index_q <= '0;
    end else if (steps) begin
      index_q <= ends_slot ? '0 : index_q + 6'd1;
      if (ends_slot) slot_q <= last_slot ? '0 : slot_q + 2'd1;
    end
  end

  // ------------------------------------------------------------------ arithmetic: a cycle, and two for compression
  coeff_t [3:0] x, x_q;
  always_ff @(posedge clk_i) {how_q, index_late_q} <= {how, index_q};
  logic [3:0] message_bits;
  assign message_bits = scratch_word_i[{index_late_q[3:0], 2'd0}+:4];
  // The term added to a coefficient of W: noise, and a bit of the message times (Q + 1) / 2.
  typedef logic signed [CoeffBits:0] noisy_t;
  typedef noisy_t noisy_table_t[16];
  function automatic noisy_table_t noisy();  // index: the bit of the message, the noise
    noisy_table_t entries;
    for (int unsigned i = 0; i < 16; i++)
      entries[i] = noisy_t'(signed'(3'(i))) + (i >= 8 ? noisy_t'((Q + 1) / 2) : '0);  // 1665: Decompress_1(1)
    return entries;
  endfunction
  localparam noisy_table_t Noisy = noisy();
  for (genvar i = 0; i < 4; i++) begin : gen_sum
    noisy_t noise;
    logic signed [CoeffBits+1:0] other;
    logic signed [CoeffBits+2:0] sum;  // the last bit is the adder's carry in
    coeff_t correction;
    always_comb begin
      noise = how_q.use_noise ? Noisy[{how_q.use_message && message_bits[i], noise_i[i]}] : '0;
      other = {noise[CoeffBits], noise} | {2'b00, how_q.use_row ? row_i[i] : '0};
      if (how_q.subtract) other = ~other;
      // The sum is in -Q + 1 .. 2 Q - 2.
      sum = {2'b00, normal_i[i], 1'b1} + {other, how_q.subtract};
      correction = sum[CoeffBits+2] ? coeff_t'(Q) : reaches_q(sum[CoeffBits+1:1]) ? -coeff_t'(Q) : '0;
    end
    assign x[i] = sum[CoeffBits:1] + correction;
  end

  // Element n belongs to the coefficients that were read n + 1 cycles ago.
  logic [3:0] valid_q;
  logic [3:0][$bits(width_e)-1:0] width_q;
  logic [3:0][1:0] sink_q;
  logic [3:0] last_q;
  coeff_t [3:0] quad;
  always_ff @(posedge clk_i) begin
    x_q     <= valid_q[0] ? x : '0;
    width_q <= {width_q[2:0], how.width};
    sink_q  <= {sink_q[2:0], how.sink};
    last_q  <= {last_q[2:0], how.last && index_q == '1};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                valid_q <= '0;
    else if (start_i || stop_i) valid_q <= '0;
    else                        valid_q <= {valid_q[2:0], runs};
  end
  assign pipeline_empty = valid_q == 0;
  for (genvar i = 0; i < 4; i += 2) begin : gen_compress
    compress u_compress (.clk_i, .width_i(width_e'(width_q[1])), .x_i(x_q[i+:2]), .y_o(quad[i+:2]));
  end
  logic packed_valid;
  logic [63:0] packed_word;
  quad_packer u_packer (
    .clk_i, .clear_i(start_i || stop_i), .width_i(width_e'(width_q[3])), .valid_i(valid_q[3]), .quad_i(quad),
    .valid_o(packed_valid), .word_o(packed_word)
  );

  // ------------------------------------------------------------------ the FIFOs and where their words go
  entry_t entry, head;
  inner_t inner;
  sink_e packed_sink;
  logic push, pop, head_valid, stays_inside, inner_valid, inner_pop;
  logic [4:0] count, inner_count;
  assign packed_sink  = sink_e'(sink_q[3]);
  assign stays_inside = packed_sink inside {SinkMessage, SinkCipher};
  // Where a packed word goes inside, entry holds it too, so that one tree of gates computes either parity.
  always_comb begin
    entry = '{last: last_q[3], hashed: packed_sink == SinkHashed, word: packed_word};
    push  = packed_valid && !stays_inside && !decaps;
    if (runs_words) begin
      entry = '{last: how.last && index_q == 6'd3, hashed: how.sink == SinkHashed, word: scratch_word_i};
      push  = 1'b1;
    end else if (waiting_q) begin
      entry = '{last: 1'b0, hashed: task_i.kyber, word: cipher_word_i};
      push  = 1'b1;
    end else if (raw_push_i) begin
      entry = '{last: raw_last_i, hashed: 1'b0, word: raw_word_i};
      push  = 1'b1;
    end
  end
  fifo #(.Width($bits(entry_t)), .Depth(16)) u_fifo (
    .clk_i, .rst_ni, .clear_i(start_i || stop_i || zeroize_i), .push_i(push), .word_i(entry), .pop_i(pop),
    .valid_o(head_valid), .word_o({head}), .count_o(count)
  );
  fifo #(.Width($bits(inner_t)), .Depth(16)) u_inner (
    .clk_i, .rst_ni, .clear_i(start_i || stop_i || zeroize_i), .push_i(packed_valid && stays_inside),
    .word_i({packed_sink == SinkCipher, ~^entry.word, packed_word}), .pop_i(inner_pop),
    .valid_o(inner_valid), .word_o({inner}), .count_o(inner_count)
  );
  assign room        = count < 5'd8 && inner_count < 5'd8;  // up to five words may still come
  assign raw_ready_o = room;

  logic to_stream, to_cipher;
  assign to_stream    = head_valid && (!head.hashed || hash_ready_i);
  // If a FIFO is nearly full, this unit reads the ciphertext's memory and the hash unit waits.
  assign to_cipher    = inner_valid && inner.to_cipher && (cipher_ready_i || !room);
  assign valid_o      = to_stream;
  assign hash_valid_o = head_valid && head.hashed && ready_i;
  assign word_o       = head.word;
  assign last_o       = to_stream && head.last;
  assign pop          = to_stream && ready_i;
  assign message_we_o = inner_valid && !inner.to_cipher && scratch_ready_i;
  assign inner_word_o = inner.word;
  assign inner_pop    = message_we_o || to_cipher;

  // v, then u. In decapsulation they are compared, a cycle after they leave the FIFO; in encapsulation v is stored.
  // A word and its parity are compared with the other word and its parity: a single upset bit never makes words equal.
  logic [7:0]  cipher_q, v_begin, v_end;
  logic [64:0] compared_q;
  logic [1:0]  message_q;
  logic        differs, last_compared;
  // Each pair holds a bit and its complement. The first of each pair says what must hold to accept.
  (* keep, dont_touch = "true" *) logic compares_q, idles_q, finished_q, unfinished_q, equal_q, unequal_q;
  assign v_begin          = task_i.k == 3'd2 ? 8'd80 : task_i.k == 3'd3 ? 8'd120 : 8'd176;
  assign v_end            = task_i.k == 3'd4 ? 8'd196 : v_begin + 8'd16;
  assign cipher_we_o      = to_cipher && encaps;
  assign cipher_address_o = section_q == OutWaiting ? v_begin + {2'd0, index_q} : cipher_q;
  assign cipher_reads_o   = to_cipher || runs_waiting;
  assign message_windex_o = message_q;
  assign differs          = compared_q != {cipher_parity_i, cipher_word_i};
  assign last_compared    = cipher_q == v_begin && section_q == OutK && !inner_valid;
  assign compared_o       = finished_q && !unfinished_q;
  assign accepted_o       = finished_q && equal_q;
  assign refused_o        = unfinished_q || unequal_q;
  always_ff @(posedge clk_i) compared_q <= {inner.parity, inner.word};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {cipher_q, message_q, message_ready_o, waiting_q} <= '0;
      {compares_q, finished_q, equal_q}   <= 3'b001;
      {idles_q, unfinished_q, unequal_q}  <= 3'b110;
    end else if (start_i || stop_i) begin
      {message_q, message_ready_o, waiting_q} <= '0;
      cipher_q <= v_begin;
      {compares_q, finished_q, equal_q}   <= 3'b001;
      {idles_q, unfinished_q, unequal_q}  <= 3'b110;
    end else begin
      waiting_q  <= runs_waiting;
      compares_q <= to_cipher && decaps;
      idles_q    <= !(to_cipher && decaps);
      if (to_cipher) cipher_q <= cipher_q + 8'd1 == v_end ? '0 : cipher_q + 8'd1;
      if (compares_q && differs) equal_q   <= 1'b0;
      if (!idles_q && differs)   unequal_q <= 1'b1;
      if (compares_q && last_compared) finished_q   <= 1'b1;
      if (!idles_q && last_compared)   unfinished_q <= 1'b0;
      if (message_we_o) message_q <= message_q + 2'd1;
      if (message_we_o && message_q == '1) message_ready_o <= 1'b1;
    end
  end
  // In decapsulation nothing but K may go to the stream.
  logic leaks, wrong_parity;
  assign leaks        = decaps && ((packed_valid && !stays_inside) || waiting_q || raw_push_i);
  assign wrong_parity = runs_words && !(^{scratch_parity_i, entry.word});
  assign alert_o      = ^{section_parity_q, section_q} || compares_q == idles_q || finished_q == unfinished_q ||
                        equal_q == unequal_q || leaks || wrong_parity;
  assign done_o = section_q == OutEnd && pipeline_empty && !head_valid && !inner_valid;
  logic unused;
  assign unused = ^have_i;
endmodule
