# SPDX-License-Identifier: Apache-2.0
# Options of sources for one kind of CPU.

# For sources with vector code: GCC 12 warns of the undefined registers in its own intrinsics.
set(POLYKEM_ISA_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
# What CpuFeatures::avx2(), avx512() and amx() ask for (core/cpu_features.hpp); core/backend.cpp describes it.
set(POLYKEM_AVX2_FLAGS -mavx2 -mbmi -mbmi2 -maes -mpclmul)
set(POLYKEM_AVX512_FLAGS
    ${POLYKEM_AVX2_FLAGS} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512vbmi2 -mavx512ifma
    -mavx512vnni -mvaes -mvpclmulqdq -mgfni -mprefer-vector-width=512)
set(POLYKEM_TILE_CPU_FLAGS ${POLYKEM_AVX512_FLAGS} -mamx-tile -mamx-int8)
