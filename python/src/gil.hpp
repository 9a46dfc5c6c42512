// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace polykem::python {

/// Releases the GIL during its lifetime. nanobind has such a class too, but before Python 3.14 a daemon thread that
/// wants the GIL back after the interpreter has ended is unwound by pthread_exit(), and the first noexcept function (a
/// destructor, or whatever nanobind calls) turns that into an abort. Here the thread sleeps instead until the process
/// ends, as in Python 3.14.
class WithoutGil {
 public:
  WithoutGil() noexcept : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_back(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// Lets Python handle signals. Returns false if a handler raised; its exception is then set.
  bool handle_signals() noexcept {
    take_back();
    const bool quiet = PyErr_CheckSignals() == 0;
    state_ = PyEval_SaveThread();
    return quiet;
  }

 private:
  void take_back() noexcept {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // pthread_exit(): nothing else is thrown in C
      for (;;)
        pause();
    }
  }

  PyThreadState* state_;
};

}  // namespace polykem::python
