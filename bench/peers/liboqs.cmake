# SPDX-License-Identifier: Apache-2.0
# How liboqs is built, passed to the crate oqs-sys as CMAKE_TOOLCHAIN_FILE (the crate takes no options). FrodoKEM gets
# OpenSSL's AES, because it is faster there than liboqs' own AES-NI code.
set(OQS_USE_AES_INSTRUCTIONS OFF CACHE BOOL "")
set(OQS_USE_AES_OPENSSL ON CACHE BOOL "")

# The CPU to compile for, "native" or another. Compilers put AVX-512's rotations and three-input logic into the peer's
# AVX2 Keccak where they may; with "haswell" it has what our backend avx2 has.
set(OQS_OPT_TARGET $ENV{POLYKEM_PEER_CPU} CACHE STRING "")

# PQClean carries another copy of the same four-way Keccak, and both are linked into one program: liboqs' copy gets the
# suffix that it has in liboqs' own builds for several CPUs, and its one caller asks for that.
add_compile_definitions($<$<COMPILE_LANGUAGE:C>:ADD_SYMBOL_SUFFIX>)
foreach(function AddByte AddBytes ExtractBytes InitializeAll PermuteAll_24rounds)
  add_compile_definitions($<$<COMPILE_LANGUAGE:C>:KeccakP1600times4_${function}=KeccakP1600times4_${function}_avx2>)
endforeach()
