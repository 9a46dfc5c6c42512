# SPDX-License-Identifier: Apache-2.0
#
# Makes memory errors harder to exploit, in the library and the program; -DPOLYKEM_HARDENING=OFF leaves this out. The
# sanitizers find the same errors and more, and conflict with FORTIFY.
if(NOT POLYKEM_HARDENING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported()

set(CMAKE_REQUIRED_FLAGS -Werror)  # Clang only warns of a flag for another processor
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "POLYKEM_HAVE${flag}" have)
  check_cxx_compiler_flag(${flag} ${have})
  if(${have})
    list(APPEND POLYKEM_HARDENING_FLAGS ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
add_compile_options(${POLYKEM_HARDENING_FLAGS})
# FORTIFY knows the sizes of buffers only where the compiler optimises.
set(POLYKEM_FORTIFY_FLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${POLYKEM_FORTIFY_FLAGS}>")
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
