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
  unsigned max_in_flight() const override { return kMaxInFlight; }
  bool available(const Scheme& scheme, Op) override {
    return accelerator_.available() && accelerator_.backend_for(scheme) != nullptr;
  }
  Status submit(const Request& request, Done done) override;

 private:
  static constexpr unsigned kMaxInFlight = 2;  ///< one is computed while the other is gathered

  struct Runner {
    bool taken = false, ready = false;
    Request request{};
    Done done;
    std::thread thread;
  };

  void loop(Runner& runner);

  Engine& engine_;
  Accelerator& accelerator_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::array<Runner, kMaxInFlight> runners_;
};

AcceleratorExecutor::~AcceleratorExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (Runner& runner : runners_) {
    if (runner.thread.joinable()) runner.thread.join();
  }
}

Status AcceleratorExecutor::submit(const Request& request, Done done) {
  const std::lock_guard lock(mutex_);
  for (Runner& runner : runners_) {
    if (runner.taken) continue;
    if (!runner.thread.joinable()) {
      try {
        runner.thread = start_thread([this, &runner] { loop(runner); });
      } catch (const std::system_error&) {
        return Status::kOutOfMemory;
      } catch (const std::bad_alloc&) {
        return Status::kOutOfMemory;
      }
    }
    runner.request = request;
    runner.request.run_on = RunOn::kAccelerator;
    runner.request.accelerator = &accelerator_;
    runner.done = std::move(done);
    runner.taken = runner.ready = true;
    wake_.notify_all();
    return Status::kOk;
  }
  return Status::kBusy;
}

void AcceleratorExecutor::loop(Runner& runner) {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return runner.ready || stopping_; });
    if (!runner.ready) return;
    runner.ready = false;
    lock.unlock();
    const Status status = engine_.run_here(runner.request);
    lock.lock();
    const Done done = std::move(runner.done);
    runner.taken = false;
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
