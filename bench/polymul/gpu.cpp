// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <array>

#include "cuda/cuda_polymul.hpp"
#include "polymul.hpp"

namespace polykem::bench {

namespace {

constexpr const char* kFileName = "libpolykem_bench_polymul.so";

std::string program_folder() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string program(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1);
}

using Entry = decltype(&polykem_bench_cuda_polymul);

Entry load(std::string& problem) {
  for (const std::string& folder : {program_folder(), program_folder() + "../lib/"}) {
    const std::string path = folder + kFileName;
    if (access(path.c_str(), R_OK) != 0) continue;
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never unloaded: the driver keeps threads
    const auto entry = handle == nullptr ? nullptr : reinterpret_cast<Entry>(dlsym(handle, kCudaPolymulEntry));
    if (entry == nullptr) problem = dlerror();
    return entry;
  }
  problem = std::string(kFileName) + " was not found beside this program; it is built where there is a CUDA compiler";
  return nullptr;
}

struct Sink {
  PolymulReport* report;
  const PolymulProgress* progress;
};

void take(void* user, const CudaPolymulRow* row) {
  const auto& sink = *static_cast<Sink*>(user);
  sink.report->rows.push_back({"cuda", row->multiplier, row->kind, row->shared, row->n, row->batch, row->seconds * 1e9,
                               row->floor_seconds * 1e9, row->chosen != 0});
  if (*sink.progress) (*sink.progress)(sink.report->rows.back());
}

}  // namespace

PolymulReport polymul_on_gpu(const PolymulRequest& request, const PolymulProgress& progress) {
  PolymulReport report;
  report.time_unit = "ns";
  const Entry measure = load(report.problem);
  if (measure == nullptr) return report;
  Sink sink{&report, &progress};
  CudaPolymulJob job{};
  job.degrees = request.degrees.data();
  job.degree_count = request.degrees.size();
  job.batches = request.batches.data();
  job.batch_count = request.batches.size();
  job.check_only = request.check_only ? 1 : 0;
  job.user = &sink;
  job.row = take;
  report.wrong = measure(&job) == CudaPolymulOutcome::wrong;
  report.checked = job.checked;
  report.device = job.device;
  report.problem = job.problem;
  report.ceilings = job.ceilings;
  return report;
}

}  // namespace polykem::bench
