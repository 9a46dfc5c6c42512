// SPDX-License-Identifier: Apache-2.0
// Computes the transforms of a command, one polynomial after the other: the even coefficients in 64 cycles, then the
// odd ones in 64; with two lanes, both in 64.
//   KEYGEN  NTT of s, e        ENCAPS  NTT of y; INTT of row 0, t y, the other rows
//   DECAPS  NTT of u; INTT of s u; then as ENCAPS
module transform_unit
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Lanes = 1,
  parameter reduce_e     Method = ReduceTable
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic         stop_i,
  input  task_t        task_i,
  input  counts_t      counts_i,
  // sources; a word comes a cycle after its address
  output logic [3:0]        noise_slot_o,
  output logic [1:0]        slot_o,    // slot of a finished row, or in W
  output logic [5:0]        pair_o,    // pair in W and the noise
  output logic [5:0]        word_o,    // word in the finished rows
  input  logic signed [2:0] noise_i[4],
  input  coeff_t [3:0]      normal_i,
  input  coeff_t [3:0]      row_i,
  // results: half words; with two lanes, whole ones
  output logic [1:0]   w_we_o,
  output logic         w_in_order_o,
  output logic [2:0]   w_slot_o,
  output logic [1:0]   y_we_o,
  output logic [1:0]   y_slot_o,
  output logic [5:0]   index_o,
  output coeff_t [3:0] result_o,
  output logic [4:0]   count_o
);
  typedef enum logic [1:0] {FromNoise, FromNormal, FromRow} source_e;
  typedef struct packed {
    transform_e transform;
    logic       to_y, to_w;
    logic [1:0] y_slot;
    logic [2:0] w_slot;
  } target_t;

  logic keygen, encaps, decaps;
  assign keygen = task_i.command == CommandKeygen;
  assign encaps = task_i.command == CommandEncaps;
  assign decaps = task_i.command == CommandDecaps;

  // ------------------------------------------------------------------ which transform
  logic [4:0] job_q, k, offset, place;  // place: number of the job from y on
  logic       may_start, exists;
  source_e    source;
  target_t    target;
  logic [4:0] row_number, products_needed;
  assign k      = {2'd0, task_i.k};
  assign offset = decaps ? k + 5'd1 : '0;
  assign place  = job_q - offset;
  always_comb begin
    exists       = 1'b0;
    source       = FromRow;
    may_start    = 1'b0;
    noise_slot_o = '0;
    slot_o       = '0;
    target       = '{transform: TransformIntt, to_y: 1'b0, to_w: 1'b1, y_slot: '0, w_slot: '0};
    row_number   = place - k;  // 0: row 0; 1: t y; 2, ...: rows 1, ...
    unique case (row_number)
      5'd0:    products_needed = {1'd0, task_i.k, 1'd0} - 5'd1;
      5'd1:    products_needed = {1'd0, task_i.k, 1'd0};
      5'd2:    products_needed = {1'd0, task_i.k, 1'd0} + k;
      5'd3:    products_needed = {task_i.k, 2'd0};
      default: products_needed = {task_i.k, 2'd0} + k;
    endcase
    if (decaps) products_needed = products_needed + k;
    if (decaps && job_q < k) begin
      exists    = 1'b1;
      source    = FromNormal;
      slot_o    = job_q[1:0];
      may_start = counts_i.decoded > job_q;
      target    = '{transform: TransformNtt, to_y: 1'b1, to_w: 1'b0, y_slot: job_q[1:0], w_slot: '0};
    end else if (decaps && job_q == k) begin
      exists        = 1'b1;
      may_start     = counts_i.products >= k;
      target.w_slot = 3'd4;
    end else if (keygen) begin
      exists       = job_q < {1'd0, task_i.k, 1'd0};
      source       = FromNoise;
      noise_slot_o = job_q[3:0];
      may_start    = counts_i.noise > job_q;
      target       = '{transform: TransformNtt, to_y: job_q < k, to_w: 1'b1, y_slot: job_q[1:0],
                       w_slot: job_q < k ? {1'b1, job_q[1:0]} : 3'(job_q - k)};
    end else if (encaps || decaps) begin
      exists = place <= {1'd0, task_i.k, 1'd0};
      if (place < k) begin
        source       = FromNoise;
        noise_slot_o = place[3:0];
        may_start    = counts_i.noise > place;
        target       = '{transform: TransformNtt, to_y: 1'b1, to_w: 1'b0, y_slot: place[1:0], w_slot: '0};
      end else begin
        slot_o        = row_number == 5'd0 ? 2'd0 : row_number == 5'd1 ? 2'd2 : 2'(row_number - 5'd1);
        may_start     = counts_i.products >= products_needed;
        target.w_slot = row_number == 5'd1 ? 3'd4 : {1'b0, slot_o};
      end
    end else if (task_i.command == CommandNtt) begin
      exists    = job_q == 0;
      source    = FromNormal;
      may_start = counts_i.decoded != 0;
      target    = '{transform: TransformNtt, to_y: 1'b0, to_w: 1'b1, y_slot: '0, w_slot: 3'd4};
    end else if (task_i.command == CommandIntt) begin
      exists    = job_q == 0;
      may_start = counts_i.products != 0;
    end
  end

  // ------------------------------------------------------------------ into the lane
  localparam logic [6:0] LastStep = 7'(128 / Lanes - 1);
  logic [6:0] step_q;  // with one lane, the odd coefficients begin at 64
  logic       runs, running_q;
  assign runs = running_q && (step_q != 0 || (exists && may_start));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q     <= '0;
      step_q    <= '0;
      running_q <= 1'b0;
    end else if (start_i || stop_i) begin
      job_q     <= '0;
      step_q    <= '0;
      running_q <= start_i;
    end else if (runs) begin
      step_q <= (step_q + 7'd1) & LastStep;
      if (step_q == LastStep) job_q <= job_q + 5'd1;
    end
  end
  function automatic logic [5:0] reversed(logic [5:0] value);
    return {value[0], value[1], value[2], value[3], value[4], value[5]};
  endfunction
  assign pair_o = step_q[5:0];
  assign word_o = reversed(step_q[5:0]);

  source_e    source_q;
  logic       runs_q, odd_q, frame_q;
  transform_e transform_q;
  always_ff @(posedge clk_i) begin
    source_q    <= source;
    odd_q       <= step_q[6];
    transform_q <= target.transform;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {runs_q, frame_q} <= '0;
    else         {runs_q, frame_q} <= {runs, runs && step_q[5:0] == 0};
  end
  coeff_t [3:0] word;
  for (genvar i = 0; i < 4; i++) begin : gen_word
    always_comb begin
      unique case (source_q)
        FromNoise:  word[i] = noise_i[i] < 0 ? coeff_t'(Q) + coeff_t'(noise_i[i]) : coeff_t'(noise_i[i]);
        FromNormal: word[i] = normal_i[i];
        default:    word[i] = row_i[i];
      endcase
    end
  end
  logic [Lanes-1:0] lane_starts;
  transform_e lane_transform[Lanes];
  coeff_t lane_a[Lanes], lane_b[Lanes];
  for (genvar n = 0; n < Lanes; n++) begin : gen_lane
    coeff_t a, b;
    always_comb begin
      // Zeros between frames leave nothing in the lane.
      a = !runs_q ? '0 : Lanes == 1 && odd_q ? word[1] : word[n];
      b = !runs_q ? '0 : Lanes == 1 && odd_q ? word[3] : word[2+n];
    end
    ntt_lane #(.Method(Method)) u_lane (
      .clk_i, .rst_ni, .start_i(frame_q), .transform_i(transform_q), .a_i(a), .b_i(b),
      .start_o(lane_starts[n]), .transform_o(lane_transform[n]), .a_o(lane_a[n]), .b_o(lane_b[n])
    );
  end

  // ------------------------------------------------------------------ out of it
  logic    target_valid;
  target_t target_out;
  logic [2:0] targets;
  logic [6:0] out_q, out;
  logic [1:0] halves;
  logic       lane_start, leaving, leaving_q, stopped_q, finishes, counts;
  // Frames that are in the lane when a command ends leave it before the next command begins.
  fifo #(.Width($bits(target_t)), .Depth(4)) u_targets (
    .clk_i, .rst_ni, .clear_i(stop_i || start_i), .push_i(runs && step_q == 0), .word_i(target),
    .pop_i(finishes), .valid_o(target_valid), .word_o({target_out}), .count_o(targets)
  );
  assign lane_start = lane_starts[0];
  assign out        = lane_start ? {out_q[6], 6'd0} : out_q;
  assign leaving  = (lane_start || leaving_q) && target_valid && !stopped_q;
  assign finishes = leaving && out == LastStep;
  // A transform is counted, so that others may read its result, as soon as they cannot overtake it. The result of an
  // NTT is read in the order in which it comes: with one lane, from its odd half on; with two lanes, from the middle
  // on, since the products read two words a cycle. That of an INTT is read in natural order, a word a cycle. With two
  // lanes, the latest word in relation to its reading is that of the fourth cycle, before which 56 others come.
  localparam logic [6:0] NttCounts = Lanes == 1 ? 7'd65 : 7'd32;
  localparam logic [6:0] InttCounts = Lanes == 1 ? LastStep : 7'd53;
  assign counts   = leaving && out == (target_out.transform == TransformNtt ? NttCounts : InttCounts);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_q     <= '0;
      leaving_q <= 1'b0;
      stopped_q <= 1'b1;
    end else if (start_i || stop_i) begin
      out_q     <= '0;
      leaving_q <= 1'b0;
      stopped_q <= stop_i;
    end else if (leaving) begin
      out_q     <= (out + 7'd1) & LastStep;
      leaving_q <= out[5:0] != '1;
    end
  end
  assign index_o      = target_out.transform == TransformIntt ? reversed(out[5:0]) : out[5:0];
  assign w_in_order_o = target_out.transform == TransformNtt;
  assign w_slot_o     = target_out.w_slot;
  assign y_slot_o     = target_out.y_slot;
  assign result_o     = {lane_b[Lanes-1], lane_b[0], lane_a[Lanes-1], lane_a[0]};
  assign halves       = Lanes == 1 ? {out[6], !out[6]} : '1;
  assign w_we_o       = leaving && target_out.to_w ? halves : '0;
  assign y_we_o       = leaving && target_out.to_y ? halves : '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                count_o <= '0;
    else if (start_i || stop_i) count_o <= '0;
    else if (counts)            count_o <= count_o + 5'd1;
  end
  logic unused;
  assign unused = ^{targets, lane_starts, lane_transform[0], lane_transform[Lanes-1]};
endmodule
