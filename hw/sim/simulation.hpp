// SPDX-License-Identifier: Apache-2.0
// The Verilated core and what is on the other side of its buses.
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

/// One clock, one host. A packet that stream_in() gives waits in a queue until the core takes it.
class Simulation {
 public:
  Simulation();
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  uint32_t reg_read(uint32_t address);
  void reg_write(uint32_t address, uint32_t value);
  /// bytes: a packet or, where `last` is false, the beginning of one, a multiple of eight.
  void stream_in(const uint8_t* data, size_t bytes, bool last = true);
  /// Moves up to `bytes` bytes of what came out to `data` and returns how many.
  size_t stream_out(uint8_t* data, size_t bytes);
  /// Lets the clock run until the interrupt is there, at most `cycles` cycles. Returns whether it came.
  bool wait_irq(unsigned cycles);
  void step();

  /// In how many of 256 cycles each stream stands still.
  void pause(unsigned of_256) { pause_ = of_256; }
  /// Forgets packets that wait, as a host does that resets its DMA.
  void drop_streams();
  /// Packets whose last word came out of the core.
  unsigned packets_out() const { return packets_out_; }
  /// Writes the state of all registers and memories to a file (for models built with --savable).
  void save(const std::string& file);
  /// Writes all signals of all cycles from now on to a VCD file (for models built with --trace-vcd). A cycle takes ten
  /// units of time, and its first half shows what it is about to do.
  void trace(const std::string& file);

 private:
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
  std::mt19937 random_{203};
};

}  // namespace polykem_hw
