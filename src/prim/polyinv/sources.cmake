# SPDX-License-Identifier: Apache-2.0
# Paths relative to src/; each list is compiled with the flags of its instruction set.
list(APPEND POLYKEM_SOURCES_AVX2 prim/polyinv/avx2/polyinv_avx2.cpp)
list(APPEND POLYKEM_SOURCES_AVX512 prim/polyinv/avx512/polyinv_avx512.cpp)
