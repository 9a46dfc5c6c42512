// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

#include <stdlib.h>
#include <string.h>

enum { kMaxFunctions = 16384, kDeepest = 1024 };

static struct function functions[kMaxFunctions];
static size_t count;
static struct function unnamed = {.name = ""};

struct frame {
  struct function* function;
  uint32_t return_address;
  uint64_t begin;
};
static struct frame frames[kDeepest];
static size_t depth;

bool read_functions(const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return false;
  char line[8192], type;
  int name_at;
  unsigned address;
  while (count < kMaxFunctions && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%x %c %n", &address, &type, &name_at) != 2 || strchr("tTwW", type) == NULL) continue;
    char* name = line + name_at;
    name[strcspn(name, "\n")] = 0;
    if (name[0] == '$') continue;                                              // marks of code and data
    if (count > 0 && functions[count - 1].begin == (address & ~1u)) continue;  // an alias
    functions[count++] = (struct function){.begin = address & ~1u, .name = strdup(name)};
  }
  fclose(file);
  return count > 0;
}

struct function* function_at(uint32_t address) {
  size_t low = 0, high = count;  // functions before low begin at the address or below, those from high on above
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (functions[middle].begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? &unnamed : &functions[low - 1];
}

struct function* function_named(const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  }
  return NULL;
}

void enter_function(struct function* to, uint32_t return_address, uint64_t now) {
  to->calls += 1;
  if (depth == kDeepest) return;
  to->active += 1;
  frames[depth++] = (struct frame){to, return_address, now};
}

bool leave_functions(uint32_t return_address, uint64_t now) {
  bool any = false;
  while (depth > 0 && frames[depth - 1].return_address == return_address) {
    const struct frame* frame = &frames[--depth];
    if (--frame->function->active == 0) frame->function->inclusive += now - frame->begin;
    any = true;
  }
  return any;
}

uint32_t innermost_return(void) {
  return depth == 0 ? 0 : frames[depth - 1].return_address;
}

void write_functions(FILE* out) {
  const char* separator = "";
  fputs("[", out);
  for (size_t i = 0; i < count; ++i) {
    const struct function* f = &functions[i];
    if (f->own == 0) continue;
    fprintf(out, "%s\n  {\"name\": \"%s\", \"calls\": %llu, \"own\": %llu, \"inclusive\": %llu}", separator, f->name,
            (unsigned long long)f->calls, (unsigned long long)f->own, (unsigned long long)f->inclusive);
    separator = ",";
  }
  fputs("]", out);
}
