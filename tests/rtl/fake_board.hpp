// SPDX-License-Identifier: Apache-2.0
// A board without hardware: files in memory for the registers and the buffer, and a thread that plays the fake core,
// its DMA and the kernel's interrupt file.
//
// Registers are plain memory here. The board sets the highest bit of registers that both sides write, to distinguish
// its own values from the driver's.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "accelerators/rtl/driver/uio_device.hpp"
#include "fake_core.hpp"

namespace polykem::rtl::test {

class FakeBoard {
 public:
  static constexpr uint64_t kAddress = 0x1'7000'0000;  ///< above 32 bits
  static constexpr uint32_t kOurs = 1u << 31;

  FakeCore core;
  std::atomic<bool> loses_interrupts{false}, dma_fails{false}, dma_dead{false};

  FakeBoard() {
    int pair[2] = {};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) std::abort();
    interrupts_ = File(pair[0]);
    driver_side_ = File(pair[1]);
    fcntl(pair[1], F_SETFL, 0);  // the driver's file blocks
    for (auto* file : {&core_file_, &dma_file_, &buffer_file_}) {
      *file = File(memfd_create("board", MFD_CLOEXEC));
      if (ftruncate(file->descriptor(), UioDevice::kMinBuffer) != 0) std::abort();
    }
    if (!core_.map(core_file_, UioDevice::kRegisterBytes) || !dma_.map(dma_file_, UioDevice::kRegisterBytes) ||
        !buffer_.map(buffer_file_, UioDevice::kMinBuffer))
      std::abort();
    publish();
    thread_ = std::thread([this] {
      while (!stop_) {
        step();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
  }
  ~FakeBoard() {
    stop_ = true;
    thread_.join();
  }

  std::unique_ptr<UioDevice> device() {
    auto device = std::make_unique<UioDevice>();
    device->interrupts = File(dup(driver_side_.descriptor()));
    device->buffer_address = kAddress;
    if (!device->core.map(core_file_, UioDevice::kRegisterBytes) ||
        !device->dma.map(dma_file_, UioDevice::kRegisterBytes) ||
        !device->buffer.map(buffer_file_, UioDevice::kMinBuffer))
      return nullptr;
    return device;
  }

  bool buffer_is_wiped() const {
    for (size_t i = 0; i < UioDevice::kMinBuffer / 8; ++i)
      if (buffer_.words()[i] != 0) return false;
    return true;
  }

  /// Sends an interrupt without a cause.
  void stray_interrupt() { send_interrupt(); }

 private:
  static constexpr uint32_t kMm2s = 0x00, kS2mm = 0x30, kIoc = 1u << 12;

  static std::atomic_ref<uint32_t> at(const Mapping& mapping, uint32_t offset) {
    return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(mapping.registers()[offset / 4]));
  }
  std::atomic_ref<uint32_t> core_at(uint32_t offset) const { return at(core_, offset); }
  std::atomic_ref<uint32_t> dma_at(uint32_t offset) const { return at(dma_, offset); }
  uint8_t* memory(uint32_t channel) const {
    const uint64_t address = dma_at(channel + 0x18).load() | uint64_t{dma_at(channel + 0x1c).load()} << 32;
    return reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(buffer_.words())) + (address - kAddress);
  }

  /// Commands are taken first, since their inputs were written before.
  void step() {
    const uint32_t command = core_at(reg::kCommand).exchange(0), zeroize = core_at(reg::kZeroize).exchange(0);
    for (const uint32_t offset : {reg::kParams, reg::kIrqEnable})
      core.write(offset, core_at(offset).load());
    status_seen_ = core_at(reg::kStatus).load();
    if ((status_seen_ & kOurs) == 0) core.write(reg::kStatus, status_seen_);
    if (!dma_dead) step_dma();
    if (zeroize != 0) core.write(reg::kZeroize, zeroize);
    if (command != 0) {
      core.write(reg::kCommand, command);
      sends_ = true;
    }
    publish();
    deliver();
    answer_interrupt();
  }

  void step_dma() {
    if ((dma_at(kMm2s).load() & 4) != 0) {
      room_ = 0;
      sends_ = false;
      dma_at(kMm2s).store(0);
      dma_at(kMm2s + 0x04).store(kOurs);
      dma_at(kS2mm + 0x04).store(kOurs);
    }
    const uint32_t room = dma_at(kS2mm + 0x28).load();
    if (room != 0 && (room & kOurs) == 0 && room_ == 0) {
      dma_at(kS2mm + 0x28).store(kOurs);
      dma_at(kS2mm + 0x04).store(kOurs);
      room_ = room;
    }
    const uint32_t bytes = dma_at(kMm2s + 0x28).load();
    if (bytes != 0 && (bytes & kOurs) == 0) {
      dma_at(kMm2s + 0x28).store(kOurs);
      const uint8_t* from = memory(kMm2s);
      core.input(Buffer(from, from + bytes));
      dma_at(kMm2s + 0x04).store(kOurs | kIoc);
    }
  }

  /// The output goes to memory after the core has said that it is done.
  void deliver() {
    if (room_ == 0 || !sends_ || core.output().empty()) return;
    const Buffer& sent = core.output();
    const bool fits = sent.size() <= room_ && !dma_fails;
    if (fits) std::copy(sent.begin(), sent.end(), memory(kS2mm));
    dma_at(kS2mm + 0x28).store(kOurs | static_cast<uint32_t>(sent.size()));
    dma_at(kS2mm + 0x04).store(kOurs | (fits ? kIoc : 0x10));
    room_ = 0;
    sends_ = false;  // the buffer for the next command's output must not get this one's
  }

  void publish() {
    for (const uint32_t offset : {reg::kId, reg::kVersion, reg::kCycles, reg::kError, reg::kOccupied})
      core_at(offset).store(core.read(offset));
    for (uint32_t i = 0; i < kPhases; ++i)
      core_at(reg::kPhase + 4 * i).store(core.read(reg::kPhase + 4 * i));
    // Values that the driver writes meanwhile are kept for the next step.
    core_at(reg::kStatus).compare_exchange_strong(status_seen_, core.read(reg::kStatus) | kOurs);
  }

  void send_interrupt() {
    const uint32_t count = ++count_;
    (void)!::write(interrupts_.descriptor(), &count, sizeof count);
  }

  /// The core's line falls when the driver clears STATUS.done, which it does before it allows the next interrupt; so
  /// none is sent for what the last command left there while that write waits for the next step.
  void answer_interrupt() {
    uint32_t word = 0;
    if (::read(interrupts_.descriptor(), &word, sizeof word) == sizeof word) allowed_ = true;
    const bool clear_waits = (core_at(reg::kStatus).load() & kOurs) == 0;
    if (clear_waits || !allowed_ || !core.interrupt() || loses_interrupts) return;
    allowed_ = false;
    send_interrupt();
  }

  File core_file_, dma_file_, buffer_file_, interrupts_, driver_side_;
  Mapping core_, dma_, buffer_;
  size_t room_ = 0;
  uint32_t count_ = 0, status_seen_ = 0;
  bool allowed_ = false;
  bool sends_ = false;  ///< a command has begun whose output is not delivered
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace polykem::rtl::test
