// SPDX-License-Identifier: Apache-2.0
// Tests with an operating system that does not let the process use matrix tiles. Each case is a process of its own,
// since a process may ask only once.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "schemes/registry.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

class TilePermission : public testing::Test {
 protected:
  void SetUp() override {
    const auto backends = find_scheme("efrodokem640aes")->backends;
    const auto is_amx = [](const SchemeBackend& backend) { return std::strcmp(backend.name, cpu::kAmx) == 0; };
    if (std::none_of(backends.begin(), backends.end(), is_amx)) GTEST_SKIP() << "this build has no backend for AMX";
    if (!cpu_features().amx()) GTEST_SKIP() << "this machine has no AMX";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

/// Linux refuses when a thread's alternate stack is too small for the tiles: a signal could not be delivered there.
bool install_small_signal_stack() {
  static std::vector<char> memory(4096);
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  return sigaltstack(&stack, nullptr) == 0;
}

bool backend_is(polykem_context* context, const char* name) {
  return std::strcmp(polykem_context_backend(context, scheme("efrodokem640aes")), name) == 0;
}

bool exchange_works(polykem_context* context) {
  const Exchange exchange(context, scheme("efrodokem640aes"), 2);
  return exchange.sender == exchange.receiver;
}

[[noreturn]] void end_with(bool success) {
  std::_Exit(success ? 0 : 1);
}

[[noreturn]] void compute_where_it_is_refused() {
  const bool refused = install_small_signal_stack() && !may_use_tiles();
  const Context context = make_context();
  end_with(refused && backend_is(context.get(), "avx512") && exchange_works(context.get()));
}

[[noreturn]] void force_where_it_is_refused() {
  const bool installed = install_small_signal_stack();
  const polykem_config config{sizeof config, 1, "amx"};
  polykem_context* context = nullptr;
  end_with(installed && polykem_context_new(&config, &context) == POLYKEM_ERR_BACKEND_UNAVAILABLE);
}

[[noreturn]] void compute_where_it_is_granted() {
  const Context context = make_context();
  end_with(backend_is(context.get(), "amx") && exchange_works(context.get()));
}

TEST_F(TilePermission, WhereItIsRefusedAvx512Computes) {
  EXPECT_EXIT(compute_where_it_is_refused(), testing::ExitedWithCode(0), "");
}

TEST_F(TilePermission, WhereItIsRefusedABackendThatIsForcedIsUnavailable) {
  EXPECT_EXIT(force_where_it_is_refused(), testing::ExitedWithCode(0), "");
}

TEST_F(TilePermission, WhereItIsGrantedTilesCompute) {
  EXPECT_EXIT(compute_where_it_is_granted(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace polykem::test
