// SPDX-License-Identifier: Apache-2.0
// The interface of libpolykem_ckks_cuda.so, which exports one function that returns one table. libpolykem_ckks loads
// the module at run time and never links to it, so that one build runs with and without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::ckks {

inline constexpr const char* kDeviceModuleEntry = "polykem_ckks_cuda_module";
inline constexpr uint32_t kDeviceModuleVersion = 2;

enum class Outcome : int { kOk = 0, kOutOfMemory = 1, kFailed = 2 };

/// Says why a call failed. The text is always null-terminated.
struct ErrorText {
  char text[256];
};

struct DeviceSetup {
  int ordinal;
  unsigned log_n;        ///< 12..16
  size_t scratch_bytes;  ///< for one operation; 0: 2 GiB or a quarter of what is free
  size_t limbs, special, digit_limbs;
  const uint64_t *primes, *roots;  ///< those of Q first, then those of P
};

/// A batch in the device's memory, as [count][parts][limbs][N]. Words of a key are [digits][2][primes][N].
struct DevicePolynomials {
  void* words;
  size_t count, parts, limbs;
};

enum class Operation : int { kAdd = 1, kSubtract = 2, kMultiply = 3 };

/// An opened GPU with the tables of one parameter set.
class OpenDevice;

/// All functions are thread-safe and none throws. Work is queued: only `upload`, `download` and `wait` wait for it, and
/// a later call reports what failed meanwhile. The caller has checked the operands. No result is an operand.
struct DeviceModule {
  uint32_t version;
  uint32_t table_bytes;
  Outcome (*open)(const DeviceSetup* setup, OpenDevice** out, ErrorText* why);
  void (*close)(OpenDevice* device);
  /// Allocates `count` words, counted as the host has them: the device may hold them in fewer bytes.
  Outcome (*allocate)(OpenDevice* device, size_t count, void** out, ErrorText* why);
  /// Releases memory once all work that was queued before is done. zeroize: overwrites it first.
  void (*release)(OpenDevice* device, void* words, size_t count, bool zeroize);
  Outcome (*upload)(OpenDevice* device, void* to, const uint64_t* from, size_t count, ErrorText* why);
  Outcome (*download)(OpenDevice* device, uint64_t* to, const void* from, size_t count, ErrorText* why);
  Outcome (*wait)(OpenDevice* device, ErrorText* why);
  /// Computes sums and differences, no products.
  Outcome (*combine)(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                     const DevicePolynomials* b, ErrorText* why);
  /// Computes sums, differences and products. b has one part, one item or as many as a, and at least a's limbs.
  Outcome (*combine_plain)(OpenDevice* device, Operation what, const DevicePolynomials* out, const DevicePolynomials* a,
                           const DevicePolynomials* b, ErrorText* why);
  Outcome (*negate)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, ErrorText* why);
  Outcome (*tensor)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a,
                    const DevicePolynomials* b, ErrorText* why);
  Outcome (*relinearise)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, const void* key,
                         ErrorText* why);
  Outcome (*automorphism)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, uint64_t g,
                          const void* key, ErrorText* why);
  Outcome (*rescale)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, ErrorText* why);
  /// Copies the items from number `first` on, and of each the first limbs, as many as `out` has.
  Outcome (*select)(OpenDevice* device, const DevicePolynomials* out, const DevicePolynomials* a, size_t first,
                    ErrorText* why);
};

}  // namespace polykem::ckks
