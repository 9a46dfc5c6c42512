// SPDX-License-Identifier: Apache-2.0
// Used by all checks of the module's devices: a toy scheme on the fake runtime, and exchanges with it. In the toy, sk
// is its coins twice, pk is these coins plus 1, ct is r and pk's first byte, and ss is computed from r and pk. A second
// toy signs: toy_signer.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "accelerators/cuda/module/module.hpp"
#include "fake_runtime.hpp"

namespace polykem::cuda::test {

constexpr size_t kCoins = 16, kPk = kCoins, kSk = 2 * kCoins, kCt = kCoins + 1, kSs = 32;
/// The bytes of an expanded key of a set.
constexpr size_t kExpandedBytes = 64;
/// The number of rounds of the tiled step.
constexpr size_t kTiles = 3;

inline int failures = 0;
inline cudaError_t loading[fake_runtime::kDevices]{};  ///< what loading the kernels returns, for each device
/// The number of expanded keys that were used; of runs of the tiled step.
inline std::atomic<size_t> marks_seen{0}, tiles_run{0};

void expect(bool good, const char* what);

/// The module.
const ModuleTable& table();
/// The scheme that is tested: "toy", or "filling", the same with a step that fills the device.
inline const char* scheme_name = "toy";
const DeviceScheme& toy();

/// Memory of either kind for the records of one exchange.
struct Records {
  size_t count;
  bool pinned;
  uint8_t *pk = take(kPk), *sk = take(kSk), *ct = take(kCt), *ss = take(kSs), *ss2 = take(kSs);

  Records(size_t n, bool pin) : count(n), pinned(pin) {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    for (uint8_t* memory : {pk, sk, ct, ss, ss2})
      pinned ? static_cast<void>(cudaFreeHost(memory)) : std::free(memory);
  }
  uint8_t* take(size_t record) const {
    void* memory = nullptr;
    if (pinned) {
      (void)cudaHostAlloc(&memory, count * record, 0);
    } else {
      memory = std::malloc(count * record);
    }
    return static_cast<uint8_t*>(memory);
  }
};

/// The shared secret of coins and a public key.
void secret_of(uint8_t* ss, const uint8_t* r, const uint8_t* pk);
/// Returns the first byte of the first secret key that the latest batch generated.
uint8_t latest_coin();
Outcome run(Op op, const Records& r, StepTimes* times = nullptr, const size_t* key_index = nullptr,
            const uint8_t* keys = nullptr);
bool exchange(const Records& r, StepTimes* times = nullptr);
/// Returns the devices that compute a batch for all devices.
int devices_in_use();

/// Launches work as a kernel of the fake runtime.
cudaError_t launch_work(std::function<void()> work, cudaStream_t stream);

constexpr size_t kSignature = 1024;
/// Sets that sign: "signer", and "signer_large", whose parts may have many bytes.
extern const DeviceScheme kSigner, kSignerLarge;
/// Their workspace has this many secret bytes for each item and, behind those of all items, as many public ones.
constexpr size_t kTrace = 64;
using Trace = std::array<uint8_t, kTrace>;
Trace secret_trace(const uint8_t* sk);
Trace public_trace(const uint8_t* sk);
/// Returns the signature of an item, which depends on which strings of `messages` are absent.
void signature_of(uint8_t* signature, const uint8_t* sk, const Messages& messages, std::span<const uint8_t> message,
                  std::span<const uint8_t> context);
/// Strings and offsets that the toy found outside of device memory.
inline std::atomic<size_t> strays{0};
/// The number of items of each part since the last call, in the order in which they were launched.
std::vector<size_t> parts_signed();

struct Check {
  const char* name;
  void (*run)();
};
/// The checks of devices_failures.cpp and devices_messages.cpp.
std::span<const Check> failure_checks();
std::span<const Check> message_checks();

}  // namespace polykem::cuda::test
