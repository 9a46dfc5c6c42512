// SPDX-License-Identifier: Apache-2.0
// The core without its buses: five units that work concurrently, the memories between them, and the state of a command.
// Units wait for each other only by counts of finished polynomials. After the last word of a result, after an error and
// after abort_i, everything that held a secret is overwritten before the next command may begin.
module core
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter int unsigned RoundsPerCycle = 1,
  parameter reduce_e     Method = ReduceTable
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,   // begins a command; ignored while busy_o is high
  input  logic         abort_i,   // at any time: ends the command and overwrites all memories
  input  task_t        task_i,
  output logic         busy_o,
  output logic         running_o, // busy, and not yet overwriting
  output logic         done_o,    // for one cycle: the command has ended
  output logic         size_error_o,     // with done_o
  output logic         modulus_error_o,
  output logic         key_error_o,
  output logic         alert_o,   // an upset bit was found; the core ends its command and overwrites all memories
  output logic [1:0]   phase_o,   // phase of the hash unit
  input  logic         in_valid_i,
  output logic         in_ready_o,
  input  logic [63:0]  in_word_i,
  input  logic         in_last_i,
  output logic         out_valid_o,
  input  logic         out_ready_i,
  output logic [63:0]  out_word_o,
  output logic         out_last_o
);
  // ------------------------------------------------------------------ the state of a command
  // Three bits differ between any two codes.
  typedef enum logic [4:0] {StateIdle = 5'b00111, StateRun = 5'b11001, StateZeroize = 5'b11110} state_e;
  (* fsm_encoding = "none" *) state_e state_q;
  task_t  order_q;
  logic   order_parity_q;  // of what chooses the algorithm: command, kyber, k
  logic [7:0] zeroize_q, zeroize_last;
  logic whole_q;  // overwrite all memories, not just those that the command used
  logic start, stop, zeroize, size_error, modulus_error, key_error, out_done, hash_done, fails, finishes;
  logic [2:0] errors_q;
  logic begun_q;
  // Words that an upset bit let through leave a cycle later. They are stopped by then.
  logic alert, alert_q, input_alert, hash_alert, product_alert, output_alert, key_alert;
  assign alert   = !(state_q inside {StateIdle, StateRun, StateZeroize}) ||
                   ^{order_parity_q, order_q.command, order_q.kyber, order_q.k} || input_alert || hash_alert ||
                   product_alert || output_alert || key_alert;
  assign alert_o = alert_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) alert_q <= 1'b0;
    else         alert_q <= alert;
  end

  assign start        = start_i && state_q == StateIdle && !abort_i && !alert_q;
  assign zeroize      = state_q == StateZeroize;
  assign fails        = |errors_q;
  assign finishes     = state_q == StateRun && begun_q && (fails || (out_done && hash_done));
  assign stop         = finishes || abort_i || alert_q;
  assign busy_o       = state_q != StateIdle;
  assign running_o    = state_q == StateRun;
  // Long enough for a transform to leave the lane.
  assign zeroize_last = whole_q || order_q.k == 3'd4 ? 8'd255 : 8'd191;
  assign done_o       = zeroize && zeroize_q == zeroize_last;
  assign {size_error_o, modulus_error_o, key_error_o} = errors_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StateZeroize;
      zeroize_q <= '0;
      whole_q   <= 1'b1;
      errors_q  <= '0;
      begun_q   <= 1'b0;
    end else if (abort_i || alert_q) begin
      state_q   <= StateZeroize;
      zeroize_q <= '0;
      whole_q   <= 1'b1;
    end else begin
      begun_q <= state_q == StateRun;
      unique case (state_q)
        StateIdle: if (start) begin
          state_q  <= StateRun;
          errors_q <= '0;
        end
        StateRun: begin
          errors_q <= errors_q | {size_error, modulus_error, key_error};
          if (finishes) begin
            state_q   <= StateZeroize;
            zeroize_q <= '0;
            whole_q   <= 1'b0;
          end
        end
        StateZeroize: begin
          zeroize_q <= zeroize_q + 8'd1;
          if (done_o) state_q <= StateIdle;
        end
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)    order_q <= '0;
    else if (start) order_q <= task_i;
  end
  // The units see a new command in the cycle in which it begins.
  task_t order;
  assign order = start ? task_i : order_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)               order_parity_q <= 1'b0;
    else if (start || alert_q) order_parity_q <= ^{order.command, order.kyber, order.k};
  end

  // ------------------------------------------------------------------ input
  counts_t counts;
  logic poly_w_we, poly_t_we, poly_y_we, poly_v_we;
  logic taken, to_hash, hash_in_ready, in_scratch_ready, poly_we, message_ready, compared, accepted, refused;
  in_section_e section;
  logic [7:0] in_index;
  logic [12:0] have;
  poly_e poly;
  logic [1:0] poly_slot;
  logic [5:0] poly_index;
  coeff_t [Lanes-1:0][3:0] poly_quad;
  logic in_ready;
  input_unit #(.Lanes(Lanes)) u_input (
    .clk_i, .rst_ni, .start_i(start), .stop_i(stop), .abort_i, .task_i(order),
    .valid_i(in_valid_i), .ready_o(in_ready), .word_i(in_word_i), .last_i(in_last_i),
    .taken_o(taken), .section_o(section), .index_o(in_index), .to_hash_o(to_hash), .hash_ready_i(hash_in_ready),
    .scratch_ready_i(in_scratch_ready), .have_o(have),
    .poly_we_o(poly_we), .poly_o(poly), .slot_o(poly_slot), .poly_index_o(poly_index), .quad_o(poly_quad),
    .decoded_o(counts.decoded), .products_i(counts.products), .size_error_o(size_error),
    .modulus_error_o(modulus_error), .alert_o(input_alert)
  );
  assign in_ready_o = in_ready;

  // ------------------------------------------------------------------ hashing and sampling
  logic hash_out_valid, hash_out_ready, digest_we, noise_we, matrix_push, matrix_ready, raw_push, raw_last, raw_ready;
  logic [7:0] hash_cipher_address;
  logic hash_reads, compare_reads, hash_has_cipher;  // the ciphertext's memory
  logic cipher_parity, hash_scratch_parity, out_scratch_parity;
  logic [63:0] cipher_word, hash_scratch_word, digest_word, out_word, inner_word;
  slot_e hash_slot, digest_slot, out_slot;
  logic [1:0] hash_index, digest_index, out_index;
  logic [3:0] noise_wslot;
  logic [4:0] noise_wrow;
  logic signed [2:0] noise_new[16];
  logic noise_two_rows;
  coeff_t [Lanes-1:0][3:0] matrix_new;
  hash_unit #(.RoundsPerCycle(RoundsPerCycle), .Lanes(Lanes)) u_hash (
    .clk_i, .rst_ni, .start_i(start), .stop_i(stop), .zeroize_i(zeroize), .task_i(order),
    .have_i(have), .message_ready_i(message_ready), .compared_i(compared), .accepted_i(accepted), .refused_i(refused),
    .in_valid_i(to_hash), .in_ready_o(hash_in_ready), .in_word_i,
    .out_valid_i(hash_out_valid), .out_ready_o(hash_out_ready), .out_word_i(out_word),
    .cipher_address_o(hash_cipher_address), .cipher_reads_o(hash_reads), .cipher_valid_i(hash_has_cipher),
    .cipher_word_i(cipher_word),
    .scratch_slot_o(hash_slot), .scratch_index_o(hash_index), .scratch_word_i(hash_scratch_word),
    .scratch_parity_i(hash_scratch_parity),
    .digest_we_o(digest_we), .digest_slot_o(digest_slot), .digest_index_o(digest_index), .digest_word_o(digest_word),
    .noise_we_o(noise_we), .noise_slot_o(noise_wslot), .noise_row_o(noise_wrow), .noise_two_rows_o(noise_two_rows),
    .noise_o(noise_new),
    .noise_count_o(counts.noise), .matrix_push_o(matrix_push), .matrix_ready_i(matrix_ready), .matrix_o(matrix_new),
    .raw_push_o(raw_push), .raw_last_o(raw_last), .raw_ready_i(raw_ready),
    .key_error_o(key_error), .phase_o, .done_o(hash_done), .alert_o(hash_alert)
  );

  // ------------------------------------------------------------------ scratch memory: a copy for each of two readers
  // Here, in the ciphertext's memory and in that of s and t, a word has a bit that makes its parity odd. Erased words
  // have even parity: they are not data.
  logic message_we, scratch_we, in_scratch_we;
  logic [1:0] message_windex;
  logic [4:0] scratch_waddr;
  logic [63:0] scratch_wdata;
  slot_e in_slot;
  always_comb begin
    unique case (section)
      InD:     in_slot = SlotSigma;
      InM:     in_slot = SlotM;
      InRho:   in_slot = SlotRho;
      InH:     in_slot = SlotH;
      default: in_slot = SlotZ;
    endcase
  end
  assign in_scratch_we    = taken && section inside {InD, InM, InRho, InH, InZ};
  assign in_scratch_ready = !digest_we && !message_we;
  always_comb begin
    scratch_we    = digest_we || message_we || in_scratch_we;
    scratch_waddr = {in_slot, in_index[1:0]};
    scratch_wdata = in_word_i;
    if (message_we) begin
      scratch_waddr = {SlotM, message_windex};
      scratch_wdata = inner_word;
    end
    if (digest_we) begin
      scratch_waddr = {digest_slot, digest_index};
      scratch_wdata = digest_word;
    end
    if (zeroize) begin
      scratch_we    = 1'b1;
      scratch_waddr = zeroize_q[4:0];
      scratch_wdata = '0;
    end
  end
  logic [64:0] scratch[32], scratch_copy[32];
  logic [63:0] out_scratch_word;
  logic scratch_parity;
  assign scratch_parity = ~^scratch_wdata && !zeroize;
  always_ff @(posedge clk_i) begin
    if (scratch_we) begin
      scratch[scratch_waddr]      <= {scratch_parity, scratch_wdata};
      scratch_copy[scratch_waddr] <= {scratch_parity, scratch_wdata};
    end
  end
  assign {hash_scratch_parity, hash_scratch_word} = scratch[{hash_slot, hash_index}];
  assign {out_scratch_parity, out_scratch_word}   = scratch_copy[{out_slot, out_index}];

  // ------------------------------------------------------------------ the ciphertext
  // In decapsulation it is the received one. The hash unit and the comparison read it in turns or, with two lanes, at
  // the same time. In encapsulation v waits here until u has left.
  logic [7:0] compare_address, cipher_waddr;
  logic store_we, cipher_we, cipher_parity_in, cipher_parity_out;
  logic [63:0] cipher_wdata, cipher_word_out;
  assign cipher_we    = zeroize || store_we || (taken && section inside {InU, InV});
  assign cipher_waddr = zeroize ? zeroize_q : store_we ? compare_address : in_index;
  assign cipher_wdata = zeroize ? '0 : store_we ? inner_word : in_word_i;
  assign cipher_parity_in = ~^cipher_wdata && !zeroize;
  ram #(.Width(65), .Depth(256)) u_cipher (
    .clk_i, .we_i(cipher_we), .waddr_i(cipher_waddr), .wdata_i({cipher_parity_in, cipher_wdata}),
    .raddr_i(Lanes == 1 && compare_reads ? compare_address : hash_cipher_address),
    .rdata_o({cipher_parity, cipher_word})
  );
  if (Lanes == 1) begin : gen_one_cipher
    logic compare_reads_q;
    always_ff @(posedge clk_i) compare_reads_q <= compare_reads;
    assign hash_has_cipher = !compare_reads_q;
    assign {cipher_parity_out, cipher_word_out} = {cipher_parity, cipher_word};
  end else begin : gen_cipher_copy
    assign hash_has_cipher = 1'b1;
    ram #(.Width(65), .Depth(256)) u_cipher_copy (
      .clk_i, .we_i(cipher_we), .waddr_i(cipher_waddr), .wdata_i({cipher_parity_in, cipher_wdata}),
      .raddr_i(compare_address), .rdata_o({cipher_parity_out, cipher_word_out})
    );
  end

  // ------------------------------------------------------------------ A
  // It shares a memory with the first factors of other products, which are all there before A's seed is hashed.
  localparam int unsigned MatrixBits = 9 - Lanes;
  logic matrix_valid, matrix_pop;
  logic [MatrixBits-1:0] matrix_in, matrix_out;
  block_fifo #(.Depth(256 / Lanes)) u_matrix (
    .clk_i, .rst_ni, .clear_i(start || stop), .push_i(matrix_push), .ready_o(matrix_ready), .in_index_o(matrix_in),
    .pop_i(matrix_pop), .valid_o(matrix_valid), .out_index_o(matrix_out)
  );

  // ------------------------------------------------------------------ products
  logic [7:0] first_address, second_address, row_waddr;
  logic first_is_matrix;
  coeff_t [Lanes-1:0][3:0] first_factor, second_factor, row_new;
  logic [Lanes-1:0] first_intact, second_unchecked;
  logic row_we, takes_first;
  product_unit #(.Lanes(Lanes), .Method(Method)) u_products (
    .clk_i, .rst_ni, .start_i(start), .stop_i(stop), .zeroize_i(zeroize), .zeroize_address_i(zeroize_q), .task_i(order),
    .counts_i(counts), .matrix_valid_i(matrix_valid), .matrix_pop_o(matrix_pop),
    .first_is_matrix_o(first_is_matrix), .first_address_o(first_address), .first_i(first_factor),
    .second_address_o(second_address), .second_i(second_factor),
    .v_we_i(poly_v_we), .v_index_i(poly_index), .v_i(poly_quad),
    .row_we_o(row_we), .row_address_o(row_waddr), .row_o(row_new), .count_o(counts.products),
    .takes_first_o(takes_first), .alert_o(product_alert)
  );
  assign key_alert = takes_first && !(&first_intact);

  // ------------------------------------------------------------------ transforms
  logic [3:0] lane_noise_slot, out_noise_slot;
  logic [2:0] out_poly_slot, w_slot;
  logic [1:0] lane_slot;
  logic [5:0] lane_pair, lane_word, out_poly_index, lane_index;
  logic signed [2:0] noise[4];
  coeff_t [3:0] normal, finished_row, transformed;
  logic [1:0] w_we, y_we, y_slot;
  logic w_in_order;
  transform_unit #(.Lanes(Lanes), .Method(Method)) u_transforms (
    .clk_i, .rst_ni, .start_i(start), .stop_i(stop), .task_i(order), .counts_i(counts),
    .noise_slot_o(lane_noise_slot), .slot_o(lane_slot), .pair_o(lane_pair), .word_o(lane_word),
    .noise_i(noise), .normal_i(normal), .row_i(finished_row),
    .w_we_o(w_we), .w_in_order_o(w_in_order), .w_slot_o(w_slot), .y_we_o(y_we), .y_slot_o(y_slot),
    .index_o(lane_index), .result_o(transformed), .count_o(counts.transforms)
  );

  // ------------------------------------------------------------------ output
  logic out_valid, out_last;
  output_unit u_output (
    .clk_i, .rst_ni, .start_i(start), .stop_i(stop), .zeroize_i(zeroize), .task_i(order), .counts_i(counts),
    .have_i(have), .hash_done_i(hash_done), .slot_o(out_poly_slot), .noise_slot_o(out_noise_slot),
    .index_o(out_poly_index), .normal_i(normal), .row_i(finished_row), .noise_i(noise),
    .scratch_slot_o(out_slot), .scratch_index_o(out_index), .scratch_word_i(out_scratch_word),
    .scratch_parity_i(out_scratch_parity),
    .message_we_o(message_we), .message_windex_o(message_windex), .scratch_ready_i(!digest_we),
    .message_ready_o(message_ready), .cipher_address_o(compare_address), .cipher_we_o(store_we),
    .cipher_ready_i(Lanes == 2 || !hash_reads), .cipher_reads_o(compare_reads), .cipher_word_i(cipher_word_out),
    .cipher_parity_i(cipher_parity_out), .compared_o(compared), .accepted_o(accepted), .refused_o(refused),
    .raw_push_i(raw_push), .raw_last_i(raw_last), .raw_word_i(digest_word), .raw_ready_o(raw_ready),
    .inner_word_o(inner_word), .word_o(out_word), .valid_o(out_valid), .ready_i(out_ready_i && !alert_q),
    .last_o(out_last), .hash_valid_o(hash_out_valid), .hash_ready_i(hash_out_ready), .done_o(out_done),
    .alert_o(output_alert)
  );
  // The unit's word goes to the hash unit too. The stream shows only words that are its own.
  assign out_valid_o = out_valid && !alert_q;
  assign out_last_o  = out_last && !alert_q;
  assign out_word_o  = out_valid_o ? out_word : '0;

  // ------------------------------------------------------------------ polynomials
  // In every phase, a memory is read either by the transforms or by the output.
  assign poly_w_we = poly_we && poly == PolyW;
  assign poly_t_we = poly_we && poly == PolyT;
  assign poly_y_we = poly_we && poly == PolyY;
  assign poly_v_we = poly_we && poly == PolyV;

  logic lane_reads_normal, lane_reads_row, lane_reads_noise;
  assign lane_reads_normal = order_q.command == CommandDecaps ? counts.transforms < {2'd0, order_q.k} :
                             order_q.command == CommandNtt && counts.transforms == 0;
  // In decapsulation, the output reads v between the transforms of s u and of y.
  assign lane_reads_row    = !(order_q.command inside {CommandKeygen, CommandPwm}) &&
                             !(order_q.command == CommandDecaps && counts.transforms == {2'd0, order_q.k} + 5'd1);
  assign lane_reads_noise  = order_q.command == CommandKeygen ||
                             counts.transforms < (order_q.command == CommandDecaps ? {1'd0, order_q.k, 1'd0} + 5'd1
                                                                                   : {2'd0, order_q.k});
  skewed_ram u_normal (
    .clk_i, .zeroize_i(zeroize), .we_i(poly_w_we ? 2'b11 : w_we),
    .win_order_i(!zeroize && (poly_w_we || w_in_order)),
    .wslot_i(zeroize ? {1'b0, zeroize_q[7:6]} : poly_w_we ? {1'b0, poly_slot} : w_slot),
    .windex_i(zeroize ? zeroize_q[5:0] : poly_w_we ? poly_index : lane_index),
    .wdata_i(zeroize ? '0 : poly_w_we ? poly_quad[0] : transformed),
    .rin_order_i(!lane_reads_normal), .rslot_i(lane_reads_normal ? {1'b0, lane_slot} : out_poly_slot),
    .rindex_i(lane_reads_normal ? lane_pair : out_poly_index), .rdata_o(normal)
  );
  logic row_unchecked;
  word_ram #(.WriteWords(Lanes)) u_rows (
    .clk_i, .we_i({2{row_we}}), .waddr_i(row_waddr), .wdata_i(row_new), .erase_i(1'b0), .intact_o(row_unchecked),
    .raddr_i(lane_reads_row ? {lane_slot, lane_word} : {|out_poly_slot[2:1], out_poly_slot[0], out_poly_index}),
    .rdata_o(finished_row)
  );
  word_ram #(.Slots(8), .WriteWords(Lanes), .ReadWords(Lanes), .Checked(1'b1)) u_first (
    .clk_i, .we_i({2{zeroize || poly_t_we || matrix_push}}), .erase_i(zeroize), .intact_o(first_intact),
    .waddr_i(zeroize ? {1'b0, zeroize_q} : matrix_push ? {1'b1, 8'(matrix_in) << (Lanes - 1)} :
             {1'b0, poly_slot, poly_index}),
    .wdata_i(zeroize ? '0 : matrix_push ? matrix_new : poly_quad),
    .raddr_i(first_is_matrix ? {1'b1, 8'(matrix_out) << (Lanes - 1)} : {1'b0, first_address}), .rdata_o(first_factor)
  );
  always_ff @(posedge clk_i) one_writes_first : assert (!poly_t_we || !matrix_push);
  word_ram #(.ReadWords(Lanes)) u_second (
    .clk_i, .we_i(zeroize || poly_y_we ? 2'b11 : y_we), .erase_i(1'b0), .intact_o(second_unchecked),
    .waddr_i(zeroize ? zeroize_q : poly_y_we ? {poly_slot, poly_index} : {y_slot, lane_index}),
    .wdata_i(zeroize ? '0 : poly_y_we ? poly_quad[0] : transformed), .raddr_i(second_address), .rdata_o(second_factor)
  );
  noise_ram u_noise (
    .clk_i, .zeroize_i(zeroize), .zeroize_address_i(zeroize_q), .we_i(noise_we), .two_rows_i(noise_two_rows),
    .wslot_i(noise_wslot), .wrow_i(noise_wrow), .wdata_i(noise_new),
    .rin_order_i(!lane_reads_noise), .rslot_i(lane_reads_noise ? lane_noise_slot : out_noise_slot),
    .rindex_i(lane_reads_noise ? lane_pair : out_poly_index), .rdata_o(noise)
  );
endmodule
