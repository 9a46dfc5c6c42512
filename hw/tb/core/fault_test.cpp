// SPDX-License-Identifier: Apache-2.0
// A campaign of faults: flips one bit of one register in one cycle of a decapsulation of a forged ciphertext, and looks
// at what leaves the core.
//
//   fault_test FLOPS KIND grid EVERY LAST < lines     every bit, in one cycle of EVERY and in the last LAST before
//                                                    the last word of K has left
//   fault_test FLOPS KIND random COUNT < lines        random bits in random cycles
//
// FLOPS is the list of faults/flops.py, of which KIND chooses the registers. A line is
// NAME KYBER K IN K_REJECTED K_ACCEPTED; the last three are in hex (faults/faults.py). For each of them and each
// register, prints NAME REGISTER BITS FLIPS and how many of the flips ended in which way:
//
//   ALERT     the alert rose; nothing left the core afterwards
//   ERROR     the command ended with another error
//   HARMLESS  the right rejection left the core
//   WRONG     other words left the core, none of them secret
//   NOTHING   kPatience cycles after the last word without faults, the command had neither ended nor sent K
//   LEAKED    a word of m', r, s or z left
//   ACCEPTED  a word of K' left: the shared secret of an accepted ciphertext
#include <verilated.h>
#include <verilated_save.h>
#include <verilated_syms.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "Vpolykem_top.h"

namespace {

using Words = std::vector<uint64_t>;

constexpr size_t kScratchWords = 32, kScratchStride = 12, kSlotM = 0, kSlotK = 12, kSlotSigma = 24;
constexpr unsigned kPatience = 300, kLimit = 20000, kAfterAlert = 4, kAfterWords = 8;
constexpr unsigned kRecovered = 16;  // in one cycle of 16, the command after an alert is run, too
constexpr unsigned kChecks[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};  // cycles after a fault

/// Shows that there was an alert. Upset itself, it ends no command.
constexpr const char* kAlertRegister = "polykem_top.u_registers.alert_o";

/// Keeps the model's state in memory.
class Writer : public VerilatedSerialize {
 public:
  std::string take() {
    flush();
    return std::move(data_);
  }
  void flush() override {
    data_.append(reinterpret_cast<const char*>(m_bufp), static_cast<size_t>(m_cp - m_bufp));
    m_cp = m_bufp;
  }

 private:
  std::string data_;
};

class Reader : public VerilatedDeserialize {
 public:
  explicit Reader(const std::string& data) : data_(data) {
    m_endp = m_bufp;
    fill();
  }
  void fill() override {
    const auto kept = static_cast<size_t>(m_endp - m_cp);
    std::memmove(m_bufp, m_cp, kept);
    const size_t more = std::min(bufferSize() - kept, data_.size() - place_);
    std::memcpy(m_bufp + kept, data_.data() + place_, more);
    place_ += more;
    m_cp = m_bufp;
    m_endp = m_bufp + kept + more;
  }

 private:
  const std::string& data_;
  size_t place_ = 0;
};

struct Line {
  std::string name;
  unsigned kyber, k;
  Words in, rejected, accepted;
};

/// A register, and where the model keeps it.
struct Register {
  std::string name;
  unsigned bits;
  uint8_t* data;

  void flip(unsigned bit) const { data[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8); }
};

/// The core and what stands on its buses. The streams never pause.
class Bench {
 public:
  Bench() : top_(new Vpolykem_top(&context_)) {
    context_.assertOn(false);  // a fault may break them
    top_->aresetn = 0;
    tick();
    tick();
    top_->aresetn = 1;
    while (reads(0x10) & 1) {
    }
  }
  ~Bench() { top_->final(); }

  /// Runs one cycle.
  void tick() {
    top_->s_axis_tvalid = next_ < in_.size();
    top_->s_axis_tdata = next_ < in_.size() ? in_[next_] : 0;
    top_->s_axis_tlast = next_ + 1 == in_.size();
    top_->m_axis_tready = 1;
    top_->aclk = 0;
    top_->eval();
    alert_ |= top_->alert;
    const bool given = top_->m_axis_tvalid;
    if (given) out_.push_back(top_->m_axis_tdata);
    if (top_->s_axis_tvalid && top_->s_axis_tready) next_++;
    top_->aclk = 1;
    top_->eval();
  }
  void begin(const Line& line) {
    in_ = line.in;
    next_ = 0;
    out_.clear();
    writes(0x10, 6);
    writes(0x18, 1);
    writes(0x08, line.k | line.kyber << 3);
    alert_ = false;
    writes(0x0c, 3);
  }
  bool ended() const { return top_->irq; }
  bool alert() const { return alert_; }
  bool shows_word() const { return top_->m_axis_tvalid; }
  const Words& out() const { return out_; }
  uint32_t errors() { return reads(0x14); }
  /// After an alert: returns whether the command ends with ERR bit 5 and STATUS bits 1 and 2, which a write clears,
  /// with zeros in the scratch memory, and whether the next command is right.
  bool recovers(const Line& line, const uint8_t* scratch) {
    for (unsigned i = 0; i < kLimit && (!ended() || next_ < in_.size()); i++)
      tick();
    bool good = ended() && (errors() & 32) != 0 && reads(0x10) == 6 && top_->alert;
    good =
        good && std::all_of(scratch, scratch + kScratchWords * kScratchStride, [](uint8_t byte) { return byte == 0; });
    writes(0x10, 6);
    good = good && reads(0x10) == 0 && !top_->alert;
    begin(line);
    for (unsigned i = 0; i < kLimit && !ended(); i++)
      tick();
    return good && out_ == line.rejected && errors() == 0;
  }

  struct State {
    std::string model;
    size_t next;
    Words out;
  };
  State save() {
    Writer writer;
    writer << *top_;
    return {writer.take(), next_, out_};
  }
  void restore(const State& state) {
    Reader reader(state.model);
    reader >> *top_;
    next_ = state.next;
    out_ = state.out;
    alert_ = false;
  }
  /// Finds a register, or with an index a word of a memory: "polykem_top.u_core", "scratch[3]". Generate blocks are
  /// part of the name.
  Register find(const std::string& instance, const std::string& name, unsigned bits) {
    const size_t dot = name.rfind('.');
    const std::string scope = "TOP." + instance + (dot == std::string::npos ? "" : "." + name.substr(0, dot));
    std::string base = dot == std::string::npos ? name : name.substr(dot + 1);
    size_t index = 0;
    if (const size_t bracket = base.find('['); bracket != std::string::npos) {
      index = std::stoul(base.substr(bracket + 1));
      base.resize(bracket);
    }
    for (const auto& [at, found] : *context_.scopeNameMap()) {
      if (scope != at || found->varsp() == nullptr) continue;
      for (const auto& [var, properties] : *found->varsp())
        if (base == var) {
          const size_t bytes = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : (bits + 31) / 32 * 4;
          return {instance + "." + name, bits, static_cast<uint8_t*>(properties.datap()) + index * bytes};
        }
    }
    std::fprintf(stderr, "the model shows no register %s %s\n", scope.c_str(), base.c_str());
    std::exit(2);
  }

 private:
  uint32_t reads(uint32_t address) {
    top_->s_axi_araddr = static_cast<uint8_t>(address);
    top_->s_axi_arvalid = 1;
    top_->s_axi_rready = 1;
    for (bool taken = false; !taken; tick())
      taken = top_->s_axi_arready;
    top_->s_axi_arvalid = 0;
    while (!top_->s_axi_rvalid)
      tick();
    const uint32_t value = top_->s_axi_rdata;
    tick();
    return value;
  }
  void writes(uint32_t address, uint32_t value) {
    top_->s_axi_awaddr = static_cast<uint8_t>(address);
    top_->s_axi_wdata = value;
    top_->s_axi_awvalid = top_->s_axi_wvalid = 1;
    top_->s_axi_bready = 1;
    bool taken = false;
    while (!taken) {
      top_->aclk = 0;
      top_->eval();
      taken = top_->s_axi_awready && top_->s_axi_wready;
      tick();
    }
    top_->s_axi_awvalid = top_->s_axi_wvalid = 0;
  }

  VerilatedContext context_;
  std::unique_ptr<Vpolykem_top> top_;
  Words in_, out_;
  size_t next_ = 0;
  bool alert_ = false;
};

Words words_of(const std::string& hex) {
  Words words(hex.size() / 16);
  for (size_t i = 0; i < 8 * words.size(); i++)
    words[i / 8] |= uint64_t{std::stoul(hex.substr(2 * i, 2), nullptr, 16)} << (8 * (i % 8));
  return words;
}

enum Outcome { kAlert, kError, kHarmless, kWrong, kNothing, kLeaked, kAccepted, kOutcomes };

/// A decapsulation without faults, and the words that must not leave a core with one.
struct Golden {
  std::vector<Bench::State> states;  // [cycle]
  size_t given;                      // the cycle in which the last word of K has left
  std::set<uint64_t> secrets;        // s, z, and m', r, which the scratch memory holds
  const uint8_t* scratch;
};

Golden run_without_faults(Bench& bench, const Line& line, const uint8_t* scratch) {
  Golden golden{};
  golden.scratch = scratch;
  const auto slot = [&](size_t first) {
    Words words(4);
    for (size_t i = 0; i < 4; i++)
      std::memcpy(&words[i], scratch + kScratchStride * (first + i), 8);
    return words;
  };
  bool knows_accepted = false;
  bench.begin(line);
  while (!bench.ended()) {
    golden.states.push_back(bench.save());
    for (const size_t first : {kSlotM, kSlotSigma})
      for (const uint64_t word : slot(first))
        if (word != 0) golden.secrets.insert(word);
    if (line.kyber) {
      for (const uint64_t word : slot(kSlotK))
        if (word != 0) golden.secrets.insert(word);
    }
    knows_accepted |= line.kyber || slot(kSlotK) == line.accepted;
    bench.tick();
    if (golden.given == 0 && bench.out().size() == line.rejected.size()) golden.given = golden.states.size();
    if (golden.states.size() > kLimit) break;
  }
  if (bench.out() != line.rejected || bench.alert() || !knows_accepted) {
    std::fprintf(stderr, "%s: without a fault the core does not reject the ciphertext, or has another m'\n",
                 line.name.c_str());
    std::exit(2);
  }
  const size_t ciphertext = line.k == 2 ? 96 : line.k == 3 ? 136 : 196;
  golden.secrets.insert(line.in.begin() + static_cast<ptrdiff_t>(ciphertext),
                        line.in.begin() + static_cast<ptrdiff_t>(ciphertext + 48 * line.k));
  golden.secrets.insert(line.in.end() - 4, line.in.end());
  for (const uint64_t word : line.rejected)
    golden.secrets.erase(word);
  return golden;
}

bool holds_any(const Words& out, const std::set<uint64_t>& words) {
  return std::any_of(out.begin(), out.end(), [&](uint64_t word) { return words.count(word) != 0; });
}

Outcome outcome_of(Bench& bench, const Line& line, const Golden& golden, bool stands) {
  if (holds_any(bench.out(), {line.accepted.begin(), line.accepted.end()})) return kAccepted;
  if (holds_any(bench.out(), golden.secrets)) return kLeaked;
  if (bench.alert()) return kAlert;
  if (stands || bench.out() == line.rejected) return kHarmless;
  if (bench.out().size() >= line.rejected.size()) return kWrong;
  if (!bench.ended()) return kNothing;
  return (bench.errors() & 0x37) != 0 ? kError : kWrong;
}

/// Flips a bit in a cycle and runs the command until what will leave the core is known.
Outcome run_with_fault(Bench& bench, const Line& line, const Golden& golden, const Register& at, unsigned bit,
                       size_t cycle) {
  bench.restore(golden.states[cycle]);
  at.flip(bit);
  const unsigned* check = kChecks;
  unsigned after = 0;  // cycles after the last word
  for (size_t now = cycle + 1; now < golden.given + kPatience && !bench.ended() && after < kAfterWords; now++) {
    bench.tick();
    if (bench.out().size() >= line.rejected.size()) after++;
    if (bench.alert() && at.name != kAlertRegister) {
      for (unsigned i = 0; i < kAfterAlert; i++) {
        bench.tick();
        if (bench.shows_word()) return kLeaked;
      }
      break;
    }
    if (check != std::end(kChecks) && now == cycle + *check && now < golden.given) {
      check++;
      const Bench::State state = bench.save();
      if (state.model == golden.states[now].model && state.out == golden.states[now].out)
        return outcome_of(bench, line, golden, true);
    }
  }
  return outcome_of(bench, line, golden, false);
}

struct Options {
  size_t every = 1, last = 0, random = 0;

  bool takes(size_t cycle, size_t given) const { return cycle % every == 0 || cycle + last >= given; }
};

using Counts = std::vector<std::array<unsigned, kOutcomes>>;  // [register][outcome]

void count(Bench& bench, const Line& line, const Golden& golden, const std::vector<Register>& registers, size_t index,
           unsigned bit, size_t cycle, Counts& counts) {
  const Outcome outcome = run_with_fault(bench, line, golden, registers[index], bit, cycle);
  counts[index][outcome]++;
  if (outcome >= kLeaked)
    std::fprintf(stderr, "%s %s[%u] in cycle %zu: %s\n", line.name.c_str(), registers[index].name.c_str(), bit, cycle,
                 outcome == kAccepted ? "accepted" : "leaked");
  if (outcome == kAlert && registers[index].name != kAlertRegister && bit == 0 && cycle % kRecovered == 0 &&
      !bench.recovers(line, golden.scratch)) {
    std::fprintf(stderr, "%s %s[%u] in cycle %zu: the core does not recover from the alert\n", line.name.c_str(),
                 registers[index].name.c_str(), bit, cycle);
    std::exit(1);
  }
}

void campaign(Bench& bench, const Line& line, const std::vector<Register>& registers, const Options& options,
              const uint8_t* scratch) {
  const Golden golden = run_without_faults(bench, line, scratch);
  Counts counts(registers.size());
  for (size_t cycle = 1; cycle < golden.given && options.random == 0; cycle++) {
    if (!options.takes(cycle, golden.given)) continue;
    for (size_t i = 0; i < registers.size(); i++)
      for (unsigned bit = 0; bit < registers[i].bits; bit++)
        count(bench, line, golden, registers, i, bit, cycle, counts);
  }
  std::mt19937 random(203);
  for (size_t n = 0; n < options.random; n++) {
    const size_t i = random() % registers.size();
    count(bench, line, golden, registers, i, random() % registers[i].bits, 1 + random() % (golden.given - 1), counts);
  }
  for (size_t i = 0; i < registers.size(); i++) {
    std::printf("%s %s %u %u", line.name.c_str(), registers[i].name.c_str(), registers[i].bits,
                std::accumulate(counts[i].begin(), counts[i].end(), 0u));
    for (const unsigned number : counts[i])
      std::printf(" %u", number);
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 3 ? argv[3] : "";
  if (argc != (mode == "grid" ? 6 : 5) || (mode != "grid" && mode != "random")) return 2;
  Options options;
  if (mode == "grid") {
    options.every = std::stoul(argv[4]);
    options.last = std::stoul(argv[5]);
  } else {
    options.random = std::stoul(argv[4]);
  }
  Bench bench;
  std::vector<Register> registers;
  std::ifstream flops(argv[1]);
  std::string kind, instance, name;
  unsigned bits;
  while (flops >> kind >> instance >> name >> bits)
    if (kind == argv[2]) registers.push_back(bench.find(instance, name, bits));
  if (registers.empty()) return 2;
  const uint8_t* scratch = bench.find("polykem_top.u_core", "scratch[0]", 65).data;
  Line line;
  std::string in, rejected, accepted;
  while (std::cin >> line.name >> line.kyber >> line.k >> in >> rejected >> accepted) {
    line.in = words_of(in);
    line.rejected = words_of(rejected);
    line.accepted = words_of(accepted);
    campaign(bench, line, registers, options, scratch);
  }
}
