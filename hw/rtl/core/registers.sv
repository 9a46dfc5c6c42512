// SPDX-License-Identifier: Apache-2.0
// The registers on the AXI4-Lite port, 32 bits each:
//   00 ID         504b454d
//   04 VERSION    00010000
//   08 PARAMS     [2:0] k; [3] Kyber; SHAKE: [5:4] rate (0: 72 bytes, 1: 136, 2: 168), [6] SHAKE in place of SHA3,
//                 [15:8] words in, [23:16] words out
//   0c CMD        write: 1 KEYGEN, 2 ENCAPS, 3 DECAPS, 4 NTT, 5 INTT, 6 PWM, 7 SHAKE
//   10 STATUS     [0] busy, [1] the last command, or ZEROIZE, has ended; writing 1 to [1] clears it and ERR
//                 [2] an upset bit was found; writing 1 to it clears it
//   14 ERR        [0] size of the input, [1] ek modulus check, [2] dk hash check, [3] bad command, [4] aborted,
//                 [5] ended because of an upset bit
//   18 IRQ_EN     [0] interrupt while STATUS[1] is set
//   1c ZEROIZE    write: ends the command, clears STATUS[1] and overwrites all memories
//   20 CYCLES     cycles of the last command until its last word left
//   24 OCCUPIED   cycles of the last command until its secrets were overwritten
//   28 to 34      cycles of each phase: seeds and H(ek); the hash that gives r; noise and A; the rest
module registers
  import polykem_hw_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  // AXI4-Lite
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [7:0]  awaddr_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  input  logic [31:0] wdata_i,
  output logic        bvalid_o,
  input  logic        bready_i,
  input  logic        arvalid_i,
  output logic        arready_o,
  input  logic [7:0]  araddr_i,
  output logic        rvalid_o,
  input  logic        rready_i,
  output logic [31:0] rdata_o,
  output logic        irq_o,
  // the core
  output logic        start_o,
  output logic        abort_o,
  output task_t       task_o,
  input  logic        busy_i,
  input  logic        running_i,
  input  logic        done_i,
  input  logic [2:0]  errors_i,  // size, modulus, key
  input  logic        alert_i,   // an upset bit was found
  output logic        alert_o,
  input  logic [1:0]  phase_i
);
  localparam logic [31:0] Id = 32'h504b454d;
  localparam logic [31:0] Version = 32'h00010000;

  logic [23:0] params_q;
  logic        ended_q, irq_enable_q, aborting_q;
  logic [5:0]  errors_q;
  logic [23:0] cycles_q, occupied_q, occupied;
  assign occupied = occupied_q + 24'd1;
  logic [3:0][23:0] phases_q;

  // A write takes its address and data together, in the cycle after both are there. No input reaches an output of the
  // bus within a cycle.
  logic       writes, bad;
  logic [5:0] where;
  assign awready_o = writes;
  assign wready_o  = writes;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) writes <= 1'b0;
    else         writes <= awvalid_i && wvalid_i && !writes && (!bvalid_o || bready_i);
  end
  assign where     = awaddr_i[7:2];

  logic commands;
  logic [2:0] k;
  assign commands = writes && where == 6'h03;
  assign k        = params_q[2:0];
  always_comb begin
    bad = busy_i || wdata_i[31:3] != 0 || wdata_i[2:0] == CommandNone;
    if (wdata_i[2:0] inside {CommandKeygen, CommandEncaps, CommandDecaps}) bad |= k < 3'd2 || k > 3'd4;
    if (wdata_i[2:0] == CommandShake) bad |= params_q[5:4] == 2'd3 || params_q[23:16] == 0;
  end
  assign start_o = commands && !bad;
  assign abort_o = writes && where == 6'h07;
  assign task_o  = '{command: command_e'(wdata_i[2:0]), kyber: params_q[3], k: k,
                     rate: keccak_rate_e'(params_q[5:4]), xof: params_q[6], in_words: params_q[15:8],
                     out_words: params_q[23:16]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {params_q, ended_q, irq_enable_q, aborting_q, errors_q, cycles_q, occupied_q, phases_q, bvalid_o, alert_o} <= '0;
    end else begin
      if (bready_i) bvalid_o <= 1'b0;
      if (writes) bvalid_o <= 1'b1;
      if (writes && where == 6'h02) params_q <= wdata_i[23:0];
      if (writes && where == 6'h04 && wdata_i[1]) {ended_q, errors_q} <= '0;
      if (writes && where == 6'h04 && wdata_i[2]) alert_o <= 1'b0;
      if (writes && where == 6'h06) irq_enable_q <= wdata_i[0];
      if (commands && bad) errors_q[3] <= 1'b1;
      if (start_o) begin
        {ended_q, errors_q, cycles_q, occupied_q, phases_q} <= '0;
      end else if (busy_i) begin
        occupied_q <= occupied;
        if (running_i) begin
          cycles_q <= occupied;
          phases_q[phase_i] <= phases_q[phase_i] + 24'd1;
        end
      end
      if (abort_o) begin
        {ended_q, aborting_q} <= 2'b01;  // even if the command ends in this cycle: the memories are overwritten again
      end else if (done_i) begin
        ended_q    <= 1'b1;
        aborting_q <= 1'b0;
        errors_q   <= errors_q | (aborting_q ? 6'b010000 : {3'b000, errors_i[0], errors_i[1], errors_i[2]});
      end
      if (alert_i) {alert_o, errors_q[5]} <= '1;
    end
  end
  assign irq_o = ended_q && irq_enable_q;

  assign arready_o = !rvalid_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_o <= 1'b0;
      rdata_o  <= '0;
    end else if (rvalid_o) begin
      rvalid_o <= !rready_i;
    end else begin
      rvalid_o <= arvalid_i;
      unique case (araddr_i[7:2])
        6'h00:   rdata_o <= Id;
        6'h01:   rdata_o <= Version;
        6'h02:   rdata_o <= 32'(params_q);
        6'h04:   rdata_o <= {29'd0, alert_o, ended_q, busy_i};
        6'h05:   rdata_o <= 32'(errors_q);
        6'h06:   rdata_o <= 32'(irq_enable_q);
        6'h08:   rdata_o <= 32'(cycles_q);
        6'h09:   rdata_o <= 32'(occupied_q);
        6'h0a, 6'h0b, 6'h0c, 6'h0d: rdata_o <= 32'(phases_q[araddr_i[3:2]-2'd2]);
        default: rdata_o <= '0;
      endcase
    end
  end
  logic unused;
  assign unused = ^{awaddr_i[1:0], araddr_i[1:0]};
endmodule
