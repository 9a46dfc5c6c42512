// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <exception>

namespace polykem::test {

namespace {

const std::string kNoFault = "no fault left";

std::string ending(int status) {
  if (WIFEXITED(status)) return "ended with status " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return signal == SIGALRM ? "hung" : std::string("died: ") + strsignal(signal);
}

std::string once(Scenario& scenario, polykem_status& status) {
  scenario.begin();
  status = scenario.act();
  std::string problem = scenario.check(status);
  scenario.end();
  return problem;
}

std::string without_faults(Scenario& scenario, const char* when) {
  polykem_status status;
  std::string problem = once(scenario, status);
  if (status != POLYKEM_OK) return std::string(when) + ": " + polykem_status_text(status);
  return problem.empty() ? problem : std::string(when) + ": " + problem;
}

/// Catches exceptions, with which the child would otherwise continue as a second run of all tests.
std::string guarded(const std::function<std::string()>& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    disarm();
    return std::string("an exception left the library: ") + exception.what();
  }
}

/// Runs the scenario with the fault; sets `happened`.
std::string with_fault(const Fault& fault, Scenario& scenario, bool& happened) {
  scenario.begin();
  arm(fault);
  const polykem_status status = scenario.act();
  happened = disarm();
  std::string problem = scenario.check(status);
  scenario.end();
  const bool fits = status == POLYKEM_OK || (happened && scenario.allows(fault.call, status));
  if (!problem.empty() || fits) return problem;
  return std::string("returned: ") + polykem_status_text(status);
}

/// Injects a fault in a process of its own.
std::string step(const Fault& fault, bool used_before, const std::function<Scenario()>& make) {
  Scenario scenario = make();
  std::string problem;
  if (used_before) problem = without_faults(scenario, "before the fault");
  if (!problem.empty()) return problem;
  bool happened = false;
  problem = with_fault(fault, scenario, happened);
  if (!problem.empty()) return problem;
  if (used_before && happened) {  // the first fault may have made the C library load its handler for it
    const long blocks = live_blocks();
    problem = with_fault(fault, scenario, happened);
    const long lost = live_blocks() - blocks;
    if (problem.empty() && lost > 0) problem = std::to_string(lost) + " blocks of memory lost";
    if (!problem.empty()) return problem;
  }
  problem = without_faults(scenario, "after the fault");
  return problem.empty() && !happened ? kNoFault : problem;
}

}  // namespace

std::string in_child(const std::function<std::string()>& body, unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child < 0) return "no child";
  if (child == 0) {
    close(ends[0]);
    alarm(seconds);
    const std::string problem = guarded(body);
    const bool told = write(ends[1], problem.data(), problem.size()) == static_cast<ssize_t>(problem.size());
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  std::string problem;
  char part[256];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    problem.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? problem : problem + ending(status);
}

bool documented(Call call, polykem_status status) {
  switch (call) {
    case Call::kMemory:
      return status == POLYKEM_ERR_OUT_OF_MEMORY;
    case Call::kRandom:
      return status == POLYKEM_ERR_RANDOM;
    case Call::kThread:  // fewer threads suffice
    case Call::kMapping:
      return false;
  }
  return false;
}

int sweep(Call call, const std::function<Scenario()>& scenario) {
  constexpr int kMax = 1000, kMaxFailures = 5;
  int faults = 0, failures = 0;
  for (const bool used_before : {true, false}) {
    for (const bool onward : {false, true}) {
      const int first = onward && used_before ? 2 : 1, stride = onward ? 2 : 1;
      for (int nth = first; nth <= kMax && failures < kMaxFailures; nth += stride) {
        const Fault fault{call, nth, onward};
        const std::string problem = in_child([&] { return step(fault, used_before, scenario); });
        if (problem == kNoFault) break;
        ++faults;
        failures += problem.empty() ? 0 : 1;
        EXPECT_EQ(problem, "") << fault.text() << (used_before ? "" : ", at first use");
        EXPECT_LT(nth + stride, kMax) << "the scenario does not come to an end";
      }
    }
  }
  return faults;
}

}  // namespace polykem::test
