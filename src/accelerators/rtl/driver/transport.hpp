// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace polykem::rtl {

using Bytes = std::span<uint8_t>;
using ConstBytes = std::span<const uint8_t>;

/// The driver's access to a core: its registers, its two streams and its interrupt. For one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual uint32_t reg_read(uint32_t offset) = 0;
  virtual void reg_write(uint32_t offset, uint32_t value) = 0;

  /// Sets the memory for the output of the next command: `first`, then `second`, which may be empty. Lengths are
  /// multiples of eight bytes. Both must stay valid until end_streams().
  virtual void stream_out(Bytes first, Bytes second) = 0;
  /// Sets the whole input of the next command: `first`, then `second`, which may be empty, with TLAST on the last word.
  /// Lengths are multiples of eight bytes. Both must stay valid until end_streams(). Call it after stream_out().
  virtual void stream_in(ConstBytes first, ConstBytes second) = 0;
  /// Waits for the core's interrupt, at most about as long as `clocks` cycles of its clock take. False if it did not
  /// come.
  virtual bool wait_irq(uint64_t clocks) = 0;
  /// Ends both streams and forgets what is still under way. Returns the bytes of output that arrived; more than there
  /// was room for means that the core sent too much. completed: the command has ended, so the output only has to
  /// arrive.
  virtual size_t end_streams(bool completed) = 0;
};

}  // namespace polykem::rtl
