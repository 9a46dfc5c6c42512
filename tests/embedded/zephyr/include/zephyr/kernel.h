// SPDX-License-Identifier: Apache-2.0
// What the sample uses of Zephyr's header of the same name.
#pragma once

#define ARG_UNUSED(x) (void)(x)

void printk(const char* format, ...);
