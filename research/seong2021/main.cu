// SPDX-License-Identifier: Apache-2.0
// Repeats the experiments of the 2021 paper on this GPU, with the paper's kernels and polykem's, in one run. [SEONG21]
//   polykem_bench_seong2021 [JSON_FILE]
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "accelerators/cuda/loader.hpp"
#include "kernels.cuh"
#include "polykem/polykem.h"
#include "prim/polymul/cuda/degrees.hpp"
#include "schemes/ntru/params.hpp"

namespace polykem::seong2021 {

namespace {

constexpr int kSamples = 9;
constexpr const char* kScheme = "ntruhps4096821";

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "polykem_bench_seong2021: %s\n", why.c_str());
  std::exit(1);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) die(std::string(what) + ": " + cudaGetErrorString(error));
}

template <class T>
class Device {
 public:
  explicit Device(size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T) + 4), "cudaMalloc"); }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    check(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> out(count_);
    check(cudaMemcpy(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return out;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

/// Returns the median milliseconds of launch(), by events, after two warm-ups.
template <class F>
double milliseconds(F&& launch, int samples = kSamples) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  launch();
  launch();
  std::vector<float> times(static_cast<size_t>(samples));
  for (float& time : times) {
    check(cudaEventRecord(begin), "event");
    launch();
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), "a timed kernel");
    check(cudaEventElapsedTime(&time, begin, end), "event");
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// ---- one block, T threads

enum Operation {
  kRandombytes,
  kSampleIid,
  kSampleFixed,
  kRqMul,
  kModPhi,
  kLift,
  kAdd,
  kSubtract,
  kEncaps,
  kDecaps,
  kOperations
};
constexpr const char* kNames[] = {"randombytes", "sample_iid", "sample_fixed_type", "poly_Rq_mul", "mod (3, Phi_n)",
                                  "poly_lift",   "add",        "subtract",          "encaps",      "decaps"};

template <int kOperation>
__global__ void __launch_bounds__(1024)
    operation_kernel(Client* t, uint8_t* ct, uint8_t* ss, const uint8_t* pk, const uint8_t* sk, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    if constexpr (kOperation == kRandombytes) randombytes(t->coins, static_cast<uint64_t>(turn));
    if constexpr (kOperation == kSampleIid) sample_iid(t->a, t->coins);
    if constexpr (kOperation == kSampleFixed) sample_fixed_type(t->b, t->keys, t->coins + kN - 1);
    if constexpr (kOperation == kRqMul) rq_mul(t->z, t->x, t->y);
    if constexpr (kOperation == kModPhi) mod_3_phi(t->b);
    if constexpr (kOperation == kLift) z3_to_zq(t->y, t->b);
    if constexpr (kOperation == kAdd) add(t->z, t->y);
    if constexpr (kOperation == kSubtract) subtract(t->z, t->y);
    if constexpr (kOperation == kEncaps) encaps<true>(*t, ct, ss, pk);
    if constexpr (kOperation == kDecaps) {
      decaps(*t, sk, ct);
      if (threadIdx.x == 0) finish(*t, ss, sk, ct);
    }
    __syncthreads();
  }
}

struct ScalingRow {
  std::string name;
  int registers;
  std::vector<double> microseconds;  ///< for 1, 2, 4 .. 1024 threads
};

template <int kOperation>
ScalingRow scaling(Client* client, uint8_t* ct, uint8_t* ss, const uint8_t* pk, const uint8_t* sk) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, operation_kernel<kOperation>), "attributes");
  ScalingRow row{kNames[kOperation], attributes.numRegs, {}};
  const bool heavy = kOperation == kRqMul || kOperation == kSampleFixed || kOperation >= kEncaps;
  const int turns = heavy ? 2 : 50;
  for (int threads = 1; threads <= 1024; threads *= 2) {
    const double ms =
        milliseconds([&] { operation_kernel<kOperation><<<1, threads>>>(client, ct, ss, pk, sk, turns); }, 3);
    row.microseconds.push_back(ms * 1e3 / turns);
  }
  return row;
}

// ---- many clients

template <bool kHash>
__global__ void __launch_bounds__(1024)
    encaps_kernel(Client* clients, uint8_t* ct, uint8_t* ss, const uint8_t* pk, const uint8_t* coins, size_t count) {
  for (size_t i = blockIdx.x; i < count; i += gridDim.x) {
    Client& t = clients[kHash ? blockIdx.x : i];
    each(kCoins, [&](int b) { t.coins[b] = coins[i * kCoins + b]; });
    __syncthreads();
    encaps<kHash>(t, ct + i * kPacked, ss + i * 32, pk + i * kPacked);
    __syncthreads();
  }
}

template <bool kHash>
__global__ void __launch_bounds__(1024)
    decaps_kernel(Client* clients, uint8_t* ss, const uint8_t* sk, const uint8_t* ct, size_t count) {
  constexpr size_t kSk = kSet.secret_key_bytes();
  for (size_t i = blockIdx.x; i < count; i += gridDim.x) {
    Client& t = clients[kHash ? blockIdx.x : i];
    decaps(t, sk + i * kSk, ct + i * kPacked);
    if (kHash && threadIdx.x == 0) finish(t, ss + i * 32, sk + i * kSk, ct + i * kPacked);
    __syncthreads();
  }
}

/// The hash as a kernel of its own, with a thread for each client.
__global__ void hash_kernel(const Client* clients, uint8_t* ss, const uint8_t* sk, const uint8_t* ct, size_t count) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  if (sk == nullptr) {
    sha3_alone(ss + i * 32, clients[i].rm, 2 * kTrits, nullptr, 0);
  } else {
    finish(clients[i], ss + i * 32, sk + i * kSet.secret_key_bytes(), ct + i * kPacked);
  }
}

struct CrowdRow {
  size_t count;
  double paper_encaps = 0, paper_encaps_split = 0, paper_decaps = 0, paper_decaps_split = 0;  ///< kernels, ms
  double encaps = 0, decaps = 0;                                                              ///< polykem's kernels, ms
  double host_encaps = 0, host_decaps = 0;                                ///< polykem, host to host, ms
  double cpu_encaps = 0, cpu_decaps = 0, ref_encaps = 0, ref_decaps = 0;  ///< ms; 0: not run
};

struct Crowd {
  std::vector<uint8_t> pk, sk, ct, ss, coins;
};

polykem_context* context(const char* backend) {
  const polykem_config config{sizeof config, 0, backend};
  polykem_context* result = nullptr;
  return polykem_context_new(&config, &result) == POLYKEM_OK ? result : nullptr;
}

const polykem_scheme* scheme(const char* name) {
  const polykem_scheme* result = nullptr;
  if (polykem_scheme_find(name, &result) != POLYKEM_OK) die("no scheme");
  return result;
}

polykem_request request(polykem_op op, size_t count) {
  polykem_request r{};
  r.struct_size = sizeof r;
  r.scheme = scheme(kScheme);
  r.op = op;
  r.count = count;
  return r;
}

void run(polykem_context* on, const polykem_request& r) {
  const polykem_status status = polykem_run(on, &r);
  if (status != POLYKEM_OK) die(polykem_status_text(status));
}

Crowd make_crowd(polykem_context* gpu, size_t count) {
  Crowd c{std::vector<uint8_t>(count * kPacked), std::vector<uint8_t>(count * kSet.secret_key_bytes()),
          std::vector<uint8_t>(count * kPacked), std::vector<uint8_t>(count * 32),
          std::vector<uint8_t>(count * kCoins)};
  std::mt19937_64 random(count);
  for (auto& b : c.coins)
    b = static_cast<uint8_t>(random() >> 40);
  auto k = request(POLYKEM_KEYGEN, count), e = request(POLYKEM_ENCAPS, count);
  k.pk_out = c.pk.data();
  k.sk_out = c.sk.data();
  run(gpu, k);
  e.coins = c.coins.data();
  e.pk = c.pk.data();
  e.ct_out = c.ct.data();
  e.ss_out = c.ss.data();
  run(gpu, e);
  return c;
}

double wall(polykem_context* on, const polykem_request& r, int samples) {
  std::vector<double> times;
  run(on, r);
  for (int i = 0; i < samples; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run(on, r);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void same(const std::vector<uint8_t>& got, const std::vector<uint8_t>& wanted, const char* what) {
  if (got != wanted) die(std::string(what) + ": wrong result");
}

/// Measures the paper's kernels for a number of clients, and checks them against polykem's results.
void paper_kernels(CrowdRow& row, const Crowd& c) {
  const size_t n = row.count;
  constexpr int kThreads = 256;
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "the device's multiprocessors");
  // Blocks loop over clients, whose memory is used only while they are computed.
  const auto blocks = static_cast<unsigned>(std::min(n, static_cast<size_t>(multiprocessors) * 8));
  const Device<uint8_t> pk(c.pk), sk(c.sk), coins(c.coins), ct(n * kPacked), ss(n * 32);
  const Device<Client> clients(n);
  const auto hashes = static_cast<unsigned>((n + 127) / 128);
  const auto all = static_cast<unsigned>(n);
  row.paper_encaps = milliseconds(
      [&] {
        encaps_kernel<true><<<blocks, kThreads>>>(clients.data(), ct.data(), ss.data(), pk.data(), coins.data(), n);
      },
      3);
  same(ct.read(), c.ct, "single-kernel encaps");
  same(ss.read(), c.ss, "single-kernel encaps");
  row.paper_encaps_split = milliseconds(
      [&] {
        encaps_kernel<false><<<all, kThreads>>>(clients.data(), ct.data(), ss.data(), pk.data(), coins.data(), n);
        hash_kernel<<<hashes, 128>>>(clients.data(), ss.data(), nullptr, nullptr, n);
      },
      3);
  same(ss.read(), c.ss, "split encaps");
  row.paper_decaps = milliseconds(
      [&] { decaps_kernel<true><<<blocks, kThreads>>>(clients.data(), ss.data(), sk.data(), ct.data(), n); }, 3);
  same(ss.read(), c.ss, "single-kernel decaps");
  row.paper_decaps_split = milliseconds(
      [&] {
        decaps_kernel<false><<<all, kThreads>>>(clients.data(), ss.data(), sk.data(), ct.data(), n);
        hash_kernel<<<hashes, 128>>>(clients.data(), ss.data(), sk.data(), ct.data(), n);
      },
      3);
  same(ss.read(), c.ss, "split decaps");
}

/// Measures polykem's kernels on data on the GPU.
void own_kernels(CrowdRow& row, polykem_context* gpu, const Crowd& c) {
  const size_t n = row.count;
  const Device<uint8_t> pk(c.pk), sk(c.sk), coins(c.coins), ct(n * kPacked), ss(n * 32);
  size_t bytes = 0, more = 0;
  polykem_cuda_workspace(gpu, scheme(kScheme), POLYKEM_ENCAPS, n, &bytes);
  polykem_cuda_workspace(gpu, scheme(kScheme), POLYKEM_DECAPS, n, &more);
  const Device<uint8_t> workspace(std::max(bytes, more));
  const auto queue = [&](const polykem_request& r) {
    if (polykem_cuda_queue(gpu, &r, workspace.data(), nullptr) != POLYKEM_OK) die("polykem_cuda_queue");
  };
  auto e = request(POLYKEM_ENCAPS, n), d = request(POLYKEM_DECAPS, n);
  e.coins = coins.data();
  e.pk = pk.data();
  e.ct_out = ct.data();
  e.ss_out = ss.data();
  row.encaps = milliseconds([&] { queue(e); });
  same(ct.read(), c.ct, "polykem encaps");
  d.sk = sk.data();
  d.ct = ct.data();
  d.ss_out = ss.data();
  row.decaps = milliseconds([&] { queue(d); });
  same(ss.read(), c.ss, "polykem decaps");
}

CrowdRow crowd(size_t count, polykem_context* gpu, polykem_context* cpu, polykem_context* ref) {
  CrowdRow row{count};
  Crowd c = make_crowd(gpu, count);
  paper_kernels(row, c);
  own_kernels(row, gpu, c);
  std::vector<uint8_t> ss(count * 32), ct(count * kPacked);
  auto e = request(POLYKEM_ENCAPS, count), d = request(POLYKEM_DECAPS, count);
  e.pk = c.pk.data();
  e.ct_out = ct.data();
  e.ss_out = ss.data();
  d.sk = c.sk.data();
  d.ct = c.ct.data();
  d.ss_out = ss.data();
  const auto both = [&](polykem_context* on, double& encaps_ms, double& decaps_ms, int samples) {
    encaps_ms = wall(on, e, samples);
    decaps_ms = wall(on, d, samples);
    same(ss, c.ss, "host to host");
  };
  both(gpu, row.host_encaps, row.host_decaps, 5);
  if (cpu != nullptr && count <= 100000) both(cpu, row.cpu_encaps, row.cpu_decaps, 3);
  if (ref != nullptr && count <= 10000) both(ref, row.ref_encaps, row.ref_decaps, 1);
  return row;
}

// ---- one key, small batches, with transfers, without sampling and hashing

struct SharedRow {
  std::string name;
  size_t batch;
  double encrypt_ms, decrypt_ms;
};

/// For encapsulation, r and m go to the GPU as rows of bytes and ciphertexts come back. For decapsulation, ciphertexts
/// go to the GPU and r and m come back packed.
SharedRow shared_key(const char* name, size_t batch) {
  const auto& table = *cuda::loaded_module().table;
  const auto& encaps_op = table.scheme(name)->operation(Op::kEncaps);
  const auto& decaps_op = table.scheme(name)->operation(Op::kDecaps);
  const RecordBytes& sizes = encaps_op.record_bytes;
  polykem_context* gpu = context("cuda");
  std::vector<uint8_t> pk(sizes.pk), sk(sizes.sk), seed(32, 7);
  if (polykem_keygen(gpu, scheme(name), 1, pk.data(), sk.data()) != POLYKEM_OK) die("keygen");
  const Device<uint8_t> dpk(pk), dsk(sk), dct(batch * sizes.ct), dss(batch * 32), dseed(seed);
  const Device<uint8_t> workspace(std::max(encaps_op.workspace_bytes(batch), decaps_op.workspace_bytes(batch)));
  DeviceBatch io;
  io.count = batch;
  io.shared_key = true;
  io.seed = reinterpret_cast<const uint32_t*>(dseed.data());
  io.pk = dpk.data();
  io.sk = dsk.data();
  io.ct = io.ct_out = dct.data();
  io.ss_out = dss.data();
  auto* space = reinterpret_cast<std::byte*>(workspace.data());
  const auto step = [&](const DeviceOperation& op, const char* wanted) {
    size_t i = 0;
    while (i < op.steps.size() && std::strcmp(op.steps[i].info.name, wanted) != 0)
      ++i;
    if (i == op.steps.size()) die(std::string("the module has no step ") + wanted + ": see schemes/ntru/cuda/plan.cuh");
    check(static_cast<cudaError_t>(op.run_step(i, 0, io, space, nullptr)), wanted);
  };
  step(encaps_op, "coins");
  step(encaps_op, "sample_rm_pack");  // the workspace begins with the rows r and m, then rm
  const ntru::NtruParams& p = std::strcmp(name, "ntruhps2048509") == 0 ? ntru::kHps2048509 : ntru::kHps2048677;
  const size_t rows = 2 * batch * cuda::poly_stride(p.n);
  const size_t rm_bytes = 2 * p.trits_bytes(), rm_stride = (rm_bytes + 15) / 16 * 16;
  uint8_t *host_rows = nullptr, *host_ct = nullptr, *host_rm = nullptr;
  check(cudaHostAlloc(reinterpret_cast<void**>(&host_rows), rows, 0), "cudaHostAlloc");
  check(cudaHostAlloc(reinterpret_cast<void**>(&host_ct), batch * sizes.ct, 0), "cudaHostAlloc");
  check(cudaHostAlloc(reinterpret_cast<void**>(&host_rm), batch * rm_stride, 0), "cudaHostAlloc");
  check(cudaMemcpy(host_rows, space, rows, cudaMemcpyDeviceToHost), "copy");
  std::vector<uint8_t> expected(batch * rm_stride);
  check(cudaMemcpy(expected.data(), space + rows, expected.size(), cudaMemcpyDeviceToHost), "copy");
  SharedRow row{name, batch, 0, 0};
  row.encrypt_ms = milliseconds([&] {
    check(cudaMemcpyAsync(space, host_rows, rows, cudaMemcpyHostToDevice), "copy");
    step(encaps_op, "dpke_encrypt");
    check(cudaMemcpyAsync(host_ct, dct.data(), batch * sizes.ct, cudaMemcpyDeviceToHost), "copy");
  });
  row.decrypt_ms = milliseconds([&] {
    check(cudaMemcpyAsync(dct.data(), host_ct, batch * sizes.ct, cudaMemcpyHostToDevice), "copy");
    step(decaps_op, "dpke_decrypt_m");
    step(decaps_op, "dpke_decrypt_r");
    check(cudaMemcpyAsync(host_rm, space, batch * rm_stride, cudaMemcpyDeviceToHost), "copy");
  });
  for (size_t i = 0; i < batch; ++i) {
    if (std::memcmp(host_rm + i * rm_stride, expected.data() + i * rm_stride, rm_bytes) != 0)
      die("one key: decryption does not give what was encrypted");
  }
  cudaFreeHost(host_rows);
  cudaFreeHost(host_ct);
  cudaFreeHost(host_rm);
  polykem_context_free(gpu);
  return row;
}

// ---- report

void report(const std::vector<ScalingRow>& rows, std::ostream& json) {
  std::printf("\nOne block, speed-up of T threads over one\n%-18s %4s %10s", "operation", "regs", "T=1, us");
  for (int t = 2; t <= 1024; t *= 2)
    std::printf(" %7d", t);
  json << " \"one_block\": [";
  for (size_t r = 0; r < rows.size(); ++r) {
    const ScalingRow& row = rows[r];
    std::printf("\n%-18s %4d %10.1f", row.name.c_str(), row.registers, row.microseconds[0]);
    json << (r == 0 ? "\n" : ",\n") << "  {\"operation\": \"" << row.name << "\", \"registers\": " << row.registers
         << ", \"us\": [";
    for (size_t i = 0; i < row.microseconds.size(); ++i) {
      if (i > 0) std::printf(" %7.1f", row.microseconds[0] / row.microseconds[i]);
      json << (i == 0 ? "" : ", ") << row.microseconds[i];
    }
    json << "]}";
  }
  json << "],\n";
}

void report(const std::vector<CrowdRow>& rows, std::ostream& json) {
  std::printf(
      "\n\nMilliseconds for N clients (0: not run)\n%9s | %s\n", "N",
      "paper's kernels: encaps  split  decaps  split | polykem's kernels: encaps  decaps | host to host: encaps  "
      "decaps | CPU: encaps  decaps | ref: encaps  decaps");
  json << " \"crowd\": [";
  for (size_t r = 0; r < rows.size(); ++r) {
    const CrowdRow& w = rows[r];
    std::printf("%9zu | %9.3f %9.3f %9.3f %9.3f | %8.3f %8.3f | %8.3f %8.3f | %9.2f %9.2f | %9.1f %9.1f\n", w.count,
                w.paper_encaps, w.paper_encaps_split, w.paper_decaps, w.paper_decaps_split, w.encaps, w.decaps,
                w.host_encaps, w.host_decaps, w.cpu_encaps, w.cpu_decaps, w.ref_encaps, w.ref_decaps);
    json << (r == 0 ? "\n" : ",\n") << "  {\"n\": " << w.count << ", \"paper\": [" << w.paper_encaps << ", "
         << w.paper_encaps_split << ", " << w.paper_decaps << ", " << w.paper_decaps_split << "], \"kernels\": ["
         << w.encaps << ", " << w.decaps << "], \"host\": [" << w.host_encaps << ", " << w.host_decaps
         << "], \"cpu\": [" << w.cpu_encaps << ", " << w.cpu_decaps << "], \"ref\": [" << w.ref_encaps << ", "
         << w.ref_decaps << "]}";
  }
  json << "],\n";
}

void report(const std::vector<SharedRow>& rows, std::ostream& json) {
  std::printf("\nOne key, transfers in the timer, no sampling, no hashing\n");
  json << " \"one_key\": [";
  for (size_t r = 0; r < rows.size(); ++r) {
    const SharedRow& w = rows[r];
    const auto rate = [&](double ms) { return static_cast<double>(w.batch) / ms / 1e3; };
    std::printf("%s, batch %zu: encrypt %.2f M/s, decrypt %.2f M/s\n", w.name.c_str(), w.batch, rate(w.encrypt_ms),
                rate(w.decrypt_ms));
    json << (r == 0 ? "\n" : ",\n") << "  {\"set\": \"" << w.name << "\", \"batch\": " << w.batch
         << ", \"encrypt_ms\": " << w.encrypt_ms << ", \"decrypt_ms\": " << w.decrypt_ms << "}";
  }
  json << "]\n";
}

std::vector<ScalingRow> all_scaling(polykem_context* gpu) {
  const Crowd c = make_crowd(gpu, 1);
  const Device<uint8_t> pk(c.pk), sk(c.sk), ct(c.ct), ss(32);
  std::vector<Client> host(1);
  std::memset(&host[0], 0, sizeof host[0]);
  std::copy(c.coins.begin(), c.coins.end(), host[0].coins);
  const Device<Client> client(host);
  std::vector<ScalingRow> rows;
  const auto add_row = [&]<int kOperation>() {
    rows.push_back(scaling<kOperation>(client.data(), ct.data(), ss.data(), pk.data(), sk.data()));
  };
  [&]<int... kOperation>(std::integer_sequence<int, kOperation...>) {
    (add_row.template operator()<kOperation>(), ...);
  }
  (std::make_integer_sequence<int, kOperations>());
  return rows;
}

}  // namespace

int run_all(const char* json_path) {
  const auto& module = cuda::loaded_module();
  if (module.table == nullptr) die(module.problem);
  std::printf("%s, %s\n", module.table->device_info(0).name, kScheme);
  polykem_context *gpu = context("cuda"), *ref = context("ref");
  polykem_context* cpu = context("avx512");
  if (cpu == nullptr) cpu = context("avx2");
  const auto scaling_rows = all_scaling(gpu);
  std::vector<CrowdRow> crowds;
  for (size_t n = 10; n <= 1000000; n *= 10)
    crowds.push_back(crowd(n, gpu, cpu, ref));
  const std::vector<SharedRow> shared = {shared_key("ntruhps2048509", 496), shared_key("ntruhps2048677", 672)};
  std::ostringstream json;
  json << "{\n \"device\": \"" << module.table->device_info(0).name << "\", \"set\": \"" << kScheme
       << "\", \"version\": \"" << polykem_version() << "\", " << json_of(*module.table->build)
       << ", \"command\": \"bench/cuda/run.sh build-gpu seong2021\",\n";
  report(scaling_rows, json);
  report(crowds, json);
  report(shared, json);
  json << "}\n";
  if (json_path != nullptr) std::ofstream(json_path) << json.str();
  for (polykem_context* used : {gpu, ref, cpu})
    polykem_context_free(used);
  return 0;
}

}  // namespace polykem::seong2021

int main(int argc, char** argv) {
  return polykem::seong2021::run_all(argc > 1 ? argv[1] : nullptr);
}
