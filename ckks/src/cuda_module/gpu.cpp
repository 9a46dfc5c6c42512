// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/cuda_module/gpu.hpp"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "ckks/src/cuda_module/level.hpp"
#include "prim/cuda/machine_code.hpp"

namespace polykem::ckks {

namespace cuda {

namespace {

constexpr size_t kMaxScratch = size_t{2} << 30;
constexpr size_t kStagedWords = size_t{1} << 22;  ///< words that are narrowed or widened at a time
constexpr int kMinMajor = 9;                      ///< has clusters of blocks, on which transforms rely
constexpr uint64_t kMaxNarrow = uint64_t{1} << 31;

size_t scratch_bytes(size_t wanted) {
  if (wanted != 0) return wanted;
  size_t unused = 0, all = 0;
  check(cudaMemGetInfo(&unused, &all), "asking for free memory");
  return std::min(kMaxScratch, unused / 4);
}

/// Words that are being narrowed or widened. Some are secret, so they are zeroized.
template <class Word>
class Staging {
 public:
  explicit Staging(size_t count) : words_(std::min(count, kStagedWords)) {}
  ~Staging() { explicit_bzero(words_.data(), words_.size() * sizeof(Word)); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  Word* data() { return words_.data(); }

 private:
  std::vector<Word> words_;
};

template <class Word>
class Gpu final : public OpenDevice {
 public:
  Gpu(const DeviceSetup& setup, Chain chain)
      : ordinal_(setup.ordinal),
        n_(size_t{1} << setup.log_n),
        scratch_(scratch_bytes(setup.scratch_bytes)),
        chain_(std::move(chain)),
        memory_(setup.ordinal, 2 * scratch_) {
    const HostTables<Word> host = make_tables<Word>(static_cast<int>(setup.log_n), chain_.primes);
    primes_ = std::make_unique<Array<Prime<Word>>>(memory_, host.primes);
    forward_ = std::make_unique<Array<Factor<Word>>>(memory_, host.forward);
    inverse_ = std::make_unique<Array<Factor<Word>>>(memory_, host.inverse);
    tables_ = {host.log_n, primes_->get(), forward_->get(), inverse_->get(), {}};
  }

  int ordinal() const override { return ordinal_; }
  bool is_inherited() const override { return getpid() != process_; }

  void* allocate(size_t count) override {
    const Turn turn(*this);
    return memory_.allocate(count * sizeof(Word));
  }

  void release(void* words, size_t count, bool zeroize) noexcept override {
    try {
      const Turn turn(*this);
      if (zeroize && words != nullptr) check(cudaMemsetAsync(words, 0, count * sizeof(Word), stream()), "zeroizing");
      memory_.free(words);
    } catch (
        const std::exception&) {  // the GPU is lost, and its memory with it: what was not zeroized is not used again
    }
  }

  void upload(void* to, const uint64_t* from, size_t count) override {
    const Turn turn(*this);
    Staging<Word> staging(count);
    for (size_t first = 0; first < count; first += kStagedWords) {
      const size_t size = std::min(kStagedWords, count - first);
      for (size_t i = 0; i < size; ++i)
        staging.data()[i] = static_cast<Word>(from[first + i]);
      check(cudaMemcpyAsync(static_cast<Word*>(to) + first, staging.data(), size * sizeof(Word), cudaMemcpyHostToDevice,
                            stream()),
            "copying to the device");
      memory_.wait();
    }
  }

  void download(uint64_t* to, const void* from, size_t count) override {
    const Turn turn(*this);
    Staging<Word> staging(count);
    for (size_t first = 0; first < count; first += kStagedWords) {
      const size_t size = std::min(kStagedWords, count - first);
      check(cudaMemcpyAsync(staging.data(), static_cast<const Word*>(from) + first, size * sizeof(Word),
                            cudaMemcpyDeviceToHost, stream()),
            "copying from the device");
      memory_.wait();
      std::copy_n(staging.data(), size, to + first);
    }
  }

  void wait() override {
    const Turn turn(*this);
    memory_.wait();
  }

  void combine(Operation what, const DevicePolynomials& out, const DevicePolynomials& a,
               const DevicePolynomials& b) override {
    const Turn turn(*this);
    const auto function = what == Operation::kAdd ? &cuda::add<Word> : &cuda::subtract<Word>;
    check(function(words(out), words(a), words(b), rows(a), map(a), tables_, stream()), "adding");
  }

  void combine_plain(Operation what, const DevicePolynomials& out, const DevicePolynomials& a,
                     const DevicePolynomials& b) override {
    const Turn turn(*this);
    if (what == Operation::kMultiply)
      multiply_plain(out, a, b);
    else
      add_plain(what, out, a, b);
  }

  void negate(const DevicePolynomials& out, const DevicePolynomials& a) override {
    const Turn turn(*this);
    check(cuda::negate(words(out), words(a), rows(a), map(a), tables_, stream()), "negating");
  }

  void tensor(const DevicePolynomials& out, const DevicePolynomials& a, const DevicePolynomials& b) override {
    const Turn turn(*this);
    check(cuda::tensor(words(out), words(a), words(b), a.count, map(a), tables_, stream()), "multiplying");
  }

  void relinearise(const DevicePolynomials& out, const DevicePolynomials& a, const void* key) override {
    const Turn turn(*this);
    const KeySwitch<Word>& keys = keys_of(a.limbs);
    in_runs(a, switch_words(keys, 2 * a.limbs), [&](size_t first, size_t count, Word* scratch) {
      const Scratch at = place(keys, scratch, count);
      const Word* const from = item(a, first);
      multiply_by_key(at, from, a.parts, key, count, keys);
      check(mod_down(Unit::kImma, item(out, first), at.sums, at.digits, Addend<Word>{from, 3, 2}, count, keys, tables_,
                     stream()),
            "dividing by the special primes");
    });
  }

  /// Applies X -> X^g before the division by P, as key_switch() does.
  void automorphism(const DevicePolynomials& out, const DevicePolynomials& a, uint64_t g, const void* key) override {
    const Turn turn(*this);
    const KeySwitch<Word>& keys = keys_of(a.limbs);
    const size_t sum_rows = 2 * keys.rows.map.count, own_rows = 2 * a.limbs;
    const auto exponent = static_cast<uint32_t>(g);
    RowMap first_part = primes_from(0, static_cast<uint32_t>(own_rows));
    std::fill_n(first_part.prime + a.limbs, a.limbs, RowMap::kSkip);
    in_runs(a, switch_words(keys, sum_rows + 2 * own_rows), [&](size_t first, size_t count, Word* scratch) {
      const Scratch at = place(keys, scratch, count);
      const Word* const from = item(a, first);
      multiply_by_key(at, from, a.parts, key, count, keys);
      Word* const moved_sums = at.digits;  // the digits are no longer needed
      Word* const moved = moved_sums + count * sum_rows * n_;
      Word* const converted = moved + count * own_rows * n_;
      check(cuda::automorphism(moved_sums, at.sums, exponent, count * sum_rows, keys.rows.map, tables_.log_n, stream()),
            "moving slots");
      check(cuda::automorphism(moved, from, exponent, count * own_rows, first_part, tables_.log_n, stream()),
            "moving slots");
      check(mod_down(Unit::kImma, item(out, first), moved_sums, converted, Addend<Word>{moved, 2, 1}, count, keys,
                     tables_, stream()),
            "dividing by the special primes");
    });
  }

  void rescale(const DevicePolynomials& out, const DevicePolynomials& a) override {
    const Turn turn(*this);
    std::unique_ptr<Array<Factor<Word>>>& factors = inverse_last_[a.limbs];
    if (!factors) factors = std::make_unique<Array<Factor<Word>>>(memory_, inverses_of_last<Word>(chain_, a.limbs));
    in_runs(a, a.parts * n_, [&](size_t first, size_t count, Word* scratch) {
      check(cuda::rescale(item(out, first), item(a, first), scratch, count * a.parts, map(a), factors->get(), tables_,
                          stream()),
            "rescaling");
    });
  }

  void select(const DevicePolynomials& out, const DevicePolynomials& a, size_t first) override {
    const Turn turn(*this);
    const size_t to = bytes(out.limbs), from = bytes(a.limbs);
    check(cudaMemcpy2DAsync(out.words, to, item(a, first), from, to, out.count * a.parts, cudaMemcpyDeviceToDevice,
                            stream()),
          "copying limbs");
  }

 private:
  /// A call's turn: the GPU is current, and no other call is under way. A child of fork() gets no turn, because a
  /// thread that does not exist there may hold the mutex.
  class Turn {
   public:
    explicit Turn(Gpu& gpu) : lock_(gpu.own_mutex()), current_(gpu.ordinal_) {}

   private:
    std::lock_guard<std::mutex> lock_;
    CurrentDevice current_;
  };

  /// The place of sums, where coefficients lie before, and that of digits, where other things lie later.
  struct Scratch {
    Word *sums, *digits;
  };

  std::mutex& own_mutex() {
    if (is_inherited()) throw GpuError(Outcome::kFailed, "a device works in the process alone that opened it");
    return mutex_;
  }
  cudaStream_t stream() const { return memory_.stream(); }
  static Word* words(const DevicePolynomials& batch) { return static_cast<Word*>(batch.words); }
  Word* item(const DevicePolynomials& batch, size_t i) const {
    return words(batch) + i * batch.parts * batch.limbs * n_;
  }
  static size_t rows(const DevicePolynomials& batch) { return batch.count * batch.parts * batch.limbs; }
  static RowMap map(const DevicePolynomials& batch) { return primes_from(0, static_cast<uint32_t>(batch.limbs)); }
  size_t bytes(size_t rows) const { return rows * n_ * sizeof(Word); }

  const KeySwitch<Word>& keys_of(size_t limbs) {
    std::unique_ptr<LevelKeys<Word>>& keys = keys_[limbs];
    if (!keys) keys = std::make_unique<LevelKeys<Word>>(memory_, chain_, static_cast<uint32_t>(limbs));
    return keys->get();
  }

  /// Returns the words that key switching takes for a ciphertext, with `after` rows once the digits were multiplied.
  size_t switch_words(const KeySwitch<Word>& keys, size_t after) const {
    const size_t all = keys.rows.map.count;
    return (2 * all + std::max(keys.rows.digits * all, after)) * n_;
  }
  Scratch place(const KeySwitch<Word>& keys, Word* scratch, size_t count) const {
    return {scratch, scratch + count * 2 * keys.rows.map.count * n_};
  }

  /// Multiplies the last part of ciphertexts by a key, into at.sums.
  void multiply_by_key(const Scratch& at, const Word* from, size_t parts, const void* key, size_t count,
                       const KeySwitch<Word>& keys) {
    check(mod_up(Unit::kImma, at.digits, from, parts, at.sums, count, keys, tables_, stream()), "raising digits");
    check(key_product(at.sums, at.digits, from, parts, static_cast<const Word*>(key), count, keys.rows, tables_,
                      stream()),
          "multiplying by a key");
  }

  /// Calls work(first, count, scratch) for runs of ciphertexts of about the same length. A run's scratch, `words_each`
  /// words for each ciphertext, stays below the bound, and runs are halved as long as there is not enough memory for
  /// it.
  template <class Work>
  void in_runs(const DevicePolynomials& a, size_t words_each, const Work& work) {
    size_t size = std::clamp<size_t>(scratch_ / (words_each * sizeof(Word)), 1, a.count);
    const size_t runs = (a.count + size - 1) / size;
    size = (a.count + runs - 1) / runs;
    std::unique_ptr<Array<Word>> scratch;
    while (!scratch) {
      try {
        scratch = std::make_unique<Array<Word>>(memory_, size * words_each);
      } catch (const GpuError& error) {
        if (error.outcome() != Outcome::kOutOfMemory || size == 1) throw;
        size = (size + 1) / 2;
      }
    }
    for (size_t first = 0; first < a.count; first += size)
      work(first, std::min(size, a.count - first), scratch->get());
  }

  void multiply_plain(const DevicePolynomials& out, const DevicePolynomials& a, const DevicePolynomials& b) {
    const size_t each = a.parts * a.limbs, together = b.count == 1 || b.limbs == a.limbs ? a.count : 1;
    for (size_t i = 0; i < a.count; i += together)
      check(cuda::multiply_plain(item(out, i), item(a, i), item(b, b.count == 1 ? 0 : i), together * each,
                                 b.count == 1 ? together * each : each, map(a), tables_, stream()),
            "multiplying");
  }

  void add_plain(Operation what, const DevicePolynomials& out, const DevicePolynomials& a, const DevicePolynomials& b) {
    const auto function = what == Operation::kAdd ? &cuda::add<Word> : &cuda::subtract<Word>;
    for (size_t i = 0; i < a.count; ++i)
      check(function(item(out, i), item(a, i), item(b, b.count == 1 ? 0 : i), a.limbs, map(a), tables_, stream()),
            "adding");
    const size_t pitch = bytes(a.parts * a.limbs);
    check(cudaMemcpy2DAsync(item(out, 0) + a.limbs * n_, pitch, item(a, 0) + a.limbs * n_, pitch,
                            bytes((a.parts - 1) * a.limbs), a.count, cudaMemcpyDeviceToDevice, stream()),
          "copying parts");
  }

  const int ordinal_;
  const pid_t process_ = getpid();
  const size_t n_, scratch_;
  const Chain chain_;
  std::mutex mutex_;
  const Memory memory_;
  std::unique_ptr<Array<Prime<Word>>> primes_;
  std::unique_ptr<Array<Factor<Word>>> forward_, inverse_;
  Tables<Word> tables_;
  std::map<size_t, std::unique_ptr<LevelKeys<Word>>> keys_;              ///< by limbs
  std::map<size_t, std::unique_ptr<Array<Factor<Word>>>> inverse_last_;  ///< by limbs
};

void check_gpu(int ordinal) {
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "looking for GPUs");
  if (ordinal >= gpus) throw GpuError(Outcome::kFailed, "there are " + std::to_string(gpus) + " GPUs, numbered from 0");
  cudaDeviceProp gpu;
  check(cudaGetDeviceProperties(&gpu, ordinal), "asking what the GPU can do");
  if (gpu.major < kMinMajor)
    throw GpuError(Outcome::kFailed, std::string(gpu.name) + " has compute capability " + std::to_string(gpu.major) +
                                         "." + std::to_string(gpu.minor) + "; CKKS needs 9.0 or newer");
  const CurrentDevice current(ordinal);
  const cudaError_t found = find_machine_code();
  if (polykem::cuda::is_without_code(found))
    throw GpuError(Outcome::kFailed, polykem::cuda::without_code(found, gpu.name, gpu.major, gpu.minor));
  check(found, "loading the kernels");
}

}  // namespace

}  // namespace cuda

std::unique_ptr<OpenDevice> open_gpu(const DeviceSetup& setup) {
  cuda::check_gpu(setup.ordinal);
  const cuda::CurrentDevice current(setup.ordinal);
  cuda::Chain chain{{},
                    static_cast<uint32_t>(setup.limbs),
                    static_cast<uint32_t>(setup.special),
                    static_cast<uint32_t>(setup.digit_limbs)};
  bool narrow = true;
  for (size_t i = 0; i < setup.limbs + setup.special; ++i) {
    chain.primes.push_back({setup.primes[i], setup.roots[i]});
    narrow = narrow && setup.primes[i] < cuda::kMaxNarrow;
  }
  if (narrow) return std::make_unique<cuda::Gpu<uint32_t>>(setup, std::move(chain));
  return std::make_unique<cuda::Gpu<uint64_t>>(setup, std::move(chain));
}

}  // namespace polykem::ckks
