// SPDX-License-Identifier: Apache-2.0
// Opens and uses a device (tests/cuda_module/simulated_device.cpp), with every start of a thread failing alone, and
// with all later ones.
#include <gtest/gtest.h>

#include <vector>

#include "scenarios.hpp"

namespace polykem::test {
namespace {

struct Opened {
  polykem_context* context = nullptr;

  polykem_status use() {
    const polykem_config config{sizeof config, 1, "cuda"};
    const polykem_status status = polykem_context_new(&config, &context);
    if (status != POLYKEM_OK) return status;
    polykem_scheme_info_t info{};
    info.struct_size = sizeof info;
    const polykem_scheme* scheme = nullptr;
    polykem_scheme_find("mlkem512", &scheme);
    polykem_scheme_info(scheme, &info);
    std::vector<uint8_t> pk(info.public_key_bytes), sk(info.secret_key_bytes);
    return polykem_keygen(context, scheme, 1, pk.data(), sk.data());
  }
};

Scenario opened() {
  auto all = std::make_shared<Opened>();
  return {.begin = [] {},
          .act = [all] { return all->use(); },
          .end = [all] { polykem_context_free(all->context); },
          .allows = documented};
}

TEST(Device, OpensWithoutThreads) {
  EXPECT_GT(sweep(Call::kThread, opened), 0);
}

}  // namespace
}  // namespace polykem::test
