// SPDX-License-Identifier: Apache-2.0
// The functions of a program, and what has been counted for them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct function {
  uint32_t begin;
  char* name;
  uint64_t calls, own, inclusive;  ///< cycles; a recursive call counts for its outermost one
  unsigned active;                 ///< how often it is on the stack
};

/* Reads the output of `nm -n`: lines "address type name" of which those of type t, T, w and W are functions. False if
 * there are none. */
bool read_functions(const char* path);
/* The function that has the address; what lies before the first one belongs to an unnamed function. */
struct function* function_at(uint32_t address);
/* NULL if there is none of that name. */
struct function* function_named(const char* name);

/* Follows calls. `to` is where control went at cycle `now`. */
void enter_function(struct function* to, uint32_t return_address, uint64_t now);
/* Ends the calls that return to the address, and says whether there were any. */
bool leave_functions(uint32_t return_address, uint64_t now);
/* Where the innermost call returns to; 0 if there is none. */
uint32_t innermost_return(void);

/* Writes a JSON array of all functions that ran. */
void write_functions(FILE* out);
