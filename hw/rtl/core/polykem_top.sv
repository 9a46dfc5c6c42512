// SPDX-License-Identifier: Apache-2.0
// The core on its buses: AXI4-Lite for control (rtl/core/registers.sv lists the registers), and AXI4-Streams of 64 bits
// for input and output. A command's input is one packet, and so is its output. Ports have the names of the AXI
// standard.
module polykem_top
  import polykem_hw_pkg::*;
#(
  parameter int unsigned Lanes = 1,                 // lanes of transforms, products and the sampling of A: 1 or 2
  parameter int unsigned RoundsPerCycle = 1,        // rounds of Keccak: 1 or 2
  parameter reduce_e     Method = ReduceTable,
  parameter bit          Check = 1'b0               // decapsulate twice and compare the results
) (
  input  logic        aclk,
  input  logic        aresetn,
  output logic        irq,
  output logic        alert,            // an upset bit was found, until 1 is written to STATUS[2]
  input  logic        s_axi_awvalid,
  output logic        s_axi_awready,
  input  logic [7:0]  s_axi_awaddr,
  input  logic        s_axi_wvalid,
  output logic        s_axi_wready,
  input  logic [31:0] s_axi_wdata,
  output logic        s_axi_bvalid,
  input  logic        s_axi_bready,
  output logic [1:0]  s_axi_bresp,
  input  logic        s_axi_arvalid,
  output logic        s_axi_arready,
  input  logic [7:0]  s_axi_araddr,
  output logic        s_axi_rvalid,
  input  logic        s_axi_rready,
  output logic [31:0] s_axi_rdata,
  output logic [1:0]  s_axi_rresp,
  input  logic        s_axis_tvalid,
  output logic        s_axis_tready,
  input  logic [63:0] s_axis_tdata,
  input  logic        s_axis_tlast,
  output logic        m_axis_tvalid,
  input  logic        m_axis_tready,
  output logic [63:0] m_axis_tdata,
  output logic        m_axis_tlast
);
  logic start, abort, busy, running, done, upset;
  logic [2:0] errors;
  logic [1:0] phase;
  task_t order;
  // to and from the core
  logic core_start, core_busy, core_running, core_done, core_upset;
  task_t core_order;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [63:0] in_word, out_word;
  assign s_axi_bresp = 2'b00;
  assign s_axi_rresp = 2'b00;

  registers u_registers (
    .clk_i(aclk), .rst_ni(aresetn),
    .awvalid_i(s_axi_awvalid), .awready_o(s_axi_awready), .awaddr_i(s_axi_awaddr),
    .wvalid_i(s_axi_wvalid), .wready_o(s_axi_wready), .wdata_i(s_axi_wdata),
    .bvalid_o(s_axi_bvalid), .bready_i(s_axi_bready),
    .arvalid_i(s_axi_arvalid), .arready_o(s_axi_arready), .araddr_i(s_axi_araddr),
    .rvalid_o(s_axi_rvalid), .rready_i(s_axi_rready), .rdata_o(s_axi_rdata), .irq_o(irq),
    .start_o(start), .abort_o(abort), .task_o(order), .busy_i(busy), .running_i(running), .done_i(done),
    .errors_i(errors), .alert_i(upset), .alert_o(alert), .phase_i(phase)
  );
  core #(.Lanes(Lanes), .RoundsPerCycle(RoundsPerCycle), .Method(Method)) u_core (
    .clk_i(aclk), .rst_ni(aresetn), .start_i(core_start), .abort_i(abort), .task_i(core_order),
    .busy_o(core_busy), .running_o(core_running), .done_o(core_done),
    .size_error_o(errors[2]), .modulus_error_o(errors[1]), .key_error_o(errors[0]), .alert_o(core_upset),
    .phase_o(phase),
    .in_valid_i(in_valid), .in_ready_o(in_ready), .in_word_i(in_word), .in_last_i(in_last),
    .out_valid_o(out_valid), .out_ready_i(out_ready), .out_word_o(out_word), .out_last_o(out_last)
  );
  if (Check) begin : gen_check
    double_check u_check (
      .clk_i(aclk), .rst_ni(aresetn), .start_i(start), .abort_i(abort), .task_i(order), .busy_o(busy),
      .running_o(running), .done_o(done), .alert_o(upset), .core_start_o(core_start), .core_task_o(core_order),
      .core_busy_i(core_busy), .core_running_i(core_running), .core_done_i(core_done), .core_alert_i(core_upset),
      .core_failed_i(|errors), .in_valid_i(s_axis_tvalid), .in_ready_o(s_axis_tready), .in_word_i(s_axis_tdata),
      .in_last_i(s_axis_tlast), .out_valid_o(m_axis_tvalid), .out_ready_i(m_axis_tready), .out_word_o(m_axis_tdata),
      .out_last_o(m_axis_tlast), .core_in_valid_o(in_valid), .core_in_ready_i(in_ready), .core_in_word_o(in_word),
      .core_in_last_o(in_last), .core_out_valid_i(out_valid), .core_out_ready_o(out_ready), .core_out_word_i(out_word),
      .core_out_last_i(out_last)
    );
  end else begin : gen_no_check
    assign {core_start, core_order} = {start, order};
    assign {busy, running, done, upset} = {core_busy, core_running, core_done, core_upset};
    assign {in_valid, in_word, in_last} = {s_axis_tvalid, s_axis_tdata, s_axis_tlast};
    assign {m_axis_tvalid, m_axis_tdata, m_axis_tlast} = {out_valid, out_word, out_last};
    assign {s_axis_tready, out_ready} = {in_ready, m_axis_tready};
  end
endmodule
