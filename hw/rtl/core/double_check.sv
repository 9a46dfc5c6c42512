// SPDX-License-Identifier: Apache-2.0
// Lets the core decapsulate twice and gives the shared secret only if both results agree. It stands between the core
// and its buses. The first time, the core takes the stream's words, which are also recorded; the second time, it takes
// the record. So a fault in one of them, in arithmetic too, cannot make the core give another secret unnoticed. Other
// commands pass. After an error and after abort_i, the record is overwritten; otherwise it is while it is read.
module double_check
  import polykem_hw_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // registers
  input  logic        start_i,
  input  logic        abort_i,
  input  task_t       task_i,
  output logic        busy_o,
  output logic        running_o,  // until the last word has left
  output logic        done_o,
  output logic        alert_o,
  // the core
  output logic        core_start_o,
  output task_t       core_task_o,
  input  logic        core_busy_i,
  input  logic        core_running_i,
  input  logic        core_done_i,
  input  logic        core_alert_i,
  input  logic        core_failed_i,  // with core_done_i: there was an error
  // streams from and to the bus
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [63:0] in_word_i,
  input  logic        in_last_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [63:0] out_word_o,
  output logic        out_last_o,
  // streams to and from the core
  output logic        core_in_valid_o,
  input  logic        core_in_ready_i,
  output logic [63:0] core_in_word_o,
  output logic        core_in_last_o,
  input  logic        core_out_valid_i,
  output logic        core_out_ready_o,
  input  logic [63:0] core_out_word_i,
  input  logic        core_out_last_i
);
  localparam int unsigned Words = 1024;  // the longest input has 592
  typedef enum logic [3:0] {
    StatePass   = 4'b0000,  // no decapsulation
    StateFirst  = 4'b0011,
    StateAgain  = 4'b0101,  // begins the second
    StateSecond = 4'b0110,
    StateSend   = 4'b1001,
    StateErase  = 4'b1010
  } state_e;
  (* fsm_encoding = "none" *) state_e state_q;
  logic       kyber_q, differs_q, full_q, disagrees, fetches, keeps, takes, stores, erases;
  logic [2:0] k_q;
  logic [9:0] count_q, place_q;  // words recorded; the word that is read, erased or sent
  logic [1:0] result_q;          // words of the result that came
  logic       complete_q;        // four came
  logic [63:0] result[4], record_word;

  assign busy_o        = core_busy_i || state_q != StatePass;
  assign running_o     = state_q == StatePass ? core_running_i : state_q != StateErase;
  assign core_start_o  = state_q == StatePass ? start_i : state_q == StateAgain && !abort_i;
  always_comb begin
    core_task_o = task_i;
    if (state_q != StatePass) begin
      core_task_o         = '0;
      core_task_o.command = CommandDecaps;
      core_task_o.kyber   = kyber_q;
      core_task_o.k       = k_q;
    end
  end
  assign disagrees = state_q == StateSecond && core_done_i && (differs_q || !complete_q || core_failed_i);
  assign alert_o   = core_alert_i || disagrees || ^state_q;
  assign erases    = state_q == StateErase && place_q == '1 && !core_busy_i;
  assign done_o    = state_q == StatePass ? core_done_i : erases || (takes && out_last_o);

  // The record. full_q: record_word is the word at place_q.
  assign stores  = state_q == StateFirst && in_valid_i && in_ready_o;
  assign fetches = state_q == StateSecond && full_q && core_in_ready_i;
  ram #(.Width(64), .Depth(Words)) u_record (
    .clk_i, .we_i(stores || fetches || state_q == StateErase), .waddr_i(stores ? count_q : place_q),
    .wdata_i(stores ? in_word_i : '0), .raddr_i(place_q + 10'(fetches)), .rdata_o(record_word)
  );
  assign core_in_valid_o = state_q == StateSecond ? full_q : in_valid_i;
  assign core_in_word_o  = state_q == StateSecond ? record_word : in_word_i;
  assign core_in_last_o  = state_q == StateSecond ? place_q + 10'd1 == count_q : in_last_i;
  assign in_ready_o      = core_in_ready_i && !(state_q inside {StateAgain, StateSecond});

  // The result stays inside until it has come twice.
  assign core_out_ready_o = state_q == StatePass ? out_ready_i : 1'b1;
  assign takes            = state_q == StateSend && out_ready_i;
  assign out_valid_o      = state_q == StatePass ? core_out_valid_i : state_q == StateSend;
  assign out_last_o       = state_q == StatePass ? core_out_last_i : state_q == StateSend && place_q[1:0] == '1;
  always_comb begin
    out_word_o = '0;
    if (state_q == StatePass) out_word_o = core_out_word_i;
    if (state_q == StateSend) out_word_o = result[place_q[1:0]];
  end
  assign keeps = state_q == StateFirst && core_out_valid_i;
  always_ff @(posedge clk_i) begin
    if (keeps || takes || state_q == StateErase)
      result[keeps ? result_q : place_q[1:0]] <= keeps ? core_out_word_i : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateErase;
      {kyber_q, k_q, differs_q, full_q, count_q, place_q, result_q, complete_q} <= '0;
    end else if (state_q != StatePass && (abort_i || alert_o)) begin
      state_q <= StateErase;
      {full_q, count_q, place_q} <= '0;
    end else begin
      if (core_out_valid_i) {complete_q, result_q} <= 3'(result_q) + 3'd1;
      unique case (state_q)
        StatePass: begin
          {differs_q, full_q, count_q, place_q, result_q, complete_q} <= '0;
          {kyber_q, k_q} <= {task_i.kyber, task_i.k};
          if (start_i && !abort_i && task_i.command == CommandDecaps) state_q <= StateFirst;
        end
        StateFirst: begin
          if (stores) count_q <= count_q + 10'd1;
          if (core_done_i) begin
            state_q <= core_failed_i ? StateErase : StateAgain;
            {result_q, complete_q} <= '0;
          end
        end
        StateAgain: state_q <= StateSecond;
        StateSecond: begin
          full_q <= place_q + 10'(fetches) != count_q;
          if (fetches) place_q <= place_q + 10'd1;
          if (core_out_valid_i && core_out_word_i != result[result_q]) differs_q <= 1'b1;
          if (core_done_i) begin
            state_q <= StateSend;
            place_q <= '0;
          end
        end
        StateSend: if (takes) begin
          place_q <= place_q + 10'd1;
          if (out_last_o) state_q <= StatePass;
        end
        StateErase: begin
          if (place_q != '1) place_q <= place_q + 10'd1;
          if (erases) state_q <= StatePass;
        end
        default: ;
      endcase
    end
  end
endmodule
