// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Random bytes of the board, in the form that polykem_embedded_random asks for. */
int random_bytes(void* context, uint8_t* out, size_t bytes);
