# SPDX-License-Identifier: Apache-2.0
# Cross build for AArch64 by Debian's g++-aarch64-linux-gnu, with the libraries that tools/arm64/sysroot.sh unpacks.
# Programs run under qemu-user; the environment variable QEMU_CPU names the CPU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

set(POLYKEM_ARM64_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-arm64/sysroot CACHE PATH "Libraries for AArch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POLYKEM_ARM64_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${POLYKEM_ARM64_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_C_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
foreach(language C CXX)
  string(APPEND CMAKE_${language}_FLAGS_INIT " -isystem ${POLYKEM_ARM64_SYSROOT}/usr/include/aarch64-linux-gnu")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${POLYKEM_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu)
