// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace polykem::python {

/// The GIL is released while this lives. nanobind has such a class, too, but before Python 3.14 a daemon thread that
/// wants the GIL back after the interpreter has ended is unwound by pthread_exit(), and the first function that must
/// not throw (a destructor; whatever nanobind calls) makes an abort of that. Here the thread stays asleep instead until
/// the process ends, as Python 3.14 itself does it.
class WithoutGil {
 public:
  WithoutGil() noexcept : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_back(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  /// Python handles signals. False: a handler raised, and its exception is set.
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
