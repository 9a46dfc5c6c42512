// SPDX-License-Identifier: Apache-2.0
// Measures NVIDIA's cuPQC as bench/cuda measures polykem: kernels only, all data on the GPU, the median of nine. Each
// operation is measured with several block sizes, of which the fastest counts.
//   polykem_bench_cupqc [--items N]... [--json FILE]
// `ref` must decapsulate the last ciphertexts to the same secrets. Written from the public documentation of cuPQC,
// https://docs.nvidia.com/cuda/cupqc
#include <pk.hpp>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "bench/cuda/common.hpp"
#include "bench/cuda/timing.hpp"
#include "core/build_info.hpp"

namespace polykem::bench {
namespace {

using cupqc::function;

/// Computes one item in a block.
template <class Kem>
__global__ void keygen_kernel(uint8_t* pk, uint8_t* sk, uint8_t* workspace, uint8_t* entropy) {
  __shared__ alignas(8) uint8_t shared[Kem::shared_memory_size];
  const size_t i = blockIdx.x;
  Kem().execute(pk + i * Kem::public_key_size, sk + i * Kem::secret_key_size, entropy + i * Kem::entropy_size,
                workspace + i * Kem::workspace_size, shared);
}

template <class Kem>
__global__ void encaps_kernel(uint8_t* ct, uint8_t* ss, const uint8_t* pk, uint8_t* workspace, uint8_t* entropy) {
  __shared__ alignas(8) uint8_t shared[Kem::shared_memory_size];
  const size_t i = blockIdx.x;
  Kem().execute(ct + i * Kem::ciphertext_size, ss + i * Kem::shared_secret_size, pk + i * Kem::public_key_size,
                entropy + i * Kem::entropy_size, workspace + i * Kem::workspace_size, shared);
}

template <class Kem>
__global__ void decaps_kernel(uint8_t* ss, const uint8_t* ct, const uint8_t* sk, uint8_t* workspace) {
  __shared__ alignas(8) uint8_t shared[Kem::shared_memory_size];
  const size_t i = blockIdx.x;
  Kem().execute(ss + i * Kem::shared_secret_size, ct + i * Kem::ciphertext_size, sk + i * Kem::secret_key_size,
                workspace + i * Kem::workspace_size, shared);
}

/// The memory of an operation besides keys, ciphertexts and secrets.
template <class Kem, bool kWithEntropy>
struct Buffers {
  uint8_t *workspace, *entropy = nullptr;
  explicit Buffers(size_t items) : workspace(cupqc::make_workspace<Kem>(items)) {
    if constexpr (kWithEntropy) entropy = cupqc::get_entropy<Kem>(items);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    cupqc::destroy_workspace(workspace);
    if (entropy != nullptr) cupqc::release_entropy(entropy);
  }
};

template <class Set, function kFunction, unsigned kThreads>
using Kem = decltype(Set() + cupqc::Function<kFunction>() + cupqc::Block() + cupqc::BlockDim<kThreads>());

struct Best {
  double milliseconds = 1e30;
  unsigned threads = 0;
};

struct SetResult {
  std::string name;
  size_t items;
  Best ops[3];
};

/// Batches of one set. Both libraries have the sizes of FIPS 203.
template <class CupqcSet>
class Measurement {
 public:
  Measurement(const Set& set, size_t items)
      : set_(set),
        items_(items),
        pk_(items * set.info.public_key_bytes),
        sk_(items * set.info.secret_key_bytes),
        ct_(items * set.info.ciphertext_bytes),
        ss_(items * set.info.shared_secret_bytes),
        ss2_(items * set.info.shared_secret_bytes) {}

  SetResult run() {
    SetResult result{set_.name(), items_, {}};
    all_sizes<32, 64, 128, 256>(result);
    check_secrets();
    return result;
  }

 private:
  template <unsigned... kThreads>
  void all_sizes(SetResult& result) {
    (keygen<kThreads>(result.ops[0]), ...);
    (encaps<kThreads>(result.ops[1]), ...);
    (decaps<kThreads>(result.ops[2]), ...);
  }

  template <unsigned kThreads>
  void keygen(Best& best) {
    using K = Kem<CupqcSet, function::Keygen, kThreads>;
    const Buffers<K, true> own(items_);
    measure<kThreads>(
        best, [&] { keygen_kernel<K><<<blocks(), K::BlockDim>>>(pk_.data, sk_.data, own.workspace, own.entropy); });
  }
  template <unsigned kThreads>
  void encaps(Best& best) {
    using K = Kem<CupqcSet, function::Encaps, kThreads>;
    const Buffers<K, true> own(items_);
    measure<kThreads>(best, [&] {
      encaps_kernel<K><<<blocks(), K::BlockDim>>>(ct_.data, ss_.data, pk_.data, own.workspace, own.entropy);
    });
  }
  template <unsigned kThreads>
  void decaps(Best& best) {
    using K = Kem<CupqcSet, function::Decaps, kThreads>;
    const Buffers<K, false> own(items_);
    measure<kThreads>(
        best, [&] { decaps_kernel<K><<<blocks(), K::BlockDim>>>(ss2_.data, ct_.data, sk_.data, own.workspace); });
  }

  template <unsigned kThreads, class Launch>
  static void measure(Best& best, Launch launch) {
    const double ms = gpu_milliseconds(launch);
    if (ms < best.milliseconds) best = {ms, kThreads};
  }
  unsigned blocks() const { return static_cast<unsigned>(items_); }

  static std::vector<uint8_t> read(const DeviceBytes& from, size_t offset, size_t bytes) {
    std::vector<uint8_t> out(bytes);
    check(cudaMemcpy(out.data(), from.data + offset, bytes, cudaMemcpyDeviceToHost), "copy");
    return out;
  }

  void check_secrets() const {
    const auto& info = set_.info;
    if (read(ss_, 0, ss_.size) != read(ss2_, 0, ss2_.size)) die(set_.name() + ": the two sides have different secrets");
    const size_t count = std::min<size_t>(items_, 4), first = items_ - count;
    const Context ref("ref");
    const auto sk = read(sk_, first * info.secret_key_bytes, count * info.secret_key_bytes);
    const auto ct = read(ct_, first * info.ciphertext_bytes, count * info.ciphertext_bytes);
    std::vector<uint8_t> ss(count * info.shared_secret_bytes);
    check(
        polykem_decaps(ref.context, set_.scheme, count, POLYKEM_KEY_PER_ITEM, sk.data(), ct.data(), ss.data(), nullptr),
        info.name);
    if (ss != read(ss_, first * info.shared_secret_bytes, ss.size())) die(set_.name() + ": ref has other secrets");
  }

  const Set& set_;
  const size_t items_;
  DeviceBytes pk_, sk_, ct_, ss_, ss2_;
};

template <class CupqcSet>
SetResult measure(const char* name, size_t items) {
  const polykem_scheme* found = nullptr;
  check(polykem_scheme_find(name, &found), name);
  const Set set(found);
  SetResult result = Measurement<CupqcSet>(set, items).run();
  for (int op = 0; op < 3; ++op)
    std::printf("%s %s, %zu items: %.2f M/s with %u threads\n", name, kOpNames[op], items,
                1e-3 * static_cast<double>(items) / result.ops[op].milliseconds, result.ops[op].threads);
  std::fflush(stdout);
  return result;
}

void write_json(const std::string& path, const char* device, const std::string& command,
                const std::vector<SetResult>& sets) {
  std::ofstream out(path);
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  out << "{\n \"device\": \"" << device << "\", \"devices\": 1, \"cuda\": " << runtime
      << ", \"peer\": \"cuPQC\",\n \"source\": \"research/cupqc\",\n " << json_of(kBuild) << ",\n \"command\": \""
      << command << "\",\n \"samples\": " << kSamples << ",\n \"sets\": [";
  const char* between = "\n";
  for (const SetResult& s : sets) {
    out << between << "  {\"name\": \"" << s.name << "\", \"family\": \"mlkem\", \"items\": " << s.items
        << ", \"resident\": [";
    for (int op = 0; op < 3; ++op) {
      out << (op == 0 ? "" : ", ") << "{\"op\": \"" << kOpNames[op] << "\", \"per_second\": "
          << static_cast<long long>(1e3 * static_cast<double>(s.items) / s.ops[op].milliseconds)
          << ", \"threads\": " << s.ops[op].threads << "}";
    }
    out << "]}";
    between = ",\n";
  }
  out << "\n ]\n}\n";
  out.close();
  if (!out) die("cannot write " + path);
}

int run(int argc, char** argv) {
  std::vector<size_t> items;
  std::string json, command = "polykem_bench_cupqc";
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) die("usage: [--items N]... [--json FILE]");
    if (std::strcmp(argv[i], "--items") == 0) {
      items.push_back(std::strtoul(argv[i + 1], nullptr, 10));
      command.append(" --items ").append(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--json") == 0) {
      json = argv[i + 1];
    } else {
      die("usage: [--items N]... [--json FILE]");
    }
  }
  if (items.empty()) items = {10000, 100000, 500000};
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  std::vector<SetResult> results;
  for (const size_t count : items) {
    results.push_back(measure<decltype(cupqc::ML_KEM_512())>("mlkem512", count));
    results.push_back(measure<decltype(cupqc::ML_KEM_768())>("mlkem768", count));
    results.push_back(measure<decltype(cupqc::ML_KEM_1024())>("mlkem1024", count));
  }
  if (!json.empty()) write_json(json, properties.name, command, results);
  return 0;
}

}  // namespace
}  // namespace polykem::bench

int main(int argc, char** argv) {
  return polykem::bench::run(argc, argv);
}
