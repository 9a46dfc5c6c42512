// SPDX-License-Identifier: Apache-2.0
// Measures each implementation for 1 to a full register of items and prints the rows of src/tuning/small_batches.hpp.
//
//   polykem_bench_small_batches [--quick] [SET...]
//
// --quick times each batch once, for tests. Run it on a quiet core. `hashes_together` is not measured; every row gets
// that of the table's first row.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "engine/chunk.hpp"
#include "schemes/mlkem/vector_backends.hpp"
#include "schemes/registry.hpp"

namespace polykem {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

constexpr size_t kRecords = 64;
std::chrono::nanoseconds min_time = std::chrono::milliseconds(4);

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "polykem_bench_small_batches: %s\n", what.c_str());
  std::exit(1);
}

enum class Keys { kOwn, kExpanded, kShared };

/// The records that the operations of a backend read and write.
class Records {
 public:
  Records(const Scheme& scheme, const SchemeBackend& backend) : scheme_(scheme) {
    for (const Op op : {Op::kKeygen, Op::kEncaps})
      compute(backend.op(op), batch(op, Keys::kOwn, kRecords), backend.op(op).chunk);
    expand(backend.expanded_public_key, pk_, expanded_pk_);
    expand(backend.expanded_secret_key, sk_, expanded_sk_);
  }

  Batch batch(Op op, Keys keys, size_t count) {
    Batch b;
    b.count = count;
    b.drbg = &worker_.drbg;
    b.shared_key = keys == Keys::kShared;
    b.item_status = status_.data();
    if (op == Op::kKeygen) b.pk_out = pk_.data(), b.sk_out = sk_.data();
    if (op == Op::kEncaps) b.pk = pk_.data(), b.ct_out = ct_.data(), b.ss_out = ss_.data();
    if (op == Op::kDecaps) b.sk = sk_.data(), b.ct = ct_.data(), b.ss_out = ss_.data();
    if (keys == Keys::kExpanded && op == Op::kEncaps)
      b.expanded = {expanded_pk_.data(), expanded_pk_.size() / kRecords};
    if (keys == Keys::kExpanded && op == Op::kDecaps)
      b.expanded = {expanded_sk_.data(), expanded_sk_.size() / kRecords};
    return b;
  }

  void compute(const Operation& operation, const Batch& all, size_t chunk) {
    if (worker_.drbg.prepare() != Status::kOk) fail("no entropy");
    for (size_t first = 0; first < all.count; first += chunk) {
      const size_t count = std::min(chunk, all.count - first);
      if (!worker_.reserve_workspace(operation, count)) fail("no memory");
      const Batch slice{all.slice(scheme_.record_bytes(Op::kEncaps), first, count), all.drbg};
      if (operation.run(operation.context, slice, worker_.workspace.data(), nullptr) != Status::kOk) fail("no result");
    }
  }

 private:
  static void expand(const ExpandedKeyFormat& format, const Bytes& keys, SecureBuffer& out) {
    if (format.bytes == 0) return;
    SecureBuffer space;
    if (!out.reserve(kRecords * format.bytes) || !space.reserve(format.workspace_bytes(kRecords) + 64))
      fail("no memory");
    format.expand(out.data(), keys.data(), kRecords, space.data());
  }

  const Scheme& scheme_;
  Worker worker_;
  Bytes pk_ = Bytes(kRecords * scheme_.public_key_bytes), sk_ = Bytes(kRecords * scheme_.secret_key_bytes);
  Bytes ct_ = Bytes(kRecords * scheme_.ciphertext_bytes), ss_ = Bytes(kRecords * scheme_.shared_secret_bytes);
  std::vector<Status> status_ = std::vector<Status>(kRecords);
  SecureBuffer expanded_pk_, expanded_sk_;
};

/// Returns the median time of a batch in nanoseconds.
double median_time(Records& records, const Operation& operation, const Batch& batch) {
  std::vector<double> times;
  const auto end = Clock::now() + min_time;
  do {
    const auto begin = Clock::now();
    records.compute(operation, batch, kRecords);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  } while (Clock::now() < end);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// The times of 1, 2, ... items.
using Times = std::vector<double>;

/// Returns the largest batch that `small` should compute instead of `many`, which minimises the geometric mean of
/// times.
size_t limit(const Times& small, const Times& many) {
  size_t best = 0;
  double gain = 0, max_gain = 0;
  for (size_t i = 0; i < small.size(); ++i) {
    gain += std::log(many[i] / small[i]);
    if (gain > max_gain) max_gain = gain, best = i + 1;
  }
  return best;
}

/// Returns the largest batch that the implementation for small batches should compute.
size_t measure(Records& records, const SchemeBackend& backend, Op op, Keys keys) {
  const Operation& many = backend.op(op);
  Times small, others;
  for (size_t count = 1; count < many.items_per_vector; ++count) {
    const Batch batch = records.batch(op, keys, count);
    small.push_back(median_time(records, *many.small_batches[0].operation, batch));
    others.push_back(median_time(records, many, batch));
  }
  return limit(small, others);
}

/// Converts a name to an enumerator, "avx512-zen5" to kAvx512Zen5.
std::string enumerator(const std::string& name) {
  std::string out = "k";
  bool begins = true;
  for (const char c : name) {
    if (c != '-') out += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '-';
  }
  return out;
}

void print_row(const Scheme& scheme, const SchemeBackend& backend) {
  const bool mlkem = std::strcmp(scheme.family, "mlkem") == 0, ntru = std::strcmp(scheme.family, "ntru") == 0;
  Records records(scheme, backend);
  const auto max_items = [&](Op op, Keys keys) { return measure(records, backend, op, keys); };
  const size_t keygen = max_items(Op::kKeygen, Keys::kOwn), encaps = max_items(Op::kEncaps, Keys::kOwn),
               decaps = max_items(Op::kDecaps, Keys::kOwn);
  const bool expands = backend.expanded_public_key.bytes != 0;
  std::string cpu = backend.name;
  if (mlkem && kCpuByIntel && cpu == "avx2") cpu += "-intel";
  if (kCpuIsZen5 && cpu == "avx512" && !ntru) cpu += "-zen5";
  std::printf("    // %s\n    {.cpu = Cpu::%s, ", scheme.name, enumerator(cpu).c_str());
  if (mlkem) std::printf(".k = %d, ", std::atoi(scheme.name + 5) / 256);
  std::printf(".own_keys = {%zu, %zu, %zu},\n", keygen, encaps, decaps);
  std::printf("     .expanded_keys = {%zu, %zu}, .shared_key = {%zu, %zu}",
              expands ? max_items(Op::kEncaps, Keys::kExpanded) : encaps,
              expands ? max_items(Op::kDecaps, Keys::kExpanded) : decaps, max_items(Op::kEncaps, Keys::kShared),
              max_items(Op::kDecaps, Keys::kShared));
  if (mlkem) std::printf(", .hashes_together = %zu", tuning::kMlkem[0].hashes_together);
  std::printf("},\n");
}

/// Returns the best backend of this machine that has an implementation for small batches of the set, or nullptr.
const SchemeBackend* with_small_batches(const Scheme& scheme) {
  for (const SchemeBackend& backend : scheme.backends) {
    const bool has = backend.op(Op::kEncaps).small_batches[0].operation != nullptr;
    if (has && cpu_backend_available(backend.name)) return &backend;
  }
  return nullptr;
}

void measure_sets(std::vector<const char*> sets) {
  if (sets.empty()) sets = {"mlkem512", "mlkem768", "mlkem1024", "saber", "ntruhps2048509"};
  for (const char* name : sets) {
    const Scheme* const scheme = find_scheme(name);
    if (scheme == nullptr) fail(std::string(name) + ": no such parameter set");
    const SchemeBackend* const backend = with_small_batches(*scheme);
    if (backend == nullptr) fail(std::string(name) + ": no backend of this machine has a choice to make");
    print_row(*scheme, *backend);
  }
}

}  // namespace
}  // namespace polykem

int main(int count, char** words) {
  const bool quick = count > 1 && std::strcmp(words[1], "--quick") == 0;
  if (quick) polykem::min_time = std::chrono::nanoseconds(0);
  polykem::measure_sets({words + (quick ? 2 : 1), words + count});
}
