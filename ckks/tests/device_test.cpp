// SPDX-License-Identifier: Apache-2.0
// Tests the C API for GPUs with a module whose kernels are compiled for the CPU (host_shim): its results, and its
// errors if memory or the GPU is missing or an operand is elsewhere.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "api_checks.hpp"
#include "host_shim/memory_shim.hpp"

namespace polykem::ckks::test {
namespace {

constexpr const char* kModule = POLYKEM_CKKS_CPU_MODULE;
/// Sets a variable that the library reads when the first device is opened.
[[maybe_unused]] const int kSet = setenv("POLYKEM_CKKS_CUDA_MODULE", kModule, 1);

ShimMemory& shim() {
  static ShimMemory* const memory = [] {
    void* const handle = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
    void* const entry = handle == nullptr ? nullptr : dlsym(handle, "polykem_shim_memory");
    if (entry == nullptr) std::abort();
    return reinterpret_cast<ShimMemory* (*)()>(entry)();
  }();
  return *memory;
}

constexpr ApiSet kNarrow{12, 30, 30, 3, 2, 2}, kWide{12, 50, 60, 3, 2, 2};

struct CkksDevice : testing::Test {
  ApiVerdict verdict;
  size_t used = shim().used;

  void TearDown() override {
    shim().limit = shim().calls_left = ~size_t{0};
    shim().devices = 1;
    shim().compute_major = 9;
    *shim().loading = 0;
    EXPECT_EQ(verdict.faults(), 0U);
    EXPECT_EQ(shim().used, used) << "memory of the device that nobody freed";
  }
};

TEST_F(CkksDevice, ComputesAsTheCpu) {
  for (const ApiSet& set : {kNarrow, kWide}) {
    ApiWorld world(set);
    ApiCalls(world, verdict).every(2, 3);
    ApiCalls(world, verdict).every(1, 2);
  }
  EXPECT_GT(verdict.words(), 100000U);
}

TEST_F(CkksDevice, RandomCircuits) {
  for (const ApiSet& set : {ApiSet{12, 30, 30, 4, 1, 4}, kWide}) {
    ApiWorld world(set);
    ApiCalls(world, verdict).circuit(2, 6);
  }
}

TEST_F(CkksDevice, ScratchStaysBelowItsBound) {
  constexpr size_t kRow = 4096 * sizeof(uint32_t), kEach = (2 * 5 + 2 * 5 + 2 * 6) * kRow;
  ApiWorld world(kNarrow, 2 * kEach);
  const BothCiphertexts a = random_ciphertexts(world, 3, 2, 3);
  ApiCalls calls(world, verdict);
  calls.automorphism(a, 5);  // makes the constants
  const size_t before = shim().max_used = shim().used;
  calls.automorphism(a, 5);
  EXPECT_LE(shim().max_used - before, 2 * kEach + 3 * 6 * kRow) << "two ciphertexts' scratch and the result";
  calls.relinearise(calls.combine(POLYKEM_CKKS_MUL, a, a));
  calls.rescale(a);
}

TEST_F(CkksDevice, TakesLessScratchWhereMemoryIsShort) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 4, 2, 3);
  ApiCalls calls(world, verdict);
  calls.automorphism(a, 5);
  shim().limit = shim().used + 4 * 6 * 16384 + 40 * 16384;
  calls.automorphism(a, 5);
}

TEST_F(CkksDevice, WaitsForMemoryThatWillBeFree) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3);
  ApiCalls calls(world, verdict);
  calls.combine(POLYKEM_CKKS_ADD, a, a);  // allocates memory that later calls use again
  shim().waiting = size_t{1} << 30;
  shim().limit = shim().used + (size_t{1} << 30);
  calls.combine(POLYKEM_CKKS_ADD, a, a);
  EXPECT_EQ(shim().waiting, 0U);
}

TEST_F(CkksDevice, AChildHasNoDevice) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3);
  const pid_t child = fork();
  if (child == 0) {
    polykem_ckks_ciphertexts* out = nullptr;
    const bool refused = polykem_ckks_negate(world.context(), a.there.get(), &out) == POLYKEM_CKKS_ERR_DEVICE &&
                         std::strstr(polykem_ckks_error_text(), "the process alone that opened it") != nullptr;
    polykem_ckks_ciphertexts* copy = nullptr;
    (void)polykem_ckks_with_scale(world.context(), a.there.get(), 1, &copy);
    polykem_ckks_ciphertexts_free(copy);
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(CkksDevice, OutOfMemoryIsAnError) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 2, 3, 3);
  polykem_ckks_ciphertexts* out = nullptr;
  const auto attempt = [&] { return polykem_ckks_relinearise(world.context(), a.there.get(), world.key(true), &out); };
  polykem_ckks_status status = POLYKEM_CKKS_ERR_INTERNAL;
  for (size_t calls = 0; status != POLYKEM_CKKS_OK; ++calls) {
    ASSERT_LT(calls, 100U);
    shim().calls_left = calls;
    status = attempt();
    if (status == POLYKEM_CKKS_OK) continue;
    EXPECT_EQ(status, POLYKEM_CKKS_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(out, nullptr);
    EXPECT_NE(std::string(polykem_ckks_error_text()).find("GPU 0: "), std::string::npos) << polykem_ckks_error_text();
  }
  polykem_ckks_ciphertexts_free(out);
  polykem_ckks_device* device = nullptr;
  for (size_t calls = 0; calls < 3; ++calls) {
    shim().calls_left = calls;
    EXPECT_EQ(polykem_ckks_device_open(world.context(), 0, 0, &device), POLYKEM_CKKS_ERR_OUT_OF_MEMORY);
  }
  shim().calls_left = 0;
  EXPECT_EQ(polykem_ckks_ciphertexts_to_device(world.device(), a.here.get(), &out), POLYKEM_CKKS_ERR_OUT_OF_MEMORY);
}

TEST_F(CkksDevice, CardsWithoutCodeAreRefusedAtOpen) {
  ApiWorld world(kNarrow);
  const auto refusal = [&] {
    polykem_ckks_device* device = nullptr;
    EXPECT_EQ(polykem_ckks_device_open(world.context(), 0, 0, &device), POLYKEM_CKKS_ERR_DEVICE);
    return std::string(polykem_ckks_error_text());
  };
  shim().compute_major = 8;
  EXPECT_EQ(refusal(), "GPU 0: Simulated GPU has compute capability 8.0; CKKS needs 9.0 or newer");
  shim().compute_major = 12;
  *shim().loading = 209;  // cudaErrorNoKernelImageForDevice
  EXPECT_EQ(refusal(),
            "GPU 0: the module has code for 9.0, 10.0, not for Simulated GPU, compute capability 12.0: "
            "make cuda ARCHS=120");
  *shim().loading = 222;  // cudaErrorUnsupportedPtxVersion
  EXPECT_NE(refusal().find("12.0 (an error): make cuda ARCHS=120"), std::string::npos);
}

TEST_F(CkksDevice, PlacesMustAgree) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3), product = random_ciphertexts(world, 1, 3, 3);
  const BothPlaintexts number = random_plaintexts(world, 1, 3);
  polykem_ckks_device* second = nullptr;
  must(polykem_ckks_device_open(world.context(), 0, 0, &second), "a device");
  const DeviceHandle owner(second);
  polykem_ckks_ciphertexts *other = nullptr, *out = nullptr;
  must(polykem_ckks_ciphertexts_to_device(second, a.here.get(), &other), "a copy");
  const CiphertextsHandle there_too(other);
  const auto refused = [&](polykem_ckks_status status) {
    EXPECT_EQ(status, POLYKEM_CKKS_ERR_DEVICE);
    EXPECT_EQ(out, nullptr);
  };
  const polykem_ckks_context* const context = world.context();
  refused(polykem_ckks_combine(context, POLYKEM_CKKS_ADD, a.here.get(), a.there.get(), &out));
  refused(polykem_ckks_combine(context, POLYKEM_CKKS_MUL, other, a.there.get(), &out));
  refused(polykem_ckks_combine_plain(context, POLYKEM_CKKS_ADD, a.there.get(), number.here.get(), &out));
  refused(polykem_ckks_combine_plain(context, POLYKEM_CKKS_MUL, a.here.get(), number.there.get(), &out));
  refused(polykem_ckks_relinearise(context, product.there.get(), world.key(false), &out));
  refused(polykem_ckks_relinearise(context, product.here.get(), world.key(true), &out));
  refused(polykem_ckks_automorphism(context, other, 5, world.key(true), &out));
  refused(polykem_ckks_ciphertexts_to_device(second, a.there.get(), &out));
  std::vector<double> values(world.n());
  EXPECT_EQ(polykem_ckks_decode(context, number.there.get(), values.data(), world.n() / 2), POLYKEM_CKKS_ERR_DEVICE);
  polykem_ckks_secret_key* secret = nullptr;
  must(polykem_ckks_secret_key_generate(context, &secret), "a key");
  const SecretKeyHandle secret_owner(secret);
  polykem_ckks_plaintexts* decrypted = nullptr;
  EXPECT_EQ(polykem_ckks_decrypt(context, secret, a.there.get(), &decrypted), POLYKEM_CKKS_ERR_DEVICE);
  EXPECT_EQ(polykem_ckks_switching_key_place(world.key(true)), 0);
  size_t count = 1;
  EXPECT_EQ(polykem_ckks_switching_key_words(world.key(true), &count), nullptr);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(polykem_ckks_plaintexts_place(number.there.get()), 0);
  EXPECT_EQ(polykem_ckks_plaintexts_words(number.there.get(), nullptr), nullptr);
}

TEST_F(CkksDevice, PlaintextsGoBackAndAreZeroized) {
  ApiWorld world(kWide);
  BothPlaintexts a = random_plaintexts(world, 2, 3);
  polykem_ckks_plaintexts* back = nullptr;
  must(polykem_ckks_plaintexts_to_host(a.there.get(), &back), "copying back");
  const PlaintextsHandle owner(back);
  const uint64_t* const words = polykem_ckks_plaintexts_words(a.here.get(), nullptr);
  EXPECT_TRUE(std::equal(words, words + 2 * 3 * world.n(), polykem_ckks_plaintexts_words(back, nullptr)));
  const size_t zeroized = shim().zeroized;
  a.there.reset();
  EXPECT_EQ(shim().zeroized - zeroized, 2 * 3 * world.n() * sizeof(uint64_t));
}

TEST_F(CkksDevice, ObjectsOutliveTheDevice) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3);
  world.device_handle().reset();
  ApiCalls(world, verdict).automorphism(a, 5);
}

TEST_F(CkksDevice, SeveralThreadsUseOne) {
  ApiWorld world(kNarrow);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3);
  std::vector<ApiVerdict> verdicts(3);
  std::vector<std::thread> threads;
  for (ApiVerdict& own : verdicts)
    threads.emplace_back([&world, &a, &own] {
      ApiCalls calls(world, own);
      calls.rescale(calls.relinearise(calls.combine(POLYKEM_CKKS_MUL, a, a)));
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const ApiVerdict& own : verdicts)
    EXPECT_EQ(own.faults(), 0U);
}

/// The error for a set without ring 2^12, or with too many digits.
polykem_ckks_status opening(const ApiSet& set, int ordinal) {
  std::vector<uint64_t> q(set.q_count), p(set.p_count);
  must(polykem_ckks_find_primes(set.log_n, set.q_bits, q.size(), nullptr, 0, q.data()), "finding primes");
  must(polykem_ckks_find_primes(set.log_n, set.p_bits, p.size(), q.data(), q.size(), p.data()), "finding primes");
  const polykem_ckks_parameters parameters{sizeof parameters, set.log_n, q.size(),   q.data(), nullptr, p.size(),
                                           p.data(),          nullptr,   set.digits, 1,        1};
  polykem_ckks_context* context = nullptr;
  must(polykem_ckks_context_new(&parameters, &context), "a context");
  const ContextHandle owner(context);
  polykem_ckks_device* device = nullptr;
  const polykem_ckks_status status = polykem_ckks_device_open(context, ordinal, 0, &device);
  polykem_ckks_device_free(device);
  return status;
}

TEST_F(CkksDevice, SaysWhatItCannot) {
  const auto says = [](const char* text) {
    EXPECT_NE(std::string(polykem_ckks_error_text()).find(text), std::string::npos) << polykem_ckks_error_text();
  };
  EXPECT_EQ(opening({11, 30, 30, 2, 1, 2}, 0), POLYKEM_CKKS_ERR_PARAMETERS);
  says("2^12");
  EXPECT_EQ(opening({12, 40, 41, 23, 1, 23}, 0), POLYKEM_CKKS_ERR_PARAMETERS);
  says("fewer digits");
  EXPECT_EQ(opening(kNarrow, -1), POLYKEM_CKKS_ERR_ARGUMENT);
  EXPECT_EQ(opening(kNarrow, 1), POLYKEM_CKKS_ERR_DEVICE);
  says("there are 1 GPUs");
  ApiWorld world(kNarrow), wide(kWide);
  const BothCiphertexts a = random_ciphertexts(world, 1, 2, 3);
  polykem_ckks_ciphertexts* out = nullptr;
  EXPECT_EQ(polykem_ckks_ciphertexts_to_device(wide.device(), a.here.get(), &out), POLYKEM_CKKS_ERR_ARGUMENT);
}

}  // namespace
}  // namespace polykem::ckks::test
