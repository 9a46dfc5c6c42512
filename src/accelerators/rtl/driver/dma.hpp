// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::rtl {

/// An AXI DMA of Xilinx in direct register mode, both channels: MM2S reads memory into a stream, S2MM writes a stream
/// to memory. [PG021, Direct Register Mode]
class AxiDma {
 public:
  explicit AxiDma(volatile uint32_t* registers) : registers_(registers) {}

  /// Ends what is under way on both channels; false if the DMA does not answer.
  bool reset();
  /// Starts to send `bytes` bytes from the physical address, with TLAST on the last word.
  void start_mm2s(uint64_t address, size_t bytes);
  /// Starts to receive up to TLAST, `bytes` bytes at most.
  void start_s2mm(uint64_t address, size_t bytes);
  /// True once start_s2mm()'s packet lies in memory.
  bool received() const;
  /// True if a channel met an error: of the bus, or a packet that is longer than there was room for.
  bool failed() const;
  /// The bytes of the packet that was received.
  size_t received_bytes() const;

 private:
  uint32_t read(uint32_t offset) const { return registers_[offset / sizeof(uint32_t)]; }
  void write(uint32_t offset, uint32_t value) { registers_[offset / sizeof(uint32_t)] = value; }
  void start(uint32_t channel, uint64_t address, size_t bytes);

  volatile uint32_t* const registers_;
};

}  // namespace polykem::rtl
