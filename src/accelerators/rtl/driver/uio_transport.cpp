// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/driver/uio_transport.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "accelerators/rtl/driver/dma.hpp"
#include "accelerators/rtl/driver/registers.hpp"

namespace polykem::rtl {

namespace {

using Clock = std::chrono::steady_clock;

/// A core that runs ends every command within milliseconds; the rest is for a busy machine.
constexpr auto kPatience = std::chrono::seconds(1);

/// Orders accesses to memory and to registers: those before it are complete before those after it.
void order_memory() {
#ifdef __aarch64__
  asm volatile("dsb sy" : : : "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

class UioTransport final : public Transport {
 public:
  explicit UioTransport(std::unique_ptr<UioDevice> device)
      : device_(std::move(device)), dma_(device_->dma.registers()), half_(device_->buffer.bytes() / 2) {
    (void)dma_.reset();
  }

  uint32_t reg_read(uint32_t offset) override { return device_->core.registers()[offset / sizeof(uint32_t)]; }
  void reg_write(uint32_t offset, uint32_t value) override {
    device_->core.registers()[offset / sizeof(uint32_t)] = value;
    order_memory();
  }
  void stream_out(Bytes first, Bytes second) override;
  void stream_in(ConstBytes first, ConstBytes second) override;
  bool wait_irq(uint64_t clocks) override;
  size_t end_streams(bool completed) override;

 private:
  /// The halves of the buffer: what the core reads, what it writes.
  volatile uint64_t* input() const { return device_->buffer.words(); }
  volatile uint64_t* output() const { return device_->buffer.words() + half_ / kWordBytes; }
  static volatile uint64_t* copy_in(volatile uint64_t* to, ConstBytes from);
  static const volatile uint64_t* copy_out(Bytes to, const volatile uint64_t* from);
  static void zeroize(volatile uint64_t* words, size_t bytes);
  bool wait_for_packet() const;

  const std::unique_ptr<UioDevice> device_;
  AxiDma dma_;
  const size_t half_;
  Bytes out_[2];
  size_t in_bytes_ = 0, out_bytes_ = 0;
};

/// By whole words: memory that is not cached may allow no others.
volatile uint64_t* UioTransport::copy_in(volatile uint64_t* to, ConstBytes from) {
  for (size_t i = 0; i < from.size(); i += kWordBytes) {
    uint64_t word;
    std::memcpy(&word, from.data() + i, kWordBytes);
    *to++ = word;
  }
  return to;
}

const volatile uint64_t* UioTransport::copy_out(Bytes to, const volatile uint64_t* from) {
  for (size_t i = 0; i < to.size(); i += kWordBytes) {
    const uint64_t word = *from++;
    std::memcpy(to.data() + i, &word, kWordBytes);
  }
  return from;
}

void UioTransport::zeroize(volatile uint64_t* words, size_t bytes) {
  for (size_t i = 0; i < bytes / kWordBytes; ++i)
    words[i] = 0;
}

void UioTransport::stream_out(Bytes first, Bytes second) {
  out_[0] = first;
  out_[1] = second;
  out_bytes_ = first.size() + second.size();
  order_memory();
  dma_.start_s2mm(device_->buffer_address + half_, out_bytes_);
}

void UioTransport::stream_in(ConstBytes first, ConstBytes second) {
  in_bytes_ = first.size() + second.size();
  copy_in(copy_in(input(), first), second);
  order_memory();
  dma_.start_mm2s(device_->buffer_address, in_bytes_);
}

/// The core holds its interrupt as long as STATUS.done is set, so one that lies here from a command that was late is
/// dropped, and none is lost.
bool UioTransport::wait_irq(uint64_t) {
  const int descriptor = device_->interrupts.descriptor();
  const auto next = [descriptor](std::chrono::milliseconds patience) {
    uint32_t count = 0;
    pollfd file{descriptor, POLLIN, 0};
    return poll(&file, 1, static_cast<int>(patience.count())) > 0 && read(descriptor, &count, sizeof count) > 0;
  };
  (void)next({});
  const uint32_t allow = 1;
  return write(descriptor, &allow, sizeof allow) == sizeof allow && next(kPatience);
}

/// The core has sent its last word, which may still be on its way to memory.
bool UioTransport::wait_for_packet() const {
  const auto deadline = Clock::now() + kPatience;
  while (!dma_.received()) {
    if (dma_.failed() || Clock::now() > deadline) return false;
  }
  return true;
}

size_t UioTransport::end_streams(bool completed) {
  size_t received = 0;
  if (completed && out_bytes_ > 0) {
    const bool arrived = wait_for_packet();
    order_memory();
    received = dma_.failed() ? out_bytes_ + kWordBytes : arrived ? dma_.received_bytes() : 0;
    if (received == out_bytes_) copy_out(out_[1], copy_out(out_[0], output()));
  }
  if (received != out_bytes_) (void)dma_.reset();
  zeroize(input(), in_bytes_);
  zeroize(output(), out_bytes_);
  in_bytes_ = out_bytes_ = 0;
  out_[0] = out_[1] = {};
  return received;
}

}  // namespace

std::unique_ptr<Transport> make_uio_transport(std::unique_ptr<UioDevice> device) {
  return std::make_unique<UioTransport>(std::move(device));
}

}  // namespace polykem::rtl
