// SPDX-License-Identifier: Apache-2.0
// Times of the kernels of src/ckks/cuda, each beside the least that the card's memory and multipliers allow.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "operation_checks.hpp"

namespace polykem::ckks::testing {

/// What an H200 does a second; the program measures the first three again.
struct CardRates {
  double bytes = 4.2e12;             ///< copied: read and written
  double multiplications = 16.5e12;  ///< IMAD
  double mma = 641e12;               ///< products of bytes
};

struct Timing {
  std::string what;
  int log_n;
  size_t word_bytes, operations;       ///< a pass computes so many
  double seconds;                      ///< of a pass, median
  double bytes, multiplications, mma;  ///< an operation's
  double floor(const CardRates& rates) const {
    return std::max({bytes / rates.bytes, multiplications / rates.multiplications, mma / rates.mma});
  }
};

/// The median of 21 passes, each `repetitions` calls, of call(i), where i counts the calls.
template <class Call>
double median_seconds(int repetitions, const Call& call) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  for (int i = 0; i < 3; ++i)
    call(i);
  std::vector<float> times(21);
  for (float& time : times) {
    check(cudaEventRecord(begin), "event");
    for (int i = 0; i < repetitions; ++i)
      call(i);
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "running kernels");
    check(cudaEventElapsedTime(&time, begin, end), "event");
  }
  check(cudaGetLastError(), "kernels");
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / 1e3 / repetitions;
}

/// Prints a table and collects the rows of a JSON document.
class Report {
 public:
  explicit Report(const CardRates& rates) : rates_(rates) {
    std::printf("%-28s %6s %5s %6s %12s %14s %14s %7s\n", "what", "N", "bits", "batch", "us a pass", "a second",
                "floor, a s", "share");
  }
  void add(const Timing& t) {
    const double rate = static_cast<double>(t.operations) / t.seconds, most = 1 / t.floor(rates_);
    std::printf("%-28s   2^%d %5zu %6zu %12.1f %14.0f %14.0f %6.0f%%\n", t.what.c_str(), t.log_n, 8 * t.word_bytes,
                t.operations, t.seconds * 1e6, rate, most, 100 * rate / most);
    char row[400];
    std::snprintf(row, sizeof row,
                  "  {\"what\": \"%s\", \"log_n\": %d, \"bits\": %zu, \"operations\": %zu, \"seconds\": %.9f, "
                  "\"per_second\": %.1f, \"floor_per_second\": %.1f, \"bytes\": %.0f}",
                  t.what.c_str(), t.log_n, 8 * t.word_bytes, t.operations, t.seconds, rate, most, t.bytes);
    rows_ += (rows_.empty() ? "" : ",\n") + std::string(row);
  }
  void write(const char* path) const {
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) return;
    std::fprintf(file, "{\"copy_bytes_per_second\": %.4g, \"imad_per_second\": %.4g, \"timings\": [\n%s\n]}\n",
                 rates_.bytes, rates_.multiplications, rows_.c_str());
    std::fclose(file);
  }

 private:
  CardRates rates_;
  std::string rows_;
};

/// Which instruction instruction_kernel repeats.
enum class Instruction { imad, imad_hi, imad_wide, viaddmin };

inline constexpr int kChains = 8, kChainLength = 1024;

template <Instruction kInstruction>
__global__ void __launch_bounds__(256) instruction_kernel(uint32_t* out, uint32_t a, uint32_t b) {
  uint32_t x[kChains];
  for (int i = 0; i < kChains; ++i)
    x[i] = threadIdx.x + i;
#pragma unroll 16
  for (int k = 0; k < kChainLength; ++k) {
#pragma unroll
    for (uint32_t& y : x) {
      if constexpr (kInstruction == Instruction::imad) y = y * a + b;
      if constexpr (kInstruction == Instruction::imad_hi) y = __umulhi(y, a) + b;
      if constexpr (kInstruction == Instruction::imad_wide) {
        const uint64_t wide = uint64_t{y} * a + b;
        y = static_cast<uint32_t>(wide) ^ static_cast<uint32_t>(wide >> 32);
      }
      if constexpr (kInstruction == Instruction::viaddmin) y = __viaddmin_u32(y, a, y ^ b);
    }
  }
  uint32_t sum = 0;
  for (uint32_t y : x)
    sum += y;
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <Instruction kInstruction>
double instruction_rate(uint32_t* out) {
  constexpr int kBlocks = 132 * 8;
  const double seconds = median_seconds(
      4, [&](int i) { instruction_kernel<kInstruction><<<kBlocks, 256>>>(out, 0x9e3779b1u + i, 12345); });
  return double{kBlocks} * 256 * kChains * kChainLength / seconds;
}

/// Measures copies and instructions, the latter for whoever counts them in the kernels.
inline CardRates measure_rates() {
  CardRates rates;
  constexpr size_t kBytes = size_t{1} << 30;
  DeviceArray<uint8_t> from(kBytes), to(kBytes);
  rates.bytes = 2.0 * kBytes / median_seconds(4, [&](int) {
                  check(cudaMemcpyAsync(to.get(), from.get(), kBytes, cudaMemcpyDeviceToDevice), "copy");
                });
  auto* words = reinterpret_cast<uint32_t*>(to.get());
  rates.multiplications = instruction_rate<Instruction::imad>(words);
  std::printf(
      "copies %.2f TB/s, a second: IMAD %.2f T, IMAD.HI %.2f T, IMAD.WIDE and LOP3 %.2f T, VIADDMNMX and LOP3 %.2f T\n",
      rates.bytes / 1e12, rates.multiplications / 1e12, instruction_rate<Instruction::imad_hi>(words) / 1e12,
      instruction_rate<Instruction::imad_wide>(words) / 1e12, instruction_rate<Instruction::viaddmin>(words) / 1e12);
  return rates;
}

/// Fills an array with words below 2^30 that are not zero; what the kernels do takes as long for any residues.
template <class Word>
std::vector<Word> some_words(size_t count) {
  std::vector<Word> words(count);
  uint64_t x = 1;
  for (Word& word : words) {
    x = x * 6364136223846793005 + 1442695040888963407;
    word = static_cast<Word>(x >> 34);
  }
  return words;
}

/// Slots of the 32-bit multiplier that a butterfly needs: high product two, low ones one each.
template <class Word>
inline constexpr double kButterflySlots = sizeof(Word) == 4 ? 4 : 14;

template <class Word>
double ntt_slots(int log_n) {
  return (size_t{1} << log_n) / 2.0 * log_n * kButterflySlots<Word>;
}

/// Products of bytes of a tensor-core form, 16 for a product of words.
inline double ntt_mma(cuda::Form form) {
  const double terms = form == cuda::Form::imma_256x256    ? 512
                       : form == cuda::Form::imma_64x32x32 ? 128
                       : form == cuda::Form::imma_16       ? 64
                                                           : 0;
  return 65536 * 16 * terms;
}

/// All forms of one N, on 256 MiB or 512 MiB of rows with so many primes.
template <class Word>
void time_ntt(int log_n, uint32_t prime_count, Report& report) {
  const int bits = sizeof(Word) == 4 ? 31 : 60;
  DeviceTables<Word> device(log_n, make_primes(static_cast<int>(prime_count), bits, log_n));
  device.add_imma();
  const size_t n = size_t{1} << log_n, rows = (size_t{1} << 26) / n / prime_count * prime_count;
  DeviceArray<Word> data(some_words<Word>(rows * n));
  const cuda::RowMap map = first_primes(prime_count);
  for (cuda::Form form : cuda::kForms) {
    if (!cuda::supports(form, log_n, sizeof(Word))) continue;
    for (auto direction : {cuda::Direction::forward, cuda::Direction::inverse}) {
      const double seconds = median_seconds(
          4, [&](int) { check(cuda::ntt(form, direction, data.get(), rows, map, device.tables, nullptr), "ntt"); });
      const bool is_imma = ntt_mma(form) != 0;
      const std::string what = direction == cuda::Direction::forward ? "ntt, " : "intt, ";
      const double passes = form == cuda::Form::two_pass || form == cuda::Form::imma_256x256 ? 2 : 1;
      const double bytes = passes * 2 * static_cast<double>(n * sizeof(Word));
      const Timing timing{what + cuda::name_of(form),           log_n,        sizeof(Word), rows, seconds, bytes,
                          is_imma ? 0 : ntt_slots<Word>(log_n), ntt_mma(form)};
      report.add(timing);
    }
  }
}

/// The operations of one chain of primes on a batch, inputs and outputs in device memory.
template <class Word>
class OperationTimes {
 public:
  OperationTimes(const DeviceTables<Word>& device, const Shape& shape, Report& report)
      : device_(device),
        shape_(shape),
        report_(report),
        n_(size_t{1} << device.tables.log_n),
        keys_(device.roots, shape),
        a_(some_words<Word>(words(3, shape.limbs))),
        b_(some_words<Word>(words(3, shape.limbs))),
        out_(words(3, shape.limbs)),
        scratch_(words(2, shape.limbs)),
        digits_(words(shape.digits(), shape.rows())),
        product_(words(2, shape.rows())),
        key_words_(some_words<Word>(size_t{2} * shape.digits() * shape.key_limbs() * n_)),
        inverse_last_(some_words<cuda::Factor<Word>>(shape)) {}

  void run() {
    const double limbs = shape_.limbs, all = shape_.rows(), digits = shape_.digits(), batch = shape_.ciphertexts;
    const auto& t = device_.tables;
    const cuda::RowMap map = shape_.map(shape_.limbs);
    const size_t rows = size_t{2} * shape_.limbs * shape_.ciphertexts;
    const double key_rows = 2 * digits * all / batch, ntts = ntt_slots<Word>(t.log_n);
    time("add", 6 * limbs, 0, [&] { return cuda::add(out(), a(), b(), rows, map, t, nullptr); });
    time("multiply_plain", 4 * limbs + limbs / batch, 0,
         [&] { return cuda::multiply_plain(out(), a(), b(), rows, rows, map, t, nullptr); });
    time("tensor", 7 * limbs, 0, [&] { return cuda::tensor(out(), a(), b(), shape_.ciphertexts, map, t, nullptr); });
    time("automorphism", 4 * limbs, 0, [&] { return cuda::automorphism(out(), a(), 5, rows, map, t.log_n, nullptr); });
    time("rescale", 4 * limbs, 2 * limbs * ntts,
         [&] { return cuda::rescale(out(), a(), scratch_.get(), 2 * shape_.ciphertexts, map, factors(), t, nullptr); });
    for (cuda::Unit unit : {cuda::Unit::integer, cuda::Unit::imma}) {
      const std::string suffix = unit == cuda::Unit::imma ? ", imma" : "";
      const double up_ntts = limbs + digits * all - limbs, down_ntts = 2 * all;
      time("mod_up" + suffix, limbs + digits * all - limbs, up_ntts * ntts, [&] { return mod_up(unit, 3, a()); });
      time("mod_down" + suffix, 2 * (all + 2 * limbs), down_ntts * ntts, [&] { return mod_down(unit, 3, 2); });
      time("multiply and relinearise" + suffix, 6 * limbs + key_rows, (up_ntts + down_ntts) * ntts,
           [&] { return multiply(unit); });
      time("rotate" + suffix, 4 * limbs + key_rows, (up_ntts + down_ntts) * ntts, [&] { return rotate(unit); });
    }
    time("key_product", digits * all + 2 * all + key_rows, 0, [&] { return key_product(3, a()); });
  }

 private:
  template <class T>
  static std::vector<T> some_words(const Shape& shape) {
    return std::vector<T>(shape.limbs, T{3, 1});
  }
  template <class T>
  static std::vector<T> some_words(size_t count) {
    return testing::some_words<T>(count);
  }

  size_t words(size_t parts, size_t rows) const { return parts * rows * shape_.ciphertexts * n_; }
  Word* out() { return out_.get(); }
  const Word* a() const { return a_.get(); }
  const Word* b() const { return b_.get(); }
  const cuda::Factor<Word>* factors() const { return inverse_last_.get(); }

  cudaError_t mod_up(cuda::Unit unit, size_t parts, const Word* in) {
    return cuda::mod_up(unit, digits_.get(), in, parts, scratch_.get(), shape_.ciphertexts, keys_.keys, device_.tables,
                        nullptr);
  }
  cudaError_t key_product(size_t parts, const Word* own) {
    return cuda::key_product(product_.get(), digits_.get(), own, parts, key_words_.get(), shape_.ciphertexts,
                             keys_.keys.rows, device_.tables, nullptr);
  }
  cudaError_t mod_down(cuda::Unit unit, uint32_t parts, uint32_t used) {
    return cuda::mod_down(unit, b_.get(), product_.get(), scratch_.get(), {out_.get(), parts, used}, shape_.ciphertexts,
                          keys_.keys, device_.tables, nullptr);
  }
  cudaError_t multiply(cuda::Unit unit) {
    check(cuda::tensor(out(), a(), b(), shape_.ciphertexts, shape_.map(shape_.limbs), device_.tables, nullptr),
          "tensor");
    check(mod_up(unit, 3, out()), "mod_up");
    check(key_product(3, out()), "key_product");
    return mod_down(unit, 3, 2);
  }
  cudaError_t rotate(cuda::Unit unit) {
    const size_t rows = size_t{2} * shape_.limbs * shape_.ciphertexts;
    check(cuda::automorphism(out(), a(), 5, rows, shape_.map(shape_.limbs), device_.tables.log_n, nullptr),
          "automorphism");
    check(mod_up(unit, 2, out()), "mod_up");
    check(key_product(2, out()), "key_product");
    return mod_down(unit, 2, 1);
  }

  /// rows: those that a ciphertext's operation must read or write.
  template <class Call>
  void time(const std::string& what, double rows, double slots, const Call& call) {
    const double seconds = median_seconds(2, [&](int) { check(call(), what.c_str()); });
    const double bytes = rows * static_cast<double>(n_ * sizeof(Word));
    const Timing timing{what, device_.tables.log_n, sizeof(Word), shape_.ciphertexts, seconds, bytes, slots, 0};
    report_.add(timing);
  }

  const DeviceTables<Word>& device_;
  Shape shape_;
  Report& report_;
  size_t n_;
  DeviceKeySwitch<Word> keys_;
  DeviceArray<Word> a_, b_, out_, scratch_, digits_, product_, key_words_;
  DeviceArray<cuda::Factor<Word>> inverse_last_;
};

}  // namespace polykem::ckks::testing
