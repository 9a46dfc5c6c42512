// SPDX-License-Identifier: Apache-2.0
// Prints what the environment decided: whether the process runs with more rights than its user, the CPU features and
// the backend.
#include <sys/auxv.h>

#include <cstdio>

#include "polykem/polykem.h"

int main() {
  polykem_context* context = nullptr;
  if (polykem_context_new(nullptr, &context) != POLYKEM_OK) return 1;
  std::printf("secure=%lu\nfeatures= %s \nbackend=%s\n", getauxval(AT_SECURE), polykem_cpu_features(),
              polykem_context_backend(context, polykem_scheme_at(0)));
  polykem_context_free(context);
  return 0;
}
