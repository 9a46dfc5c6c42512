// SPDX-License-Identifier: Apache-2.0
// Measures batches from host to host through the C API, and the bandwidth of PCIe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"
#include "core/usable_cpus.hpp"
#include "engine/job.hpp"
#include "polykem/polykem.h"

namespace polykem::bench {

/// The number of warm-up batches from host to host, after which every part is replayed as graphs, whichever resources
/// it has. Large batches gain nothing from replaying, so their warm-up ends after a second.
inline constexpr int kWarmUps = 32, kMinWarmUps = 4;
inline constexpr double kWarmUpMilliseconds = 1000;

struct HostResult {
  Op op;
  size_t items;
  bool pinned;
  double milliseconds;      ///< time of a batch alone
  double row_milliseconds;  ///< time of a batch in a sequence of batches; 0: not measured
  double pcie_milliseconds;
  double copy_milliseconds;  ///< time of the threads' copies to and from pinned memory; 0 if there are none
};

struct HostBytes {
  uint8_t* data = nullptr;
  size_t size;
  bool pinned;
  HostBytes(size_t bytes, bool pin) : size(bytes), pinned(pin) {
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

/// Bandwidth of PCIe from and to pinned memory with all GPUs at once, and of copies in the host's memory; bytes/s.
struct Rates {
  double in, out;
  double both;       ///< sum of both directions at once
  double host_copy;  ///< from ordinary memory to ordinary memory, by all CPUs

  /// Returns the least time on the bus for these bytes in each direction.
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

/// Returns how many bytes all CPUs together copy in a second.
inline double measure_host_copy() {
  const size_t threads = usable_cpus().count, share = Link::kBytes / threads;
  const HostBytes from(Link::kBytes, false), to(Link::kBytes, false);
  std::memset(from.data, 1, Link::kBytes);
  std::vector<double> seconds;
  for (int i = 0; i < kSamples; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads; ++t)
      workers.emplace_back([&, t] { std::memcpy(to.data + t * share, from.data + t * share, share); });
    for (std::thread& worker : workers)
      worker.join();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return static_cast<double>(threads * share) / *std::min_element(seconds.begin(), seconds.end());
}

inline Rates measure_rates(int devices) {
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
  const Rates result{rate(true, false), rate(false, true), rate(true, true), measure_host_copy()};
  links.clear();
  check(cudaSetDevice(0), "choosing a device");
  std::printf("PCIe: %.1f GB/s in, %.1f out, %.1f both at once; copies in the host's memory: %.1f GB/s\n",
              result.in / 1e9, result.out / 1e9, result.both / 1e9, result.host_copy / 1e9);
  return result;
}

/// The records of one batch, and its requests.
struct HostBatch {
  HostBytes pk, sk, ct, ss, ss2, texts;
  polykem_messages messages{};
  const size_t items;

  HostBatch(const Set& set, size_t count, bool pinned)
      : pk(count * set.info.public_key_bytes, pinned),
        sk(count * set.info.secret_key_bytes, pinned),
        ct(count * set.ciphertext_bytes(), pinned),
        ss(count * set.info.shared_secret_bytes, pinned),
        ss2(count * set.info.shared_secret_bytes, pinned),
        texts(count * kMessageBytes, pinned),
        items(count) {
    messages.struct_size = sizeof messages;
    messages.strings = {texts.data, nullptr, kMessageBytes, 0};
  }

  polykem_request request(const polykem_scheme* scheme, Op op) const {
    polykem_request r{};
    r.struct_size = sizeof r;
    r.op = c_op(op);
    r.key_mode = POLYKEM_KEY_PER_ITEM;
    r.scheme = scheme;
    r.count = items;
    if (op == Op::kKeygen) r.pk_out = pk.data, r.sk_out = sk.data;
    if (op == Op::kEncaps) r.pk = pk.data, r.ct_out = ct.data, r.ss_out = ss.data;
    if (op == Op::kDecaps) r.sk = sk.data, r.ct = ct.data, r.ss_out = ss2.data;
    if (op == Op::kSign) r.sk = sk.data, r.messages = &messages, r.sig_out = ct.data;
    if (op == Op::kVerify) r.pk = pk.data, r.messages = &messages, r.sig = ct.data;
    return r;
  }
  bool agrees() const { return std::memcmp(ss.data, ss2.data, ss.size) == 0; }
};

inline double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs warm-up batches and returns how many.
inline int warm_up(const Context& gpu, const polykem_request& request, const std::string& name) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kWarmUps; ++i) {
    if (i >= kMinWarmUps && milliseconds_since(begin) > kWarmUpMilliseconds) return i;
    check(polykem_run(gpu.context, &request), name);
  }
  return kWarmUps;
}

/// Returns the median time of a batch while nothing else runs.
inline double alone(const Context& gpu, const polykem_request& request, const std::string& name) {
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    check(polykem_run(gpu.context, &request), name);
    samples.push_back(milliseconds_since(begin));
  }
  return median(samples);
}

/// Returns the median time of a batch while another one is always in progress, as in a server. Neighbouring batches
/// share the GPU and may end together, so each sample is half the time from the end of a batch to that of the next but
/// one.
inline double in_a_row(const Context& gpu, const polykem_request (&requests)[2], int batches, const std::string& name) {
  constexpr int kUnderWay = 2;
  polykem_job* jobs[kUnderWay] = {};
  std::vector<double> ends, samples;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < batches + 3 * kUnderWay; ++i) {
    polykem_job*& job = jobs[i % kUnderWay];
    if (job != nullptr) {
      check(polykem_job_wait(job), name);
      ends.push_back(milliseconds_since(begin));
    }
    polykem_job_free(job);
    check(polykem_submit(gpu.context, &requests[i % kUnderWay], nullptr, nullptr, &job), name);
  }
  for (polykem_job* job : jobs) {
    check(polykem_job_wait(job), name);
    polykem_job_free(job);
  }
  for (size_t i = 2 * kUnderWay; i < ends.size(); ++i)
    samples.push_back((ends[i] - ends[i - kUnderWay]) / kUnderWay);
  return median(samples);
}

/// with_row: also measures a sequence of batches.
inline std::vector<HostResult> host_to_host(const Rates& rates, const Set& set, size_t items, bool pinned,
                                            bool with_row) {
  const Context gpu("cuda");
  const HostBatch batch(set, items, pinned), second(set, with_row ? items : 1, pinned);
  const auto pk = static_cast<double>(set.info.public_key_bytes), sk = static_cast<double>(set.info.secret_key_bytes);
  const auto ct = static_cast<double>(set.ciphertext_bytes()), ss = static_cast<double>(set.info.shared_secret_bytes);
  constexpr double kText = kMessageBytes;
  std::vector<HostResult> results;
  for (const Op op : set.ops()) {
    const double ins[] = {0, pk, sk + ct, sk + kText, pk + ct + kText}, outs[] = {pk + sk, ct + ss, ss, ct, 0};
    const double in = ins[static_cast<size_t>(op)], out = outs[static_cast<size_t>(op)];
    const double bytes_in = in * static_cast<double>(items), bytes_out = out * static_cast<double>(items);
    const polykem_request requests[] = {batch.request(set.scheme, op), second.request(set.scheme, op)};
    const int warm_ups = warm_up(gpu, requests[0], set.name());
    HostResult result{.op = op,
                      .items = items,
                      .pinned = pinned,
                      .milliseconds = alone(gpu, requests[0], set.name()),
                      .row_milliseconds = 0,
                      .pcie_milliseconds = rates.milliseconds(bytes_in, bytes_out),
                      .copy_milliseconds = pinned ? 0 : (bytes_in + bytes_out) / rates.host_copy * 1e3};
    if (with_row)
      result.row_milliseconds = in_a_row(gpu, requests, warm_ups < kWarmUps ? kSamples : 4 * kSamples, set.name());
    results.push_back(result);
  }
  if (!batch.agrees() || (with_row && !second.agrees())) die(set.name() + ": the two sides have different secrets");
  if (chunk_fallbacks() != 0) die(set.name() + ": the GPU failed and the CPU took over");
  return results;
}

}  // namespace polykem::bench
