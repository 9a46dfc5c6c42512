# SPDX-License-Identifier: Apache-2.0
# Toolchain file for a core with the DSP extension and floating-point registers, with GCC for bare Arm (Debian:
# gcc-arm-none-eabi and libstdc++-arm-none-eabi-newlib). -DPOLYKEM_CORE=cortex-m33 or cortex-m7 takes the place of
# cortex-m4.
set(POLYKEM_CORE cortex-m4 CACHE STRING "cortex-m4, cortex-m7 or cortex-m33")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES POLYKEM_CORE)
set(fpu_cortex-m4 fpv4-sp-d16)
set(fpu_cortex-m7 fpv5-sp-d16)
set(fpu_cortex-m33 fpv5-sp-d16)
if(NOT DEFINED fpu_${POLYKEM_CORE})
  message(FATAL_ERROR "POLYKEM_CORE is '${POLYKEM_CORE}'; cortex-m4, cortex-m7 and cortex-m33 are known")
endif()
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR ${POLYKEM_CORE})
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a program needs a board's memory map
set(cpu "-mcpu=${POLYKEM_CORE} -mthumb -mfloat-abi=hard -mfpu=${fpu_${POLYKEM_CORE}}")
set(CMAKE_C_FLAGS_INIT "${cpu}")
set(CMAKE_CXX_FLAGS_INIT "${cpu}")
set(CMAKE_ASM_FLAGS_INIT "${cpu}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
