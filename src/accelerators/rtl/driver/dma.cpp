// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/driver/dma.hpp"

namespace polykem::rtl {

namespace {

/// The registers of MM2S; those of S2MM follow at the same distances.
constexpr uint32_t kMm2s = 0x00, kS2mm = 0x30;
constexpr uint32_t kControl = 0x00, kStatus = 0x04, kAddress = 0x18, kAddressHigh = 0x1c, kLength = 0x28;

constexpr uint32_t kRun = 1u << 0, kReset = 1u << 2;       // of kControl
constexpr uint32_t kErrors = 0x70, kCompleted = 1u << 12;  // of kStatus: internal, slave, decode
constexpr uint32_t kLengthBits = (1u << 26) - 1;           // the widest that the DMA can be built with
constexpr int kMaxReads = 100'000;

}  // namespace

/// A reset of either channel resets both.
bool AxiDma::reset() {
  write(kMm2s + kControl, kReset);
  for (int i = 0; i < kMaxReads; ++i) {
    if ((read(kMm2s + kControl) & kReset) == 0) return true;
  }
  return false;
}

/// The length starts the transfer, so it is written last.
void AxiDma::start(uint32_t channel, uint64_t address, size_t bytes) {
  write(channel + kControl, kRun);
  write(channel + kStatus, kCompleted);
  write(channel + kAddress, static_cast<uint32_t>(address));
  write(channel + kAddressHigh, static_cast<uint32_t>(address >> 32));
  write(channel + kLength, static_cast<uint32_t>(bytes));
}

void AxiDma::start_mm2s(uint64_t address, size_t bytes) {
  start(kMm2s, address, bytes);
}

void AxiDma::start_s2mm(uint64_t address, size_t bytes) {
  start(kS2mm, address, bytes);
}

bool AxiDma::received() const {
  return (read(kS2mm + kStatus) & kCompleted) != 0;
}

bool AxiDma::failed() const {
  return ((read(kMm2s + kStatus) | read(kS2mm + kStatus)) & kErrors) != 0;
}

size_t AxiDma::received_bytes() const {
  return read(kS2mm + kLength) & kLengthBits;
}

}  // namespace polykem::rtl
