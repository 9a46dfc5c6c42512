// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace polykem::lab {

void draw_report(const std::string& script, const std::string& json, const std::string& folder) {
  const char* named = std::getenv("POLYKEM_LAB_REPORT");
  const std::string path = named != nullptr ? named : script;
  if (access(path.c_str(), R_OK) != 0) {
    std::printf("%s is not here; it makes tables and plots of %s\n", path.c_str(), json.c_str());
    return;
  }
  std::fflush(stdout);
  const char* chosen = std::getenv("PYTHON");
  const char* python = chosen != nullptr ? chosen : "python3";
  const pid_t child = fork();
  if (child == 0) {
    execlp(python, python, "-B", path.c_str(), json.c_str(), folder.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
    throw std::runtime_error("no tables and plots; run " + std::string(python) + " " + path + " " + json + " " +
                             folder);
}

}  // namespace polykem::lab
