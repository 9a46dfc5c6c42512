// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/isa.hpp"

#if !defined(POLYKEM_ISA_AVX512) && !defined(POLYKEM_ISA_AVX2) && !defined(POLYKEM_ISA_NEON)
#error "this header needs AVX2, AVX-512 or NEON; compile the file with the flags of its instruction set"
#endif
