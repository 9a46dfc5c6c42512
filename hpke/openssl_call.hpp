// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::hpke {

/// Exists while a call uses OpenSSL. OpenSSL is torn down in exit() while other threads may still compute, so their
/// calls are stopped first. The constructor throws Error once the process ends.
class OpensslCall {
 public:
  OpensslCall();
  ~OpensslCall();
  OpensslCall(const OpensslCall&) = delete;
  OpensslCall& operator=(const OpensslCall&) = delete;

  /// For loops within a call: throws Error once the process ends.
  static void throw_if_exiting();
};

}  // namespace polykem::hpke
