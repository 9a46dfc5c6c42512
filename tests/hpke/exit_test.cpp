// SPDX-License-Identifier: Apache-2.0
// Tests exit() while other threads compute, during which OpenSSL frees its memory.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "support.hpp"

namespace polykem::hpke::test {
namespace {

/// Makes key pairs for ever, on a thread for which nobody waits.
void begin_generating(const Context& context, const Suite& suite) {
  std::thread([&context, &suite] {
    Bytes pk(50 * suite.public_key_bytes());
    SecretBytes sk(50 * suite.secret_key_bytes());
    try {
      for (;;)
        generate(context.handle(), suite, 50, pk.data(), sk.data());
    } catch (const Error&) {  // the process ends; a thread that ended now could not free what OpenSSL keeps for it
      for (;;)
        pause();
    }
  }).detach();
}

[[noreturn]] void exit_while_generating() {
  // Never destroyed, because exit() would destroy them while threads use them.
  static const Context& context = *new Context(1);
  static const Suite& suite = *new Suite(Kem::kMlKem768X25519, Kdf::kHkdfSha256, Aead::kAes128Gcm);
  for (int thread = 0; thread < 3; ++thread)
    begin_generating(context, suite);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::exit(7);
}

TEST(Exit, WhileThreadsCompute) {
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    ASSERT_NE(child, -1);
    if (child == 0) exit_while_generating();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " in round " << round;
    ASSERT_EQ(WEXITSTATUS(status), 7);
  }
}

}  // namespace
}  // namespace polykem::hpke::test
