// SPDX-License-Identifier: Apache-2.0
// Schoolbook multiplication, and the same with a planted error, which shows that errors are found.
#include "../schoolbook.hpp"
#include "cpu_job.hpp"

namespace polykem::lab {

namespace {

template <bool kError>
class SchoolbookJob : public CpuJob {
 public:
  explicit SchoolbookJob(const Operands& operands)
      : operands_(operands), c_(operands.items * operands.problem.c_words()) {}
  void run() override {
    const size_t words = operands_.problem.c_words();
    for (size_t i = 0; i < operands_.items; ++i)
      schoolbook(operands_.problem, operands_.a_of(i), operands_.b_of(i), c_.get() + i * words);
    uint16_t& last = c_.get()[operands_.items * words - 1];
    if (kError) last = static_cast<uint16_t>((last + 1) % operands_.problem.q);
  }
  void read(uint16_t* c) override { std::copy_n(c_.get(), operands_.items * operands_.problem.c_words(), c); }

 private:
  const Operands operands_;
  const Lines<uint16_t> c_;
};

template <bool kError>
std::unique_ptr<Job> start(const Operands& operands) {
  return std::make_unique<SchoolbookJob<kError>>(operands);
}
bool supports(const Problem&, Sharing) {
  return true;
}
Work work(const Problem&, Sharing) {
  return {};
}

const Registration kPortable({
    {"schoolbook", "portable", "by definition, as the compiler makes it", supports, work, start<false>},
    {"planted_error", "portable", "the same, the last coefficient wrong", supports, work, start<true>, false, true},
});

}  // namespace

}  // namespace polykem::lab
