// SPDX-License-Identifier: Apache-2.0
// Tests the provider's section of openssl.cnf: valid values are accepted, others are refused with a sentence.
#include <openssl/conf.h>
#include <sys/un.h>

#include <cstdlib>

#include "provider/support.hpp"

namespace polykem::provider::test {
namespace {

/// Returns the error of a program that loads the provider with this section; empty if there is none.
std::string problem(const std::string& section) {
  const ConfigFile file(section);
  const LibraryPtr context(OSSL_LIB_CTX_new());
  OSSL_PROVIDER_set_default_search_path(context.get(), POLYKEM_MODULES);
  EXPECT_EQ(OSSL_LIB_CTX_load_config(context.get(), file.path()), 1) << errors();
  OSSL_PROVIDER* provider = OSSL_PROVIDER_load(context.get(), "polykem");
  std::string said = errors();
  if (provider == nullptr) return said.empty() ? "no error was raised" : said;
  EXPECT_EQ(said, "");
  OSSL_PROVIDER_unload(provider);
  return {};
}

/// Returns the code point of a group with this section; 0 if it is not offered.
unsigned code_point(const std::string& section, const std::string& group) {
  struct Search {
    std::string name;
    unsigned id;
  } search{group, 0};
  const ConfigFile file(section);
  const LibraryPtr context(OSSL_LIB_CTX_new());
  OSSL_PROVIDER_set_default_search_path(context.get(), POLYKEM_MODULES);
  OSSL_LIB_CTX_load_config(context.get(), file.path());
  OSSL_PROVIDER* provider = OSSL_PROVIDER_load(context.get(), "polykem");
  if (provider == nullptr) return 0;
  OSSL_PROVIDER_get_capabilities(
      provider, "TLS-GROUP",
      [](const OSSL_PARAM params[], void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        const char* name = nullptr;
        OSSL_PARAM_get_utf8_string_ptr(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_NAME), &name);
        if (wanted.name == name)
          OSSL_PARAM_get_uint(OSSL_PARAM_locate_const(params, OSSL_CAPABILITY_TLS_GROUP_ID), &wanted.id);
        return 1;
      },
      &search);
  OSSL_PROVIDER_unload(provider);
  return search.id;
}

TEST(Config, Right) {
  EXPECT_EQ(problem(""), "");
  EXPECT_EQ(problem("backend = ref\nthreads = 2\ndeadline_us = 5000\nlinger_us = 0\nbatch_items = 0x100\n"
                    "high_water = 1000\nhard_limit = 2000\nabandoned_limit = 500\nbroker = /run/polykemd.sock\nasync = "
                    "off\nverify_after_sign = on\n"
                    "groups.frodo976aes = 0xFE80\ngroups.frodo640aes = off\n"),
            "");
  EXPECT_EQ(problem("groups = points\n[points]\nfrodo976aes = 0xFE80\nfrodo640aes = off\nfrodo640shake = off\n"), "");
}

TEST(Config, ABrokersPathFitsASocket) {
  constexpr std::size_t kMax = sizeof(sockaddr_un::sun_path) - 1;
  EXPECT_EQ(problem("broker = /" + std::string(kMax - 1, 'x')), "");
  EXPECT_NE(problem("broker = /" + std::string(kMax, 'x')).find("not the absolute path"), std::string::npos);
}

TEST(Config, WrongKey) {
  EXPECT_NE(problem("thread = 2").find("thread: no such key; there are backend, threads,"), std::string::npos);
  EXPECT_NE(problem("groups.MLKEM769 = 3").find("groups.MLKEM769: there is no such group"), std::string::npos);
  EXPECT_NE(problem("groups = points\n[points]\nnone = 3").find("groups.none: there is no such"), std::string::npos);
}

struct Wrong {
  const char* section;
  const char* said;
};

class WrongValue : public testing::TestWithParam<Wrong> {};

TEST_P(WrongValue, IsRefused) {
  EXPECT_NE(problem(GetParam().section).find(GetParam().said), std::string::npos) << problem(GetParam().section);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongValue,
    testing::Values(Wrong{"threads = two", "threads = two: not a number from 0 to 1024"},
                    Wrong{"threads = 1025", "threads = 1025: not a number"},
                    Wrong{"threads = -1", "threads = -1: not a number"},
                    Wrong{"deadline_us = 5ms", "deadline_us = 5ms: not a number"},
                    Wrong{"linger_us = 100001", "linger_us = 100001: not a number from 0 to 100000"},
                    Wrong{"batch_items = 65537", "batch_items = 65537: not a number"},
                    Wrong{"high_water = 1e3", "high_water = 1e3: not a number"},
                    Wrong{"hard_limit = 99999999999999999999", "not a number"},
                    Wrong{"backend = avx3", "backend = avx3: no such backend; there are cuda, ref"},
                    Wrong{"broker = polykemd.sock", "not the absolute path"},
                    Wrong{"abandoned_limit = many", "abandoned_limit = many: not a number from 0 to"},
                    Wrong{"statistics = here", "statistics = here: not an absolute path"},
                    Wrong{"async = yes", "async = yes: expected 'on' or 'off'"},
                    Wrong{"verify_after_sign = 1", "verify_after_sign = 1: expected 'on' or 'off'"},
                    Wrong{"groups.frodo976aes = 0x10000", "groups.frodo976aes = 0x10000: not a number"},
                    Wrong{"groups.frodo976aes = 0", "groups.frodo976aes = 0: not a number"},
                    Wrong{"groups.frodo976aes = 0x0214", "has that code point"}));

TEST(Config, CodePoints) {
  EXPECT_EQ(code_point("", "X25519MLKEM768"), openssl_has_mlkem() ? 0U : 0x11ECU);
  EXPECT_EQ(code_point("", "MLKEM1024"), openssl_has_mlkem() ? 0U : 0x0202U);
  EXPECT_EQ(code_point("", "x25519_ntru_hps2048509"), 0x2F94U);
  EXPECT_EQ(code_point("", "p384_frodo976shake"), 65069U);
  EXPECT_EQ(code_point("groups.frodo976aes = 0xFE80", "frodo976aes"), 0xFE80U);
  EXPECT_EQ(code_point("groups = points\n[points]\nfrodo976aes = 65200", "frodo976aes"), 65200U);
  EXPECT_EQ(code_point("groups.frodo976aes = off", "frodo976aes"), 0U);
}

TEST(Config, ABackendWithoutItsModuleIsRefusedAtTheStart) {
  setenv("POLYKEM_CUDA_MODULE", "", 1);
  EXPECT_NE(problem("backend = cuda").find("backend = cuda: switched off by POLYKEM_CUDA_MODULE"), std::string::npos);
  setenv("POLYKEM_CUDA_MODULE", "/nowhere/libpolykem_cuda.so", 1);
  EXPECT_NE(problem("backend = cuda").find("backend = cuda: libpolykem_cuda.so was not found"), std::string::npos);
}

TEST(Config, AForcedBackendWhoseModuleCannotBeLoaded) {
  setenv("POLYKEM_CUDA_MODULE", "/proc/self/exe", 1);
  const Library library("backend = cuda");
  EXPECT_EQ(generate(library, "mlkem768"), nullptr);
  EXPECT_NE(errors().find("bad configuration"), std::string::npos);
}

}  // namespace
}  // namespace polykem::provider::test
