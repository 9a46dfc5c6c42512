# SPDX-License-Identifier: Apache-2.0
# Paths relative to src/; each list is compiled with the flags of its instruction set.
list(APPEND POLYKEM_SOURCES_AVX2 prim/aes/avx2/aes256_ctr_avx2.cpp)
list(APPEND POLYKEM_SOURCES_AVX512 prim/aes/avx512/aes256_ctr_avx512.cpp)
