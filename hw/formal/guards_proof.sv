// SPDX-License-Identifier: Apache-2.0
// The jobs of transform_unit, output_unit and hash_unit wait for what programs_pkg says, and those of hash_unit have
// its order, whatever their registers hold. product_control_proof covers product_unit.
module guards_proof
  import polykem_hw_pkg::*;
  import programs_pkg::*;
(
  input logic        clk_i,
  input logic        rst_ni,
  input logic        start_i,
  input logic        stop_i,
  input task_t       task_i,
  input counts_t     counts_i,
  input logic [12:0] have_i,
  input logic        message_ready_i,
  input logic        compared_i,
  input logic        accepted_i,
  input logic        refused_i,
  input logic        hash_done_i,
  input logic        in_valid_i,
  input logic        out_valid_i,
  input logic        matrix_ready_i,
  input logic        ready_i,
  input logic        hash_ready_i,
  input logic        scratch_ready_i,
  input logic [63:0] word_i
);
  logic signed [2:0] noise[4];
  assign noise = '{default: '0};
  transform_unit u_transform (
    .clk_i, .rst_ni, .start_i, .stop_i, .task_i, .counts_i, .noise_slot_o(), .slot_o(), .pair_o(), .word_o(),
    .noise_i(noise), .normal_i('0), .row_i('0), .w_we_o(), .w_in_order_o(), .w_slot_o(), .y_we_o(), .y_slot_o(),
    .index_o(), .result_o(), .count_o()
  );
  logic compared;
  output_unit u_output (
    .clk_i, .rst_ni, .start_i, .stop_i, .zeroize_i(1'b0), .task_i, .counts_i, .have_i, .hash_done_i, .slot_o(),
    .noise_slot_o(), .index_o(), .normal_i('0), .row_i('0), .noise_i(noise), .scratch_slot_o(), .scratch_index_o(),
    .scratch_word_i(word_i), .scratch_parity_i(1'b0), .message_we_o(), .message_windex_o(), .scratch_ready_i,
    .message_ready_o(), .cipher_address_o(), .cipher_we_o(), .cipher_ready_i(1'b1), .cipher_reads_o(),
    .cipher_word_i(word_i), .cipher_parity_i(1'b0), .compared_o(compared), .accepted_o(), .refused_o(),
    .raw_push_i(1'b0), .raw_last_i(1'b0), .raw_word_i('0), .raw_ready_o(), .word_o(), .valid_o(), .ready_i, .last_o(),
    .hash_valid_o(), .hash_ready_i, .done_o(), .alert_o()
  );
  hash_unit u_hash (
    .clk_i, .rst_ni, .start_i, .stop_i, .zeroize_i(1'b0), .task_i, .have_i, .message_ready_i, .compared_i, .accepted_i,
    .refused_i, .in_valid_i, .in_ready_o(), .in_word_i(word_i), .out_valid_i, .out_ready_o(), .out_word_i(word_i),
    .cipher_address_o(), .cipher_reads_o(), .cipher_valid_i(1'b1), .cipher_word_i(word_i), .scratch_slot_o(),
    .scratch_index_o(), .scratch_word_i(word_i), .scratch_parity_i(1'b0), .digest_we_o(), .digest_slot_o(),
    .digest_index_o(), .digest_word_o(), .noise_we_o(), .noise_slot_o(), .noise_row_o(), .noise_two_rows_o(),
    .noise_o(), .noise_count_o(), .matrix_push_o(), .matrix_ready_i, .matrix_o(), .raw_push_o(), .raw_last_o(),
    .raw_ready_i(1'b1), .key_error_o(), .phase_o(), .done_o(), .alert_o()
  );

  out_e  out_section;
  hash_e hash_section;
  logic [4:0] last_noise;
  logic last_job;
  assign out_section  = out_e'(u_output.section_q);
  assign hash_section = hash_e'(u_hash.lead_q.section);  // the job that gathers
  assign last_noise   = task_i.command == CommandKeygen ? times(task_i, 2) - 5'd1 : times(task_i, 2);
  always_comb begin
    unique case (hash_section)
      HashNoise:  last_job = u_hash.lead_q.outer == 4'(last_noise);
      HashMatrix: last_job = {1'b0, u_hash.lead_q.inner} == task_i.k - 3'd1 &&
                             u_hash.lead_q.outer == 4'(task_i.k) - 4'd1;
      default:    last_job = 1'b1;
    endcase
  end
  always_comb begin
    if (is_kem(task_i)) begin
      if (u_transform.job_q <= transform_jobs(task_i)) begin
        assert ((u_transform.exists && u_transform.may_start) ==
                transform_guard(task_i, u_transform.job_q, counts_i));
      end
      if (out_exists(task_i, out_section) && {1'b0, u_output.slot_q} < task_i.k) begin
        assert ((u_output.may_run || out_section == OutWaiting) ==
                out_guard(task_i, out_section, u_output.slot_q, counts_i, have_i, hash_done_i, compared));
      end
      if (hash_place(task_i, hash_section) != 4'd15 && hash_section != HashEnd) begin
        assert (u_hash.may_start == hash_guard(task_i, hash_section, have_i, message_ready_i, compared_i));
        assert (hash_e'(u_hash.lead_next.section) == (last_job ? hash_next(task_i, hash_section) : hash_section));
      end
    end
  end
endmodule
