// SPDX-License-Identifier: Apache-2.0
// A libpolykem_rtl.so without a core. FAKE_RTL names its fault: a name of kFaultNames, "other_abi", or nothing.
// FAKE_RTL_AFTER: the number of correct commands before that.
#include <cstdlib>

#include "accelerators/rtl/driver/model.hpp"
#include "fake_core.hpp"

namespace {

using namespace polykem::rtl;
using namespace polykem::rtl::test;

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Model {
  FakeCore core;
  FakeTransport transport{core};
};

Model& of(void* core) {
  return *static_cast<Model*>(core);
}

void write_register(void* core, uint32_t offset, uint32_t value) {
  static const Fault fault = fault_named(setting("FAKE_RTL"));
  static const auto after = static_cast<size_t>(std::atoi(setting("FAKE_RTL_AFTER")));
  if (of(core).core.commands >= after) of(core).core.fault = fault;
  of(core).transport.reg_write(offset, value);
}

void* open_core() {
  auto* const model = new (std::nothrow) Model;
  if (model != nullptr && *setting("FAKE_RTL_AFTER") == '\0') model->core.fault = fault_named(setting("FAKE_RTL"));
  return model;
}

ModelTable table() {
  ModelTable t{};
  t.abi = kModelAbi + (std::string("other_abi") == setting("FAKE_RTL") ? 1 : 0);
  t.table_bytes = sizeof t;
  t.name = "a fake core";
  t.open = open_core;
  t.close = [](void* core) { delete &of(core); };
  t.reg_read = [](void* core, uint32_t offset) { return of(core).transport.reg_read(offset); };
  t.reg_write = write_register;
  t.stream_out = [](void* core, uint8_t* first, size_t first_bytes, uint8_t* second, size_t second_bytes) {
    of(core).transport.stream_out({first, first_bytes}, {second, second_bytes});
  };
  t.stream_in = [](void* core, const uint8_t* first, size_t first_bytes, const uint8_t* second, size_t second_bytes) {
    of(core).transport.stream_in({first, first_bytes}, {second, second_bytes});
  };
  t.wait_irq = [](void* core, uint64_t clocks) { return of(core).transport.wait_irq(clocks); };
  t.end_streams = [](void* core, bool completed) { return of(core).transport.end_streams(completed); };
  return t;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ModelTable* polykem_rtl_model() {
  static const ModelTable the_table = table();
  return &the_table;
}
