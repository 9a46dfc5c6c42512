// SPDX-License-Identifier: Apache-2.0
// The interface of libpolykem_rtl.so, the simulated core, which exports one function that returns one table. The
// library loads it at run time and never links to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace polykem::rtl {

inline constexpr const char* kModelEntry = "polykem_rtl_model";
/// Raise it when the meaning of something in the table changes.
inline constexpr uint32_t kModelAbi = 1;

/// A core is an opaque pointer. One thread at a time may use a core; different cores are independent. No function
/// throws. The functions from reg_read on are those of Transport; the model's clock runs while they do.
struct ModelTable {
  uint32_t abi;
  uint32_t table_bytes;
  const char* name;  ///< what is simulated, in words

  /// A core after its reset; nullptr if there is no memory.
  void* (*open)();
  void (*close)(void* core);

  uint32_t (*reg_read)(void* core, uint32_t offset);
  void (*reg_write)(void* core, uint32_t offset, uint32_t value);
  void (*stream_out)(void* core, uint8_t* first, size_t first_bytes, uint8_t* second, size_t second_bytes);
  void (*stream_in)(void* core, const uint8_t* first, size_t first_bytes, const uint8_t* second, size_t second_bytes);
  bool (*wait_irq)(void* core, uint64_t clocks);
  size_t (*end_streams)(void* core, bool completed);
};

}  // namespace polykem::rtl
