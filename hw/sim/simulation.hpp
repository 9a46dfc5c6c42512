// SPDX-License-Identifier: Apache-2.0
// The Verilated core, and a host on the other side of its buses.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

class VerilatedContext;
class Vpolykem_top;

namespace polykem_hw {

/// A core with one clock and one host. A packet that stream_in() gives waits in a queue until the core takes it.
class Simulation {
 public:
  /// Resets the core. Registers and memories begin with random values that `seed` determines, or with zeros if it is 0.
  explicit Simulation(int seed = 0);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  uint32_t reg_read(uint32_t address);
  void reg_write(uint32_t address, uint32_t value);
  /// Queues `bytes` bytes, a multiple of eight, for the core. `last` says that the packet ends with them.
  void stream_in(const uint8_t* data, size_t bytes, bool last = true);
  /// Moves up to `bytes` bytes that came out of the core to `data` and returns how many it moved.
  size_t stream_out(uint8_t* data, size_t bytes);
  /// Lets the clock run until the core raises its interrupt, for at most `cycles` cycles. Returns whether it did.
  bool wait_irq(unsigned cycles);
  /// Runs one cycle of the clock.
  void step();

  /// Sets in how many of 256 cycles, on average, each stream stands still.
  void pause(unsigned of_256) { pause_ = of_256; }
  /// Drops the words that wait in both directions, as a host does that resets its DMA.
  void drop_streams();
  /// Returns the number of packets whose last word came out of the core.
  unsigned packets_out() const { return packets_out_; }
  /// Returns a hash of what the core has shown in every half cycle, but for the words of its stream. These have to be
  /// zero unless they are valid: otherwise step() ends the process.
  uint64_t observed() const { return observed_; }
  /// Writes the state of all registers and memories to a file (for models built with --savable).
  void save(const std::string& file);
  /// Writes all signals of all cycles from now on to a VCD file (for models built with --trace-vcd). A cycle takes ten
  /// units of time, and its first half shows what it is about to do.
  void trace(const std::string& file);

 private:
  void observe();
  bool pauses() { return (random_() & 255) < pause_; }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vpolykem_top> top_;
  struct Trace;
  std::unique_ptr<Trace> trace_;
  struct Word {
    uint64_t data;
    bool last;
  };
  std::deque<Word> in_;
  std::deque<uint8_t> out_;
  bool offers_ = false;  // a word was offered and not yet taken: it must stay
  unsigned pause_ = 0, packets_out_ = 0;
  uint64_t observed_ = 0;
  std::mt19937 random_{203};
};

}  // namespace polykem_hw
