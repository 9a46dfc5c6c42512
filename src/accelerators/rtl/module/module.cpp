// SPDX-License-Identifier: Apache-2.0
// libpolykem_rtl.so: the core of hw/rtl, translated by Verilator, behind the table of driver/model.hpp. The clock runs
// while a function of the table needs it; words of the streams go from and to the caller's memory, one in a cycle.
#include <Vpolykem_top.h>
#include <verilated.h>

#include <cstring>
#include <memory>
#include <new>

#include "accelerators/rtl/driver/model.hpp"
#include "accelerators/rtl/driver/registers.hpp"

namespace {

using namespace polykem::rtl;

constexpr int kResetClocks = 4;
/// A register answers within a few clocks; one that does not reads as zero.
constexpr int kMaxBusClocks = 1000;

/// Two runs of bytes, one after the other.
template <class Byte>
struct Stream {
  Byte* first = nullptr;
  size_t first_bytes = 0;
  Byte* second = nullptr;
  size_t bytes = 0;     ///< of both
  size_t position = 0;  ///< bytes that have passed

  bool ended() const { return position >= bytes; }
  Byte* next() const { return position < first_bytes ? first + position : second + (position - first_bytes); }
};

class Model {
 public:
  Model() : top_(std::make_unique<Vpolykem_top>(&context_)) {
    top_->aresetn = 0;
    for (int i = 0; i < kResetClocks; ++i)
      clock();
    top_->aresetn = 1;
    clock();
  }
  ~Model() { top_->final(); }

  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);
  bool wait_irq(uint64_t clocks);
  size_t end_streams();
  void open_output(const Stream<uint8_t>& room) {
    out_ = room;
    out_open_ = room.bytes > 0;
  }
  void send(const Stream<const uint8_t>& input) { in_ = input; }

 private:
  void clock();
  void offer_input();
  void take_output();

  Stream<const uint8_t> in_;
  Stream<uint8_t> out_;
  bool out_open_ = false;  ///< until TLAST
  VerilatedContext context_;
  const std::unique_ptr<Vpolykem_top> top_;
};

void Model::offer_input() {
  uint64_t word = 0;
  if (!in_.ended()) std::memcpy(&word, in_.next(), kWordBytes);
  top_->s_axis_tvalid = !in_.ended();
  top_->s_axis_tdata = word;
  top_->s_axis_tlast = !in_.ended() && in_.position + kWordBytes == in_.bytes;
}

/// Takes a word of output. A word for which there is no room is only counted.
void Model::take_output() {
  const uint64_t word = top_->m_axis_tdata;
  if (!out_.ended()) std::memcpy(out_.next(), &word, kWordBytes);
  out_.position += kWordBytes;
  out_open_ = !top_->m_axis_tlast;
}

/// Both streams pass a word in a cycle in which both sides want to, as they are just before the edge.
void Model::clock() {
  offer_input();
  top_->m_axis_tready = out_open_;
  top_->aclk = 0;
  top_->eval();
  if (out_open_ && top_->m_axis_tvalid) take_output();
  const bool taken = top_->s_axis_tvalid && top_->s_axis_tready && top_->aresetn;
  top_->aclk = 1;
  top_->eval();
  if (taken) in_.position += kWordBytes;
}

uint32_t Model::read(uint32_t offset) {
  top_->s_axi_araddr = static_cast<uint8_t>(offset);
  top_->s_axi_arvalid = 1;
  top_->s_axi_rready = 0;
  for (bool accepted = false; !accepted; clock()) {
    top_->eval();
    accepted = top_->s_axi_arready;
  }
  top_->s_axi_arvalid = 0;
  for (int i = 0; i < kMaxBusClocks && !top_->s_axi_rvalid; ++i)
    clock();
  const uint32_t value = top_->s_axi_rvalid ? top_->s_axi_rdata : 0;
  top_->s_axi_rready = 1;
  clock();
  top_->s_axi_rready = 0;
  return value;
}

void Model::write(uint32_t offset, uint32_t value) {
  top_->s_axi_awaddr = static_cast<uint8_t>(offset);
  top_->s_axi_wdata = value;
  top_->s_axi_awvalid = top_->s_axi_wvalid = 1;
  top_->s_axi_bready = 1;
  for (int i = 0; i < kMaxBusClocks && (top_->s_axi_awvalid || top_->s_axi_wvalid); ++i) {
    top_->eval();
    const bool address = top_->s_axi_awready, data = top_->s_axi_wready;
    clock();
    if (address) top_->s_axi_awvalid = 0;
    if (data) top_->s_axi_wvalid = 0;
  }
  for (int i = 0; i < kMaxBusClocks && !top_->s_axi_bvalid; ++i)
    clock();
  clock();
  top_->s_axi_bready = 0;
}

bool Model::wait_irq(uint64_t clocks) {
  for (uint64_t i = 0; i < clocks && !top_->irq; ++i)
    clock();
  return top_->irq;
}

size_t Model::end_streams() {
  const size_t received = out_.position;
  in_ = {};
  out_ = {};
  out_open_ = false;
  clock();
  return received;
}

Model& of(void* core) {
  return *static_cast<Model*>(core);
}

void* open_core() {
  try {
    return new Model;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

constexpr ModelTable kTable = {
    .abi = kModelAbi,
    .table_bytes = sizeof(ModelTable),
    .name = "the simulated core",
    .open = open_core,
    .close = [](void* core) { delete &of(core); },
    .reg_read = [](void* core, uint32_t offset) { return of(core).read(offset); },
    .reg_write = [](void* core, uint32_t offset, uint32_t value) { of(core).write(offset, value); },
    .stream_out =
        [](void* core, uint8_t* first, size_t first_bytes, uint8_t* second, size_t second_bytes) {
          of(core).open_output({first, first_bytes, second, first_bytes + second_bytes, 0});
        },
    .stream_in =
        [](void* core, const uint8_t* first, size_t first_bytes, const uint8_t* second, size_t second_bytes) {
          of(core).send({first, first_bytes, second, first_bytes + second_bytes, 0});
        },
    .wait_irq = [](void* core, uint64_t clocks) { return of(core).wait_irq(clocks); },
    .end_streams = [](void* core, bool) { return of(core).end_streams(); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const ModelTable* polykem_rtl_model() {
  return &kTable;
}
