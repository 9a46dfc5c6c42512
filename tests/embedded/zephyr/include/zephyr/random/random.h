// SPDX-License-Identifier: Apache-2.0
// What the sample uses of Zephyr's header of the same name.
#pragma once

#include <stddef.h>

int sys_csrand_get(void* out, size_t bytes);
