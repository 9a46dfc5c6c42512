// SPDX-License-Identifier: Apache-2.0
#include "accelerators/rtl/driver/model_transport.hpp"

namespace polykem::rtl {

namespace {

class ModelTransport final : public Transport {
 public:
  ModelTransport(const ModelTable& model, void* core) : model_(model), core_(core) {}
  ~ModelTransport() override { model_.close(core_); }

  uint32_t reg_read(uint32_t offset) override { return model_.reg_read(core_, offset); }
  void reg_write(uint32_t offset, uint32_t value) override { model_.reg_write(core_, offset, value); }
  void stream_out(Bytes first, Bytes second) override {
    model_.stream_out(core_, first.data(), first.size(), second.data(), second.size());
  }
  void stream_in(ConstBytes first, ConstBytes second) override {
    model_.stream_in(core_, first.data(), first.size(), second.data(), second.size());
  }
  bool wait_irq(uint64_t clocks) override { return model_.wait_irq(core_, clocks); }
  size_t end_streams(bool completed) override { return model_.end_streams(core_, completed); }

 private:
  const ModelTable& model_;
  void* const core_;
};

}  // namespace

std::unique_ptr<Transport> open_model(const ModelTable& model) {
  void* const core = model.open();
  return core == nullptr ? nullptr : std::make_unique<ModelTransport>(model, core);
}

}  // namespace polykem::rtl
