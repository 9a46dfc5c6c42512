// SPDX-License-Identifier: Apache-2.0
#include "core/backend.hpp"
#include "schemes/lac/backend.hpp"
#include "schemes/lac/backends.hpp"
#include "schemes/lac/ref/portable.hpp"

namespace polykem::lac {

namespace {

struct Ref : ref::Portable {
  static constexpr const char* kName = cpu::kRef;
};

}  // namespace

std::span<const SchemeBackend> ref_backends() {
  static constexpr auto kBackends = backends<Ref>();
  return kBackends;
}

}  // namespace polykem::lac
