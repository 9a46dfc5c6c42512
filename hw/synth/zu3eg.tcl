# SPDX-License-Identifier: Apache-2.0
#
# Builds the block design for a Zynq UltraScale+ ZU3EG: the processor, the core (polykem_top), an AXI DMA in direct
# register mode, and the bitstream. It has never been run: no vendor tool was at hand where it was written.
#
#   vivado -mode batch -source hw/synth/zu3eg.tcl -tclargs FOLDER [BOARD_PART [CLOCK_MHZ]]
#
# FOLDER gets the project, polykem.bit and polykem.hwh (the names that PYNQ wants), timing.rpt and utilization.rpt.
# BOARD_PART sets up the processor's memory and pins, e.g. that of an Ultra96; without one only the part is set, which is
# enough for area and timing and not for a board. CLOCK_MHZ is what the tools are asked for, 100 unless it is given: the
# frequency that the processor gives this clock (PL0) by default. timing.rpt says whether the core meets it; no clock is
# known to be met.

set hw [file normalize [file join [file dirname [info script]] ..]]
set folder [expr {[llength $argv] > 0 ? [lindex $argv 0] : "build/zu3eg"}]
set board [expr {[llength $argv] > 1 ? [lindex $argv 1] : ""}]
set clock [expr {[llength $argv] > 2 ? [lindex $argv 2] : 100}]
set part xczu3eg-sbva484-1-e

create_project -force polykem $folder/project -part $part
if {$board ne ""} {
  set_property board_part $board [current_project]
}

# ---- the core's sources, in the order of the file list
set list [open $hw/rtl/files.f]
foreach line [split [read $list] "\n"] {
  set line [string trim $line]
  if {$line eq "" || [string index $line 0] eq "#"} {
    continue
  }
  add_files -norecurse $hw/$line
}
close $list
# The top of a module reference in a block design must be plain Verilog. The core has no byte strobes: its registers are
# written as whole words, and its packets are whole words.
set wrapper [open $folder/polykem_bd.v w]
puts $wrapper {
module polykem_bd (
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axi:s_axis:m_axis, ASSOCIATED_RESET aresetn" *)
  input         aclk,
  input         aresetn,
  (* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 irq INTERRUPT", X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
  output        irq,
  input  [7:0]  s_axi_awaddr,
  input  [2:0]  s_axi_awprot,
  input         s_axi_awvalid,
  output        s_axi_awready,
  input  [31:0] s_axi_wdata,
  input  [3:0]  s_axi_wstrb,
  input         s_axi_wvalid,
  output        s_axi_wready,
  output [1:0]  s_axi_bresp,
  output        s_axi_bvalid,
  input         s_axi_bready,
  input  [7:0]  s_axi_araddr,
  input  [2:0]  s_axi_arprot,
  input         s_axi_arvalid,
  output        s_axi_arready,
  output [31:0] s_axi_rdata,
  output [1:0]  s_axi_rresp,
  output        s_axi_rvalid,
  input         s_axi_rready,
  input  [63:0] s_axis_tdata,
  input  [7:0]  s_axis_tkeep,
  input         s_axis_tlast,
  input         s_axis_tvalid,
  output        s_axis_tready,
  output [63:0] m_axis_tdata,
  output [7:0]  m_axis_tkeep,
  output        m_axis_tlast,
  output        m_axis_tvalid,
  input         m_axis_tready
);
  assign m_axis_tkeep = 8'hff;
  polykem_top u_top (
    .aclk(aclk), .aresetn(aresetn), .irq(irq), .alert(),
    .s_axi_awaddr(s_axi_awaddr), .s_axi_awvalid(s_axi_awvalid), .s_axi_awready(s_axi_awready),
    .s_axi_wdata(s_axi_wdata), .s_axi_wvalid(s_axi_wvalid), .s_axi_wready(s_axi_wready),
    .s_axi_bresp(s_axi_bresp), .s_axi_bvalid(s_axi_bvalid), .s_axi_bready(s_axi_bready),
    .s_axi_araddr(s_axi_araddr), .s_axi_arvalid(s_axi_arvalid), .s_axi_arready(s_axi_arready),
    .s_axi_rdata(s_axi_rdata), .s_axi_rresp(s_axi_rresp), .s_axi_rvalid(s_axi_rvalid), .s_axi_rready(s_axi_rready),
    .s_axis_tdata(s_axis_tdata), .s_axis_tlast(s_axis_tlast), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tready(s_axis_tready),
    .m_axis_tdata(m_axis_tdata), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tready(m_axis_tready)
  );
endmodule
}
close $wrapper
add_files -norecurse $folder/polykem_bd.v
update_compile_order -fileset sources_1

# ---- the block design
create_bd_design design_1
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
if {$board ne ""} {
  apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset 1} $ps
}
# one port for registers, one cache-coherent port for the DMA, two interrupts, one clock
set_property -dict [list \
  CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 CONFIG.PSU__USE__M_AXI_GP2 0 \
  CONFIG.PSU__USE__S_AXI_GP0 1 CONFIG.PSU__USE__IRQ0 1 \
  CONFIG.PSU__FPGA_PL0_ENABLE 1 CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ $clock] $ps

set core [create_bd_cell -type module -reference polykem_bd core]

# Direct register mode; no packet is longer than 8 KiB; no realignment, the driver's buffers are aligned.
set dma [create_bd_cell -type ip -vlnv xilinx.com:ip:axi_dma dma]
set_property -dict [list \
  CONFIG.c_include_sg 0 CONFIG.c_sg_length_width 14 CONFIG.c_addr_width 40 \
  CONFIG.c_m_axi_mm2s_data_width 64 CONFIG.c_m_axis_mm2s_tdata_width 64 CONFIG.c_mm2s_burst_size 16 \
  CONFIG.c_m_axi_s2mm_data_width 64 CONFIG.c_s_axis_s2mm_tdata_width 64 CONFIG.c_s2mm_burst_size 16] $dma

connect_bd_intf_net [get_bd_intf_pins dma/M_AXIS_MM2S] [get_bd_intf_pins core/s_axis]
connect_bd_intf_net [get_bd_intf_pins core/m_axis] [get_bd_intf_pins dma/S_AXIS_S2MM]

# Registers of both behind the processor's port, both channels of the DMA behind its memory port.
set clocks {Clk_master Auto Clk_slave Auto Clk_xbar Auto}
foreach slave {/core/s_axi /dma/S_AXI_LITE} {
  apply_bd_automation -rule xilinx.com:bd_rule:axi4 \
    -config [concat $clocks [list Master /ps/M_AXI_HPM0_FPD Slave $slave intc_ip {New AXI SmartConnect}]] \
    [get_bd_intf_pins $slave]
}
apply_bd_automation -rule xilinx.com:bd_rule:axi4 \
  -config [concat $clocks [list Master /dma/M_AXI_MM2S Slave /ps/S_AXI_HPC0_FPD intc_ip {New AXI SmartConnect}]] \
  [get_bd_intf_pins ps/S_AXI_HPC0_FPD]
apply_bd_automation -rule xilinx.com:bd_rule:axi4 \
  -config [concat $clocks [list Master /dma/M_AXI_S2MM Slave /ps/S_AXI_HPC0_FPD intc_ip Auto]] \
  [get_bd_intf_pins dma/M_AXI_S2MM]

# The driver waits for the core's interrupt; the DMA's are polled.
connect_bd_net [get_bd_pins core/irq] [get_bd_pins ps/pl_ps_irq0]

assign_bd_address
validate_bd_design
save_bd_design

make_wrapper -files [get_files design_1.bd] -top -import
set_property top design_1_wrapper [current_fileset]

# ---- bitstream and reports
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
  error "the implementation failed; see $folder/project"
}
open_run impl_1
report_timing_summary -file $folder/timing.rpt
report_utilization -hierarchical -file $folder/utilization.rpt
file copy -force $folder/project/polykem.runs/impl_1/design_1_wrapper.bit $folder/polykem.bit
set handoff [glob -directory $folder/project/polykem.gen/sources_1/bd/design_1/hw_handoff *.hwh]
file copy -force [lindex $handoff 0] $folder/polykem.hwh
puts "wrote $folder/polykem.bit and polykem.hwh for [get_property part [current_project]] at $clock MHz"
