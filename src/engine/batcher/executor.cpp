// SPDX-License-Identifier: Apache-2.0
#include "engine/batcher/executor.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "core/thread.hpp"

namespace polykem {

Status CpuExecutor::submit(const Request& request, Done done) {
  std::shared_ptr<Job> job;
  return engine_.submit(request, std::move(done), job);
}

namespace {

class AcceleratorExecutor final : public Executor {
 public:
  AcceleratorExecutor(Engine& engine, Accelerator& accelerator) : engine_(engine), accelerator_(accelerator) {}
  ~AcceleratorExecutor() override;

  Kind kind() const override { return Kind::kAccelerator; }
  const char* name() const override { return accelerator_.name(); }
  unsigned slots() const override { return kSlots; }
  bool available(const Scheme& scheme, Op) override {
    return accelerator_.available() && accelerator_.backend_for(scheme) != nullptr;
  }
  Status submit(const Request& request, Done done) override;

 private:
  static constexpr unsigned kSlots = 2;  ///< one is computed while the other is gathered

  struct Slot {
    bool taken = false, ready = false;
    Request request{};
    Done done;
    std::thread thread;
  };

  void loop(Slot& slot);

  Engine& engine_;
  Accelerator& accelerator_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::array<Slot, kSlots> slots_;
};

AcceleratorExecutor::~AcceleratorExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (Slot& slot : slots_) {
    if (slot.thread.joinable()) slot.thread.join();
  }
}

Status AcceleratorExecutor::submit(const Request& request, Done done) {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.taken) continue;
    if (!slot.thread.joinable()) {
      try {
        slot.thread = start_thread([this, &slot] { loop(slot); });
      } catch (const std::system_error&) {
        return Status::kOutOfMemory;
      } catch (const std::bad_alloc&) {
        return Status::kOutOfMemory;
      }
    }
    slot.request = request;
    slot.request.run_on = RunOn::kAccelerator;
    slot.request.accelerator = &accelerator_;
    slot.done = std::move(done);
    slot.taken = slot.ready = true;
    wake_.notify_all();
    return Status::kOk;
  }
  return Status::kBusy;
}

void AcceleratorExecutor::loop(Slot& slot) {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return slot.ready || stopping_; });
    if (!slot.ready) return;
    slot.ready = false;
    lock.unlock();
    const Status status = engine_.run_here(slot.request);
    lock.lock();
    const Done done = std::move(slot.done);
    slot.taken = false;
    lock.unlock();
    done(status);
    lock.lock();
  }
}

}  // namespace

std::unique_ptr<Executor> make_accelerator_executor(Engine& engine, Accelerator& accelerator) {
  return std::make_unique<AcceleratorExecutor>(engine, accelerator);
}

}  // namespace polykem
