// SPDX-License-Identifier: Apache-2.0
// Times the kernels of ckks/src/cuda.
#pragma once

#include <chrono>
#include <thread>

#include "captured.cuh"
#include "ckks/bench/work.hpp"
#include "ckks/tests/operation_checks.hpp"

namespace polykem::ckks::lab {

using test::DeviceArray;
using test::DeviceKeySwitch;
using test::DeviceTables;
using test::Shape;

/// The destination of figures, and the time for each.
struct Report {
  const Request& request;
  const std::function<void(const Row&)>& add;
  cudaStream_t stream;

  /// Measures call(), which computes row.batch transforms or operations on `stream`.
  template <class Call>
  void measure(Row row, const Call& call) const {
    const auto checked = [&] { check(call(), row.operation.c_str()); };
    time(row, checked);
    if (row.used && !row.form.empty() && request.sustained > 0)
      row.sustained = seconds_of(row, request.sustained, checked);
    look_into(
        row, [&](Captured&) {}, call);
    add(row);
  }

  /// Measures only the kernels whose name contains this word; nothing if there are none.
  template <class Call>
  void measure_kernels(Row row, const char* word, const Call& call) const {
    const auto time_them = [&](Captured& captured) {
      if (captured.keep(word)) time(row, [&] { check(captured.run(stream), row.operation.c_str()); });
    };
    look_into(row, time_them, call);
    if (row.seconds > 0) add(row);
  }

 private:
  /// Pauses first, because a GPU that has computed for tenths of a second lowers its clock to stay below its power
  /// limit.
  template <class Call>
  void time(Row& row, const Call& call) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    row.seconds = seconds_of(row, request.seconds, call);
  }

  template <class Call>
  double seconds_of(const Row& row, double budget, const Call& call) const {
    return polykem::lab::median_seconds(budget, call, stream) / static_cast<double>(row.batch);
  }

  /// Reads the resources of the call's kernels after look(captured). If the driver does not report them, columns stay
  /// empty.
  template <class Look, class Call>
  void look_into(Row& row, const Look& look, const Call& call) const {
    try {
      Captured captured(stream, call);
      look(captured);
      row.resources = captured.resources();
      row.launches = captured.launches();
    } catch (const std::exception& error) {
      (void)cudaGetLastError();
      std::fprintf(stderr, "\n%s, kernels unknown: %s\n", row.operation.c_str(), error.what());
    }
  }
};

/// Fills words with values below 2^30 that are not zero. The time of kernels does not depend on the residues.
template <class Word>
std::unique_ptr<DeviceArray<Word>> some_words(size_t count) {
  std::vector<Word> words(std::min(count, size_t{1} << 20));
  uint64_t x = 1;
  for (Word& word : words) {
    x = x * 6364136223846793005 + 1442695040888963407;
    word = static_cast<Word>(x >> 34);
  }
  auto array = std::make_unique<DeviceArray<Word>>(count);
  for (size_t done = 0; done < count; done += words.size())
    check(cudaMemcpy(array->get() + done, words.data(), std::min(words.size(), count - done) * sizeof(Word),
                     cudaMemcpyHostToDevice),
          "copying to the device");
  return array;
}

inline bool on_tensor_cores(cuda::Form form) {
  return form >= cuda::Form::kImma256x256;
}

/// Returns the cost of a form. In forms on tensor cores, a coefficient has `terms` terms in all.
template <class Word>
Cost cost_of(cuda::Form form, int log_n) {
  const Work work(log_n, sizeof(Word), sizeof(Word) == 4 ? kGpu32 : kGpu64);
  switch (form) {
    case cuda::Form::kImma256x256:
      return work.matrix_transform(2, 512);
    case cuda::Form::kImma64x32x32:
      return work.matrix_transform(1, 128);
    case cuda::Form::kImma16:
      return work.matrix_transform(1, 64);
    default:
      return work.transform(form == cuda::Form::kTwoPass ? 2 : 1);
  }
}

/// Measures all forms of one N on 2^28 words, in rows of this many primes. There are so many rows that the last ones,
/// which do not fill the GPU, have little weight.
template <class Word>
void time_ntt(int log_n, uint32_t prime_count, const Report& report) {
  if (!report.request.wants("ntt") && !report.request.wants("intt")) return;
  const int bits = sizeof(Word) == 4 ? 31 : 60;
  DeviceTables<Word> device(log_n, test::make_primes(static_cast<int>(prime_count), bits, log_n));
  device.add_imma();
  const size_t n = size_t{1} << log_n, rows = (size_t{1} << 28) / n / prime_count * prime_count;
  const auto data = some_words<Word>(rows * n);
  const cuda::RowMap map = test::first_primes(prime_count);
  for (cuda::Form form : cuda::kForms) {
    if (!cuda::supports(form, log_n, sizeof(Word))) continue;
    for (auto direction : {cuda::Direction::kForward, cuda::Direction::kInverse}) {
      Row row;
      row.operation = direction == cuda::Direction::kForward ? "ntt" : "intt";
      if (!report.request.wants(row.operation)) continue;
      row.form = cuda::name_of(form);
      row.on = "cuda";
      row.unit = on_tensor_cores(form) ? "imma" : "integer";
      row.log_n = log_n;
      row.bits = bits;
      row.level.limbs = prime_count;
      row.batch = rows;
      row.cost = cost_of<Word>(form, log_n);
      row.used = form == cuda::production_form(log_n, sizeof(Word));
      report.measure(row,
                     [&] { return cuda::ntt(form, direction, data->get(), rows, map, device.tables, report.stream); });
    }
  }
}

/// Measures the operations of a chain of primes on a batch, with inputs and outputs in device memory.
template <class Word>
class OperationTimes {
 public:
  OperationTimes(const DeviceTables<Word>& device, const Shape& shape, const Report& report)
      : device_(device),
        shape_(shape),
        report_(report),
        level_{shape.limbs, shape.specials, shape.digit_limbs},
        work_(device.tables.log_n, sizeof(Word), sizeof(Word) == 4 ? kGpu32 : kGpu64, level_, shape.ciphertexts),
        n_(size_t{1} << device.tables.log_n),
        keys_(device.roots, shape),
        a_(some_words<Word>(words(3, shape.limbs))),
        b_(some_words<Word>(words(3, shape.limbs))),
        out_(words(3, shape.limbs)),
        scratch_(words(2, shape.limbs)),
        digits_(words(shape.digits(), shape.rows())),
        product_(words(2, shape.rows())),
        key_words_(some_words<Word>(size_t{2} * shape.digits() * shape.key_limbs() * n_)),
        inverse_last_(std::vector<cuda::Factor<Word>>(shape.limbs, {3, 1})) {}

  /// Returns the bytes of device memory that such a batch takes.
  static size_t bytes(const Shape& shape, int log_n) {
    const size_t rows = size_t{11} * shape.limbs + size_t{shape.digits() + 2} * shape.rows();
    return (rows * shape.ciphertexts + size_t{2} * shape.digits() * shape.key_limbs()) * sizeof(Word) << log_n;
  }

  void run() {
    elementwise();
    time("rescale", "integer", work_.rescale(), [&] {
      return cuda::rescale(out(), a(), scratch_.get(), 2 * shape_.ciphertexts, limbs(), inverse_last_.get(),
                           device_.tables, stream());
    });
    time("key_product", "integer", work_.key_product(), [&] { return key_product(3, a()); });
    for (cuda::Unit unit : {cuda::Unit::kInteger, cuda::Unit::kImma}) {
      if (unit == cuda::Unit::kInteger || sizeof(Word) == 4) switching(unit);
    }
  }

 private:
  size_t words(size_t parts, size_t rows) const { return parts * rows * shape_.ciphertexts * n_; }
  size_t rows() const { return size_t{2} * shape_.limbs * shape_.ciphertexts; }
  cuda::RowMap limbs() const { return shape_.map(shape_.limbs); }
  cudaStream_t stream() const { return report_.stream; }
  Word* out() { return out_.get(); }
  const Word* a() const { return a_->get(); }
  const Word* b() const { return b_->get(); }

  void elementwise() {
    const auto& t = device_.tables;
    const cuda::RowMap map = limbs();
    time("hadd", "integer", work_.add(), [&] { return cuda::add(out(), a(), b(), rows(), map, t, stream()); });
    time("hsub", "integer", work_.add(), [&] { return cuda::subtract(out(), a(), b(), rows(), map, t, stream()); });
    time("plain_add", "integer", work_.add_plain(),
         [&] { return cuda::add_plain(out(), a(), b(), rows(), rows(), map, t, stream()); });
    time("plain_mul", "integer", work_.multiply_plain(),
         [&] { return cuda::multiply_plain(out(), a(), b(), rows(), rows(), map, t, stream()); });
    time("tensor", "integer", work_.tensor(), [&] { return tensor(); });
    time("automorphism", "integer", work_.automorphism(), [&] { return automorphism(); });
  }

  void switching(cuda::Unit unit) {
    const bool imma = unit == cuda::Unit::kImma;
    const char* name = imma ? "imma" : "integer";
    const auto up = [&] { return mod_up(unit, 3, a()); };
    const auto down = [&] { return mod_down(unit, 3, 2); };
    const auto alone = [&](const char* operation, const Cost& cost, const auto& call) {
      if (report_.request.wants(operation)) report_.measure_kernels(row(operation, name, cost), "convert", call);
    };
    time("mod_up", name, work_.mod_up(imma), up);
    time("mod_down", name, work_.mod_down(imma), down);
    time("hmult", name, work_.hmult(imma), [&] { return multiply(unit); });
    time("hrotate", name, work_.hrotate(imma), [&] { return rotate(unit); });
    alone("conversion_up", work_.conversion_up(imma), up);
    alone("conversion_down", work_.conversion_down(imma), down);
  }

  cudaError_t tensor() { return cuda::tensor(out(), a(), b(), shape_.ciphertexts, limbs(), device_.tables, stream()); }
  cudaError_t automorphism() {
    return cuda::automorphism(out(), a(), 5, rows(), limbs(), device_.tables.log_n, stream());
  }
  cudaError_t mod_up(cuda::Unit unit, size_t parts, const Word* in) {
    return cuda::mod_up(unit, digits_.get(), in, parts, scratch_.get(), shape_.ciphertexts, keys_.keys, device_.tables,
                        stream());
  }
  cudaError_t key_product(size_t parts, const Word* own) {
    return cuda::key_product(product_.get(), digits_.get(), own, parts, key_words_->get(), shape_.ciphertexts,
                             keys_.keys.rows, device_.tables, stream());
  }
  cudaError_t mod_down(cuda::Unit unit, uint32_t parts, uint32_t used) {
    return cuda::mod_down(unit, b_->get(), product_.get(), scratch_.get(), {out_.get(), parts, used},
                          shape_.ciphertexts, keys_.keys, device_.tables, stream());
  }
  cudaError_t multiply(cuda::Unit unit) {
    check(tensor(), "tensor");
    check(mod_up(unit, 3, out()), "mod_up");
    check(key_product(3, out()), "key_product");
    return mod_down(unit, 3, 2);
  }
  cudaError_t rotate(cuda::Unit unit) {
    check(automorphism(), "automorphism");
    check(mod_up(unit, 2, out()), "mod_up");
    check(key_product(2, out()), "key_product");
    return mod_down(unit, 2, 1);
  }

  Row row(const std::string& operation, const char* unit, const Cost& cost) const {
    Row row;
    row.operation = operation;
    row.on = "cuda";
    row.unit = unit;
    row.log_n = device_.tables.log_n;
    row.bits = sizeof(Word) == 4 ? 31 : 60;
    row.level = level_;
    row.batch = shape_.ciphertexts;
    row.cost = cost;
    return row;
  }
  template <class Call>
  void time(const std::string& operation, const char* unit, const Cost& cost, const Call& call) {
    if (report_.request.wants(operation)) report_.measure(row(operation, unit, cost), call);
  }

  const DeviceTables<Word>& device_;
  Shape shape_;
  const Report& report_;
  Level level_;
  Work work_;
  size_t n_;
  DeviceKeySwitch<Word> keys_;
  std::unique_ptr<DeviceArray<Word>> a_, b_;
  DeviceArray<Word> out_, scratch_, digits_, product_;
  std::unique_ptr<DeviceArray<Word>> key_words_;
  DeviceArray<cuda::Factor<Word>> inverse_last_;
};

}  // namespace polykem::ckks::lab
