// SPDX-License-Identifier: Apache-2.0
// NTRU on the GPU: kernels with all data on the card, step by step beside what the hardware allows, then host to host.
//   polykem_bench_cuda_ntru [--items N] [--scheme NAME]... [--json FILE]
// Every run is checked: both sides must have the same secrets.
#include <cuda_runtime.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/backend.hpp"
#include "engine/cuda/loader.hpp"
#include "polykem/polykem.h"
#include "schemes/ntru/params.hpp"

namespace {

using polykem::DeviceBatch;
using polykem::DeviceOperation;
using polykem::Op;
using polykem::ntru::NtruParams;

constexpr int kSamples = 9;
constexpr int kWarmUps = 8;  ///< host to host: by then most parts are replayed as graphs
constexpr const char* kOpNames[] = {"keygen", "encaps", "decaps"};

// Measured on an H200: what one unit does at best.
constexpr double kPermutationsPerSecond = 3.83e9;
constexpr double kMacsPerSecond = 641e12;  ///< int8 tensor cores
constexpr double kBytesPerSecond = 4.2e12;
constexpr double kLogicPerSecond = 16.7e12;  ///< 32-bit integer operations

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "polykem_bench_cuda_ntru: %s\n", why.c_str());
  std::exit(1);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) die(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

const std::pair<const char*, NtruParams> kSets[] = {
    {"ntruhps4096821", polykem::ntru::kHps4096821},   {"ntruhps2048677", polykem::ntru::kHps2048677},
    {"ntruhps2048509", polykem::ntru::kHps2048509},   {"ntruhrss701", polykem::ntru::kHrss701},
    {"ntruhps40961229", polykem::ntru::kHps40961229}, {"ntruhrss1373", polykem::ntru::kHrss1373},
};

/// The least time of one step for one item, in nanoseconds: the larger of its arithmetic and of its bytes (each operand
/// read once, each result written once).
double floor_ns(const NtruParams& p, Op op, const std::string& step) {
  const double n = static_cast<double>(p.n), row = 2 * n, mac = n * n / kMacsPerSecond;
  const double packed = static_cast<double>(p.rq_bytes()), trits = static_cast<double>(p.trits_bytes());
  const double draws = static_cast<double>(op == Op::keygen ? p.keygen_draw_bytes() : p.encaps_draw_bytes());
  const auto blocks = [](double bytes) { return static_cast<double>(static_cast<size_t>(bytes) / 136 + 1); };
  double seconds = 0, bytes = 0;
  if (step == "shake_draw") seconds = blocks(draws) / kPermutationsPerSecond, bytes = draws;
  // Batcher's merge exchange of 2^k keys: 2^(k-2) (k^2 - k + 4) - 1 comparators, a minimum and a maximum each.
  const double k = std::log2(n - 1), comparators = std::exp2(k - 2) * (k * k - k + 4) - 1;
  const double sort = p.variant == polykem::ntru::Variant::hps ? 2 * comparators / kLogicPerSecond : 0;
  if (step == "sample_fg") seconds = sort, bytes = draws + 2 * row;
  if (step == "sample_rm_pack") seconds = sort, bytes = draws + 2 * n + 2 * trits;
  // Three products an item and, as if they were free, a few inversions; then Newton's last step, limb products 2 and 1.
  if (step == "invert_mod3") seconds = 3 * mac, bytes = 9 * row;
  if (step == "invert_mod_q") seconds = 6 * mac, bytes = 12 * row;
  if (step == "pack_f_lift") bytes = 2 * row + 2 * trits + 32;
  if (step == "pack_invh" || step == "pack_h") bytes = row + packed;
  if (step == "dpke_encrypt") seconds = 2 * mac, bytes = 2 * n + 2 * packed;
  if (step == "dpke_decrypt_m") seconds = 3 * mac, bytes = packed + 3 * trits;  // limb products 2 and 1
  if (step == "dpke_decrypt_r") seconds = 3 * mac, bytes = 2 * packed + 2 * trits;
  if (step == "sha3_256") seconds = blocks(2 * trits) / kPermutationsPerSecond, bytes = 2 * trits + 32;
  if (step == "sha3_256_select") {
    seconds = (blocks(2 * trits) + blocks(32 + packed)) / kPermutationsPerSecond;
    bytes = 2 * trits + 32 + packed + 32;
  }
  if (step.rfind("mul_", 0) == 0) {
    seconds = 2 * mac;
    bytes = 3 * row;
  }
  if (bytes == 0) die("no floor is known for the step " + step + ": give it one in floor_ns()");
  return std::max(seconds, bytes / kBytesPerSecond) * 1e9;
}

struct DeviceBytes {
  uint8_t* data = nullptr;
  size_t size = 0;
  explicit DeviceBytes(size_t bytes) : size(bytes) { check(cudaMalloc(&data, bytes), "cudaMalloc"); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data); }
};

struct StepResult {
  std::string name;
  double ns_per_item, floor;
};

struct OpResult {
  Op op;
  double items_per_second;
  std::vector<StepResult> steps;
};

class Resident {
 public:
  Resident(const polykem::cuda::ModuleTable& table, const char* scheme, const NtruParams& p, size_t items)
      : table_(table),
        scheme_(scheme),
        params_(p),
        items_(items),
        pk_(items * p.public_key_bytes() + 4),
        sk_(items * p.secret_key_bytes() + 4),
        ct_(items * p.ciphertext_bytes() + 4),
        ss_(items * 32),
        ss2_(items * 32),
        seed_(32),
        workspace_(largest_workspace()) {
    if (getrandom(module_batch_.seed, 32, 0) != 32) die("no entropy");
    check(cudaMemcpy(seed_.data, module_batch_.seed, 32, cudaMemcpyHostToDevice), "seed");
    check(cudaStreamCreate(&stream_), "stream");
    batch_ = {.count = items,
              .shared_key = false,
              .draws = nullptr,
              .seed = reinterpret_cast<const uint32_t*>(seed_.data),
              .pk = pk_.data,
              .sk = sk_.data,
              .ct = ct_.data,
              .pk_out = pk_.data,
              .sk_out = sk_.data,
              .ct_out = ct_.data,
              .ss_out = ss_.data};
    module_batch_.count = items;
    module_batch_.pk = module_batch_.pk_out = pk_.data;
    module_batch_.sk = module_batch_.sk_out = sk_.data;
    module_batch_.ct = module_batch_.ct_out = ct_.data;
    module_batch_.ss_out = ss_.data;
  }

  std::vector<OpResult> run() {
    std::vector<OpResult> results;
    for (const Op op : {Op::keygen, Op::encaps, Op::decaps}) {
      if (op == Op::decaps) batch_.ss_out = module_batch_.ss_out = ss2_.data;
      results.push_back(run(op));
    }
    std::vector<uint8_t> a(items_ * 32), b(items_ * 32);
    check(cudaMemcpy(a.data(), ss_.data, a.size(), cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(b.data(), ss2_.data, b.size(), cudaMemcpyDeviceToHost), "copy");
    if (a != b) die(scheme_ + ": the two sides have different secrets");
    return results;
  }

 private:
  const DeviceOperation& operation(Op op) const {
    const DeviceOperation* found = table_.operation(scheme_.c_str(), op);
    if (found == nullptr) die("the module lacks " + scheme_);
    return *found;
  }

  size_t largest_workspace() const {
    size_t most = 0;
    for (const Op op : {Op::keygen, Op::encaps, Op::decaps})
      most = std::max(most, table_.queue_bytes(operation(op), items_));
    return most;
  }

  void queue(const DeviceOperation& o) {
    polykem::cuda::ErrorText why{};
    if (table_.queue(o, module_batch_, reinterpret_cast<std::byte*>(workspace_.data), stream_, &why) !=
        polykem::cuda::Outcome::ok) {
      die(scheme_ + ": " + why.text);
    }
  }

  OpResult run(Op op) {
    const DeviceOperation& o = operation(op);
    for (int warm = 0; warm < 3; ++warm)
      queue(o);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> samples;
    for (int i = 0; i < kSamples; ++i) {
      check(cudaEventRecord(begin, stream_), "event");
      queue(o);
      check(cudaEventRecord(end, stream_), "event");
      check(cudaEventSynchronize(end), o.scheme);
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "event");
      samples.push_back(ms);
    }
    return {op, static_cast<double>(items_) / (median(samples) * 1e-3), run_steps(op, o)};
  }

  std::vector<StepResult> run_steps(Op op, const DeviceOperation& o) {
    const size_t steps = o.steps.size() + 1;
    std::vector<cudaEvent_t> events(steps + 1);
    for (auto& event : events)
      check(cudaEventCreate(&event), "event");
    std::vector<std::vector<float>> samples(steps);
    auto* workspace = reinterpret_cast<std::byte*>(workspace_.data);
    for (int i = 0; i < kSamples; ++i) {
      check(cudaEventRecord(events[0], stream_), "event");
      for (size_t s = 0; s + 1 < steps; ++s) {
        check(static_cast<cudaError_t>(o.run_step(s, batch_, workspace, stream_)), o.steps[s].name);
        check(cudaEventRecord(events[s + 1], stream_), "event");
      }
      check(cudaMemsetAsync(workspace, 0, o.workspace_bytes(items_), stream_), "wipe");
      check(cudaEventRecord(events[steps], stream_), "event");
      check(cudaEventSynchronize(events[steps]), o.scheme);
      for (size_t s = 0; s < steps; ++s) {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, events[s], events[s + 1]), "event");
        samples[s].push_back(ms);
      }
    }
    std::vector<StepResult> results;
    for (size_t s = 0; s < steps; ++s) {
      const bool wipe = s + 1 == steps;
      const std::string name = wipe ? "wipe" : o.steps[s].name;
      const double floor =
          wipe ? static_cast<double>(o.workspace_bytes(items_)) / static_cast<double>(items_) / kBytesPerSecond * 1e9
               : floor_ns(params_, op, name);
      results.push_back({name, median(samples[s]) * 1e6 / static_cast<double>(items_), floor});
    }
    return results;
  }

  const polykem::cuda::ModuleTable& table_;
  const std::string scheme_;
  const NtruParams params_;
  const size_t items_;
  DeviceBytes pk_, sk_, ct_, ss_, ss2_, seed_, workspace_;
  cudaStream_t stream_ = nullptr;
  DeviceBatch batch_;                          ///< for steps one by one
  polykem::cuda::ModuleBatch module_batch_{};  ///< for the whole operation
};

/// Host to host through the C API.
struct HostResult {
  Op op;
  size_t items;
  bool pinned;
  double milliseconds;      ///< of a batch alone
  double row_milliseconds;  ///< of a batch in a row of them; 0: not measured
  double pcie_milliseconds;
};

struct HostBytes {
  uint8_t* data = nullptr;
  bool pinned;
  HostBytes(size_t bytes, bool pin) : pinned(pin) {
    if (pin) {
      check(cudaHostAlloc(reinterpret_cast<void**>(&data), bytes, cudaHostAllocPortable), "cudaHostAlloc");
    } else {
      data = static_cast<uint8_t*>(std::calloc(bytes, 1));
    }
  }
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  ~HostBytes() { pinned ? static_cast<void>(cudaFreeHost(data)) : std::free(data); }
};

/// What PCIe gives with pinned memory to all GPUs at once, bytes/s.
struct Pcie {
  double in, out;
  double both;  ///< in and out at once, added up

  /// The least time for so many bytes each way.
  double milliseconds(double bytes_in, double bytes_out) const {
    return std::max({bytes_in / in, bytes_out / out, (bytes_in + bytes_out) / both}) * 1e3;
  }
};

/// Memory and streams of one GPU for copies both ways.
struct Link {
  static constexpr size_t kBytes = size_t{256} << 20;

  explicit Link(int device) : a((check(cudaSetDevice(device), "choosing a device"), kBytes)) {
    check(cudaStreamCreate(&in), "stream");
    check(cudaStreamCreate(&out), "stream");
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    cudaStreamDestroy(in);
    cudaStreamDestroy(out);
  }

  void copy(bool with_in, bool with_out) const {
    if (with_in) check(cudaMemcpyAsync(a.data, x.data, kBytes, cudaMemcpyHostToDevice, in), "copy");
    if (with_out) check(cudaMemcpyAsync(y.data, b.data, kBytes, cudaMemcpyDeviceToHost, out), "copy");
  }
  void wait() const {
    for (const cudaStream_t stream : {in, out})
      check(cudaStreamSynchronize(stream), "copy");
  }

  DeviceBytes a, b{kBytes};
  HostBytes x{kBytes, true}, y{kBytes, true};
  cudaStream_t in, out;
};

Pcie measure_pcie(int devices) {
  std::vector<std::unique_ptr<Link>> links;
  for (int device = 0; device < devices; ++device)
    links.push_back(std::make_unique<Link>(device));
  const auto rate = [&](bool with_in, bool with_out) {
    std::vector<double> seconds;
    for (int i = 0; i < kSamples; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      for (const auto& link : links)
        link->copy(with_in, with_out);
      for (const auto& link : links)
        link->wait();
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return static_cast<double>(Link::kBytes) * devices * (with_in + with_out) /
           *std::min_element(seconds.begin(), seconds.end());
  };
  const Pcie result{rate(true, false), rate(false, true), rate(true, true)};
  links.clear();
  check(cudaSetDevice(0), "choosing a device");
  std::printf("PCIe: %.1f GB/s in, %.1f out, %.1f both at once\n", result.in / 1e9, result.out / 1e9,
              result.both / 1e9);
  return result;
}

/// The records of one batch, and its requests.
struct HostBatch {
  HostBytes pk, sk, ct, ss, ss2;
  const size_t items;

  HostBatch(const NtruParams& p, size_t count, bool pinned)
      : pk(count * p.public_key_bytes(), pinned),
        sk(count * p.secret_key_bytes(), pinned),
        ct(count * p.ciphertext_bytes(), pinned),
        ss(count * 32, pinned),
        ss2(count * 32, pinned),
        items(count) {}

  polykem_request request(const polykem_scheme* scheme, Op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = op == Op::keygen ? POLYKEM_KEYGEN : op == Op::encaps ? POLYKEM_ENCAPS : POLYKEM_DECAPS;
    r.key_mode = POLYKEM_KEY_PER_ITEM;
    r.scheme = scheme;
    r.count = items;
    if (op == Op::keygen) r.pk_out = pk.data, r.sk_out = sk.data;
    if (op == Op::encaps) r.pk = pk.data, r.ct_out = ct.data, r.ss_out = ss.data;
    if (op == Op::decaps) r.sk = sk.data, r.ct = ct.data, r.ss_out = ss2.data;
    return r;
  }
  bool agrees() const { return std::memcmp(ss.data, ss2.data, items * 32) == 0; }
};

struct HostContext {
  polykem_context* context = nullptr;
  const polykem_scheme* scheme = nullptr;

  explicit HostContext(const char* name) {
    polykem_config config{sizeof config, 0, "cuda"};
    if (polykem_context_new(&config, &context) != POLYKEM_OK) die("no context");
    if (polykem_scheme_find(name, &scheme) != POLYKEM_OK) die("no scheme");
  }
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;
  ~HostContext() { polykem_context_free(context); }
};

void check(polykem_status status, const char* name) {
  if (status != POLYKEM_OK) die(std::string(name) + ": " + polykem_status_text(status));
}

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// The median time of one batch, nothing else under way.
double alone(const HostContext& host, const HostBatch& batch, Op op, const char* name) {
  const polykem_request request = batch.request(host.scheme, op);
  std::vector<double> samples;
  for (int i = 0; i < kSamples + kWarmUps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    check(polykem_run(host.context, &request), name);
    if (i >= kWarmUps) samples.push_back(milliseconds_since(begin));
  }
  return median(samples);
}

/// The time a batch takes when the next one is always waiting, as in a server: two are under way.
double in_a_row(const HostContext& host, const HostBatch& a, const HostBatch& b, Op op, const char* name) {
  const polykem_request requests[] = {a.request(host.scheme, op), b.request(host.scheme, op)};
  polykem_job* jobs[2] = {};
  auto begin = std::chrono::steady_clock::now();
  constexpr int kBatches = 4 * kSamples;
  for (int i = 0; i < kBatches + kWarmUps; ++i) {
    polykem_job*& job = jobs[i % 2];
    if (job != nullptr) check(polykem_job_wait(job), name);
    polykem_job_free(job);
    if (i == kWarmUps) begin = std::chrono::steady_clock::now();  // the one before is still under way: it counts too
    check(polykem_submit(host.context, &requests[i % 2], nullptr, nullptr, &job), name);
  }
  for (polykem_job* job : jobs) {
    check(polykem_job_wait(job), name);
    polykem_job_free(job);
  }
  return milliseconds_since(begin) / kBatches;
}

/// with_row: batches in a row are measured too.
std::vector<HostResult> host_to_host(const Pcie& pcie, const char* name, const NtruParams& p, size_t items, bool pinned,
                                     bool with_row) {
  const HostContext host(name);
  const HostBatch batch(p, items, pinned), second(p, with_row ? items : 1, pinned);
  std::vector<HostResult> results;
  for (const Op op : {Op::keygen, Op::encaps, Op::decaps}) {
    const double in = op == Op::keygen   ? 0.0
                      : op == Op::encaps ? static_cast<double>(p.public_key_bytes())
                                         : static_cast<double>(p.secret_key_bytes() + p.ciphertext_bytes());
    const double out = op == Op::keygen   ? static_cast<double>(p.public_key_bytes() + p.secret_key_bytes())
                       : op == Op::encaps ? static_cast<double>(p.ciphertext_bytes() + 32)
                                          : 32.0;
    HostResult result{op,     items,
                      pinned, alone(host, batch, op, name),
                      0,      pcie.milliseconds(in * static_cast<double>(items), out * static_cast<double>(items))};
    if (with_row) result.row_milliseconds = in_a_row(host, batch, second, op, name);
    results.push_back(result);
  }
  if (!batch.agrees() || (with_row && !second.agrees()))
    die(std::string(name) + ": the two sides have different secrets");
  if (polykem::cuda::chunks_moved_to_cpu() != 0) die(std::string(name) + ": the GPU failed and the CPU took over");
  return results;
}

struct SetResult {
  std::string name;
  std::vector<OpResult> ops;
  std::vector<HostResult> host;
};

void print(const SetResult& set, size_t items) {
  for (const OpResult& op : set.ops) {
    std::printf("\n%s %s: %.2f M/s, %zu items on the card (%.1f ns each)\n", set.name.c_str(),
                kOpNames[static_cast<int>(op.op)], op.items_per_second / 1e6, items, 1e9 / op.items_per_second);
    for (const StepResult& step : op.steps) {
      std::printf("  %-22s %8.2f ns  floor %7.2f  x%.1f\n", step.name.c_str(), step.ns_per_item, step.floor,
                  step.ns_per_item / step.floor);
    }
  }
  for (const HostResult& h : set.host) {
    std::printf("%s %s host to host, %zu items%s: %.3f ms, %.2f M/s (PCIe alone %.3f ms)", set.name.c_str(),
                kOpNames[static_cast<int>(h.op)], h.items, h.pinned ? ", pinned" : "", h.milliseconds,
                static_cast<double>(h.items) / h.milliseconds / 1e3, h.pcie_milliseconds);
    if (h.row_milliseconds > 0) std::printf("; in a row %.3f ms each", h.row_milliseconds);
    std::printf("\n");
  }
}

void write_json(const std::string& path, const std::vector<SetResult>& sets, const Pcie& pcie, size_t items,
                const std::string& device, int devices, const std::string& command) {
  std::ofstream out(path);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const char* commit = std::getenv("POLYKEM_COMMIT");
  out << "{\n \"device\": \"" << device << "\", \"devices\": " << devices << ", \"driver\": " << driver
      << ", \"cuda\": " << runtime << ", \"version\": \"" << polykem_version() << "\", \"commit\": \""
      << (commit == nullptr ? "" : commit) << "\",\n \"command\": \"" << command << "\", \"items\": " << items
      << ", \"samples\": " << kSamples << ",\n \"pcie_gb_per_s\": {\"in\": " << pcie.in / 1e9
      << ", \"out\": " << pcie.out / 1e9 << ", \"both\": " << pcie.both / 1e9 << "},\n \"sets\": [";
  for (size_t s = 0; s < sets.size(); ++s) {
    out << (s == 0 ? "\n" : ",\n") << "  {\"name\": \"" << sets[s].name << "\", \"resident\": [";
    for (size_t o = 0; o < sets[s].ops.size(); ++o) {
      const OpResult& op = sets[s].ops[o];
      out << (o == 0 ? "\n" : ",\n") << "    {\"op\": \"" << kOpNames[static_cast<int>(op.op)]
          << "\", \"per_second\": " << static_cast<long long>(op.items_per_second) << ", \"steps\": [";
      for (size_t i = 0; i < op.steps.size(); ++i) {
        out << (i == 0 ? "" : ", ") << "{\"name\": \"" << op.steps[i].name << "\", \"ns\": " << op.steps[i].ns_per_item
            << ", \"floor_ns\": " << op.steps[i].floor << "}";
      }
      out << "]}";
    }
    out << "],\n   \"host_to_host\": [";
    for (size_t i = 0; i < sets[s].host.size(); ++i) {
      const HostResult& h = sets[s].host[i];
      out << (i == 0 ? "\n" : ",\n") << "    {\"op\": \"" << kOpNames[static_cast<int>(h.op)]
          << "\", \"items\": " << h.items << ", \"pinned\": " << (h.pinned ? "true" : "false")
          << ", \"ms\": " << h.milliseconds;
      if (h.row_milliseconds > 0) out << ", \"row_ms\": " << h.row_milliseconds;
      out << ", \"pcie_ms\": " << h.pcie_milliseconds << "}";
    }
    out << "]}";
  }
  out << "\n ]\n}\n";
}

}  // namespace

int main(int argc, char** argv) {
  size_t items = 100000;
  std::string json, command = "polykem_bench_cuda_ntru";
  std::vector<std::string> only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option != "--json") command += " " + option + " " + argv[i + 1];
    if (option == "--items")
      items = std::strtoul(argv[i + 1], nullptr, 10);
    else if (option == "--json")
      json = argv[i + 1];
    else if (option == "--scheme")
      only.emplace_back(argv[i + 1]);
    else
      die("usage: [--items N] [--scheme NAME]... [--json FILE]");
  }
  const auto& module = polykem::cuda::loaded_module();
  if (module.table == nullptr) die(module.problem);
  const auto info = module.table->device_info(0);
  const int devices = module.table->device_count();
  std::printf("%d x %s, %d multiprocessors each\n", devices, info.name, info.multiprocessors);
  const Pcie pcie = measure_pcie(devices);
  std::vector<SetResult> results;
  for (const auto& [name, params] : kSets) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    SetResult set{name, {}, {}};
    set.ops = Resident(*module.table, name, params, items).run();
    for (const size_t count : {size_t{1}, size_t{10000}, items}) {
      for (const auto& h : host_to_host(pcie, name, params, count, count != 1, count == items))
        set.host.push_back(h);
    }
    for (const auto& h : host_to_host(pcie, name, params, items, false, false))
      set.host.push_back(h);
    print(set, items);
    results.push_back(std::move(set));
  }
  if (!json.empty()) write_json(json, results, pcie, items, info.name, devices, command);
  return 0;
}
