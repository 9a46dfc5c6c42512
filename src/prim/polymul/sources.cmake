# SPDX-License-Identifier: Apache-2.0
# Paths relative to src/; each list is compiled with the flags of its instruction set.
set(POLYKEM_POLYMUL_SOURCES_AVX2 prim/polymul/avx2/polymul_avx2.cpp)
set(POLYKEM_POLYMUL_SOURCES_AVX512 prim/polymul/avx512/polymul_avx512.cpp)
