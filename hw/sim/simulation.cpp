// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <verilated.h>
#ifdef POLYKEM_HW_SAVE
#include <verilated_save.h>
#endif
#ifdef POLYKEM_HW_TRACE
#include <verilated_vcd_c.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "Vpolykem_top.h"

namespace polykem_hw {

#ifdef POLYKEM_HW_TRACE
struct Simulation::Trace {
  VerilatedVcdC file;
  uint64_t time = 0;

  void dump() { file.dump(5 * time++); }
};
#else
struct Simulation::Trace {
  void dump() {}
};
#endif

namespace {

std::unique_ptr<VerilatedContext> context_of(int seed) {
  auto context = std::make_unique<VerilatedContext>();
  context->randReset(seed == 0 ? 0 : 2);
  context->randSeed(seed);
  return context;
}

}  // namespace

Simulation::Simulation(int seed) : context_(context_of(seed)), top_(new Vpolykem_top(context_.get())) {
  top_->s_axi_awvalid = top_->s_axi_wvalid = top_->s_axi_arvalid = 0;
  top_->aclk = 0;
  top_->aresetn = 1;
  top_->eval();
  top_->aresetn = 0;  // Verilator resets registers at this edge
  step();
  step();
  top_->aresetn = 1;
  while (reg_read(0x10) & 1) {
  }
}

Simulation::~Simulation() {
  trace_.reset();
  top_->final();
}

void Simulation::step() {
  offers_ = !in_.empty() && (offers_ || !pauses());
  top_->s_axis_tvalid = offers_;
  top_->s_axis_tdata = offers_ ? in_.front().data : 0;
  top_->s_axis_tlast = offers_ && in_.front().last;
  top_->m_axis_tready = !pauses();
  top_->aclk = 0;
  top_->eval();
  observe();
  if (trace_) trace_->dump();
  const bool taken = top_->s_axis_tvalid && top_->s_axis_tready;
  const bool given = top_->m_axis_tvalid && top_->m_axis_tready && top_->aresetn;
  if (given) {
    for (unsigned byte = 0; byte < 8; byte++)
      out_.push_back(static_cast<uint8_t>(top_->m_axis_tdata >> (8 * byte)));
    packets_out_ += top_->m_axis_tlast;
  }
  if (taken && top_->aresetn) {
    in_.front() = {};
    in_.pop_front();
    offers_ = false;
  }
  top_->aclk = 1;
  top_->eval();
  observe();
  if (trace_) trace_->dump();
}

void Simulation::observe() {
  if (!top_->m_axis_tvalid && (top_->m_axis_tdata != 0 || top_->m_axis_tlast)) {
    std::fprintf(stderr, "m_axis shows a word that is not valid\n");
    std::abort();
  }
  for (const uint64_t output : {uint64_t{top_->m_axis_tvalid}, uint64_t{top_->m_axis_tlast},
                                uint64_t{top_->s_axis_tready}, uint64_t{top_->s_axi_rdata}, uint64_t{top_->irq}})
    observed_ = (observed_ ^ output) * 0x100000001b3;  // FNV-1a
}

uint32_t Simulation::reg_read(uint32_t address) {
  top_->s_axi_araddr = static_cast<uint8_t>(address);
  top_->s_axi_arvalid = 1;
  top_->s_axi_rready = 1;
  for (bool taken = false; !taken; step())
    taken = top_->s_axi_arready;
  top_->s_axi_arvalid = 0;
  while (!top_->s_axi_rvalid)
    step();
  const uint32_t value = top_->s_axi_rdata;
  step();
  return value;
}

void Simulation::reg_write(uint32_t address, uint32_t value) {
  top_->s_axi_awaddr = static_cast<uint8_t>(address);
  top_->s_axi_wdata = value;
  top_->s_axi_awvalid = top_->s_axi_wvalid = 1;
  top_->s_axi_bready = 1;
  for (bool taken = false; !taken; step())
    taken = top_->s_axi_awready && top_->s_axi_wready;
  top_->s_axi_awvalid = top_->s_axi_wvalid = 0;
  while (!top_->s_axi_bvalid)
    step();
}

void Simulation::stream_in(const uint8_t* data, size_t bytes, bool last) {
  for (size_t i = 0; i < bytes; i += 8) {
    Word word{0, last && i + 8 == bytes};
    for (unsigned byte = 0; byte < 8; byte++)
      word.data |= uint64_t{data[i + byte]} << (8 * byte);
    in_.push_back(word);
  }
}

size_t Simulation::stream_out(uint8_t* data, size_t bytes) {
  size_t moved = 0;
  for (; moved < bytes && !out_.empty(); moved++) {
    data[moved] = out_.front();
    out_.front() = 0;
    out_.pop_front();
  }
  return moved;
}

bool Simulation::wait_irq(unsigned cycles) {
  for (unsigned i = 0; i < cycles && !top_->irq; i++)
    step();
  return top_->irq;
}

void Simulation::drop_streams() {
  std::fill(in_.begin(), in_.end(), Word{});
  std::fill(out_.begin(), out_.end(), uint8_t{0});
  in_.clear();
  out_.clear();
  offers_ = false;
}

void Simulation::save([[maybe_unused]] const std::string& file) {
#ifdef POLYKEM_HW_SAVE
  VerilatedSave saved;
  saved.open(file);
  saved << *top_;
  saved.close();
#endif
}

void Simulation::trace([[maybe_unused]] const std::string& file) {
#ifdef POLYKEM_HW_TRACE
  trace_ = std::make_unique<Trace>();
  context_->traceEverOn(true);
  top_->trace(&trace_->file, 99);
  trace_->file.open(file.c_str());
#endif
}

}  // namespace polykem_hw
