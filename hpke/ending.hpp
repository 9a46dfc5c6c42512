// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::hpke {

/// A call that uses OpenSSL. OpenSSL frees itself in exit(), while other threads may still compute: these are stopped
/// before. The constructor throws Error once the process ends.
class OpensslCall {
 public:
  OpensslCall();
  ~OpensslCall();
  OpensslCall(const OpensslCall&) = delete;
  OpensslCall& operator=(const OpensslCall&) = delete;

  /// Throws Error once the process ends; for loops within a call.
  static void go_on();
};

}  // namespace polykem::hpke
