// SPDX-License-Identifier: Apache-2.0
// Compares CKKS on a GPU with the CPU through the C API, to the bit: every operation and random circuits. Then
// measures.
//   polykem_gpu_ckks_api [check|time|all] [FILE.json]
// Exits with 1 if a word is wrong or a call fails, with 77 if there is no GPU.
#include <chrono>

#include "api_checks.hpp"
#include "core/build_info.hpp"

namespace {

using namespace polykem::ckks::test;

constexpr ApiSet kNarrow{12, 30, 30, 6, 3, 2}, kWide{12, 50, 60, 6, 3, 2};

/// Returns false if there is no usable GPU.
bool has_gpu() {
  const uint64_t q = 0xffffee001;  // 1 mod 2^13
  const polykem_ckks_parameters parameters{sizeof parameters, 12, 1, &q, nullptr, 0, nullptr, nullptr, 1, 1, 1};
  polykem_ckks_context* context = nullptr;
  must(polykem_ckks_context_new(&parameters, &context), "a context");
  const ContextHandle owner(context);
  polykem_ckks_device* device = nullptr;
  const polykem_ckks_status status = polykem_ckks_device_open(context, 0, 0, &device);
  polykem_ckks_device_free(device);
  if (status == POLYKEM_CKKS_ERR_DEVICE) {
    std::printf("skipped: %s\n", polykem_ckks_error_text());
    return false;
  }
  must(status, "a device");
  return true;
}

void say(const char* what, const ApiSet& set, const ApiVerdict& verdict) {
  std::printf("%s, 2^%u, %zu + %zu primes of %u bits, %u digits: %zu words compared, %zu faults\n", what, set.log_n,
              set.q_count, set.p_count, set.q_bits, set.digits, verdict.words(), verdict.faults());
  std::fflush(stdout);
}

bool check_all() {
  ApiVerdict verdict;
  for (const ApiSet& set : {kNarrow, kWide}) {
    for (const size_t scratch : {size_t{0}, size_t{4} << 20}) {
      ApiWorld world(set, scratch);
      for (const size_t batch : {1, 5, 33}) {
        ApiCalls(world, verdict).every(batch, set.q_count);
        ApiCalls(world, verdict).every(batch, 3);
        ApiCalls(world, verdict).circuit(batch, 40);
      }
      say(scratch == 0 ? "batches of 1, 5, 33" : "the same in small parts", set, verdict);
    }
  }
  for (const ApiSet& set : {ApiSet{13, 30, 30, 7, 2, 4}, ApiSet{14, 60, 60, 5, 2, 3}, ApiSet{15, 28, 30, 9, 9, 1},
                            ApiSet{16, 30, 30, 12, 3, 4}, ApiSet{16, 50, 60, 6, 2, 3}}) {
    ApiWorld world(set);
    ApiCalls(world, verdict).every(2, set.q_count);
    ApiCalls(world, verdict).circuit(3, 20);
    say("all operations, a circuit", set, verdict);
  }
  std::printf("%zu words compared, %zu of %zu checks failed\n", verdict.words(), verdict.faults(), verdict.checked());
  return verdict.faults() == 0;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the median of five passes, each of which queues calls and waits for them.
template <typename Call>
double seconds_of(const ApiWorld& world, int repetitions, const Call& call) {
  const auto pass = [&](int calls) {
    const double begin = now();
    for (int i = 0; i < calls; ++i)
      call();
    must(polykem_ckks_device_wait(world.device()), "computing");
    return (now() - begin) / calls;
  };
  pass(3);
  double times[5];
  for (double& time : times)
    time = pass(repetitions);
  std::sort(times, times + 5);
  return times[2];
}

class Times {
 public:
  void add(const char* what, const ApiWorld& world, size_t batch, double seconds) {
    const ApiSet& set = world.set();
    const double rate = static_cast<double>(batch) / seconds;
    const unsigned security = polykem_ckks_security_bits(world.context());
    std::printf("%-10s 2^%u %3zu + %zu primes of %u bits (%s), batch %3zu: %10.1f us a call, %9.0f a second\n", what,
                set.log_n, set.q_count, set.p_count, set.q_bits, security != 0 ? "128 bits of security" : "not secure",
                batch, seconds * 1e6, rate);
    std::fflush(stdout);
    char row[300];
    std::snprintf(row, sizeof row,
                  "  {\"what\": \"%s\", \"log_n\": %u, \"q\": %zu, \"p\": %zu, \"bits\": %u, \"digits\": %u, "
                  "\"security_bits\": %u, \"batch\": %zu, \"seconds\": %.9f, \"per_second\": %.1f}",
                  what, set.log_n, set.q_count, set.p_count, set.q_bits, set.digits, security, batch, seconds, rate);
    rows_ += (rows_.empty() ? "" : ",\n") + std::string(row);
  }
  bool write(const char* path) const {
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) {
      std::perror(path);
      return false;
    }
    std::fprintf(file, "{%s, \"command\": \"tests/gpu/run.sh build-gpu ckks\", \"timings\": [\n%s\n]}\n",
                 polykem::json_of(polykem::kBuild).c_str(), rows_.c_str());
    return std::fclose(file) == 0;
  }

 private:
  std::string rows_;
};

CiphertextsHandle on_device(ApiWorld& world, size_t batch) {
  return random_ciphertexts(world, batch, 2, world.set().q_count).there;
}

template <typename Call>
CiphertextsHandle made(const Call& call) {
  polykem_ckks_ciphertexts* out = nullptr;
  must(call(&out), "an operation");
  return CiphertextsHandle(out);
}

void time_batch(ApiWorld& world, size_t batch, Times& times) {
  const polykem_ckks_context* const c = world.context();
  const CiphertextsHandle a = on_device(world, batch), b = on_device(world, batch);
  const auto multiply = [&] {
    return made([&](auto** out) { return polykem_ckks_combine(c, POLYKEM_CKKS_MUL, a.get(), b.get(), out); });
  };
  const int repetitions = batch < 16 ? 50 : 10;
  times.add("HMULT", world, batch, seconds_of(world, repetitions, [&] {
              const CiphertextsHandle product = multiply();
              made([&](auto** out) { return polykem_ckks_relinearise(c, product.get(), world.key(true), out); });
            }));
  const uint64_t g = polykem_ckks_rotation_element(c, 1);
  times.add("rotate", world, batch, seconds_of(world, repetitions, [&] {
              made([&](auto** out) { return polykem_ckks_automorphism(c, a.get(), g, world.key(true), out); });
            }));
  times.add("rescale", world, batch, seconds_of(world, repetitions, [&] {
              made([&](auto** out) { return polykem_ckks_rescale(c, a.get(), out); });
            }));
  times.add("add", world, batch, seconds_of(world, repetitions, [&] {
              made([&](auto** out) { return polykem_ckks_combine(c, POLYKEM_CKKS_ADD, a.get(), b.get(), out); });
            }));
}

bool time_all(const char* path) {
  Times times;
  // The moduli of the other libraries' figures, 1,800 bits, and one within the 1,747 bits of 128 bits of security.
  for (const size_t limbs : {size_t{48}, size_t{46}}) {
    ApiWorld world({16, 30, 30, limbs, 12, 4});
    for (const size_t batch : {1, 4, 16, 32})
      time_batch(world, batch, times);
  }
  ApiWorld wide({16, 50, 60, 24, 6, 4});
  time_batch(wide, 4, times);
  return path == nullptr || times.write(path);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "all";
  if (what != "check" && what != "time" && what != "all") {
    std::fputs("usage: polykem_gpu_ckks_api [check|time|all] [FILE.json]\n", stderr);
    return 2;
  }
  if (!has_gpu()) return 77;
  if (what != "time" && !check_all()) return 1;
  if (what != "check" && !time_all(count > 2 ? arguments[2] : nullptr)) return 1;
  return 0;
}
