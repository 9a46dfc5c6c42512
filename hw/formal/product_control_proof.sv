// SPDX-License-Identifier: Apache-2.0
// product_unit goes through the list of programs_pkg, each job waits for what the list says and for nothing else, and
// the unit's count is the number of jobs that were done eleven cycles before.
module product_control_proof
  import polykem_hw_pkg::*;
  import programs_pkg::*;
(
  input logic         clk_i,
  input logic         start_i,
  input logic         stop_i,
  input task_t        task_i,
  input counts_t      counts_i,
  input logic         matrix_valid_i
);
  localparam int unsigned Latency = 11;  // from a last word's address to the count
  logic reset_q = 1'b1;
  always_ff @(posedge clk_i) reset_q <= 1'b0;
  // As in core, a command begins some cycles after the last one was stopped.
  logic running_q, start;
  logic [1:0] stopped_q;
  task_t task_q, order;
  assign start = start_i && !running_q && stopped_q == '1 && !stop_i && is_kem(task_i);
  assign order = start ? task_i : task_q;
  always_ff @(posedge clk_i) begin
    if (start) task_q <= task_i;
    running_q <= !reset_q && !stop_i && (start || running_q);
    stopped_q <= reset_q || running_q || stop_i ? '0 : stopped_q + 2'(stopped_q != '1);
  end

  logic [4:0] count;
  product_unit u_dut (
    .clk_i, .rst_ni(!reset_q), .start_i(start), .stop_i, .zeroize_i(1'b0), .zeroize_address_i('0), .task_i(order),
    .counts_i, .matrix_valid_i, .matrix_pop_o(), .first_is_matrix_o(), .first_address_o(), .first_i('0),
    .second_address_o(), .second_i('0), .v_we_i(1'b0), .v_index_i('0), .v_i('0), .row_we_o(), .row_address_o(),
    .row_o(), .count_o(count), .takes_first_o(), .alert_o()
  );
  product_t at, after;
  assign at    = product_t'(u_dut.cursor_q);
  assign after = product_t'(u_dut.cursor_next);

  logic ends;
  assign ends = u_dut.may_run && u_dut.index_q == '1;
  logic [Latency-1:0] late_q;  // jobs that are done and not yet counted
  logic [Latency-1:0] in_unit;
  always_ff @(posedge clk_i) late_q <= reset_q || start || stop_i ? '0 : {late_q[Latency-2:0], ends};
  assign in_unit[0] = u_dut.place_q.valid && u_dut.place_q.index == '1;
  for (genvar i = 1; i < Latency; i++) begin : gen_late
    assign in_unit[i] = u_dut.valid_q[i-1] && u_dut.u_place.line_q[i-1][5:0] == '1;
  end
  logic [4:0] waiting;
  always_comb begin
    waiting = '0;
    for (int unsigned i = 0; i < Latency; i++) waiting = waiting + 5'(late_q[i]);
  end
  always_comb begin
    if (!reset_q && !running_q) assert (at.kind == ProductEnd && (stopped_q == 0 || !u_dut.place_q.valid));
    if (!reset_q && running_q) begin
      assert (is_kem(task_q) && product_exists(task_q, at));
      assert (u_dut.may_run == product_guard(task_q, at, counts_i, matrix_valid_i));
      if (at.kind != ProductEnd) begin
        assert (after == product_next(task_q, at));
        assert (products_before(task_q, after) == products_before(task_q, at) + 5'd1);
        assert (entries_before(task_q, after) == entries_before(task_q, at) + 5'(at.kind == ProductMatrix));
      end
      assert (in_unit == late_q);
      assert (count + waiting == products_before(task_q, at));
    end
  end
endmodule
