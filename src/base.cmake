# SPDX-License-Identifier: Apache-2.0
#
# polykem_base, the part of src/ that CKKS shares: zeroized memory, CPU detection, module loading, the random generator
# and its hash.
#   POLYKEM_VECTORS    which vector backends are built
#   POLYKEM_CT_CHECK   compile in the hooks of the constant-time check
#   POLYKEM_MODULE_DIR where modules are installed, below the prefix, and looked for after the library's own folder
include_guard(GLOBAL)
include(GNUInstallDirs)
find_package(Threads REQUIRED)

# Checks that need fewer vector backends build fewer: valgrind cannot run AVX-512, and threads work alike on every
# backend.
set(POLYKEM_VECTORS avx512 CACHE STRING "Vector backends: avx512 (both of x86-64, or NEON), avx2 (or NEON), none")
set_property(CACHE POLYKEM_VECTORS PROPERTY STRINGS avx512 avx2 none)
set(POLYKEM_MODULE_DIR ${CMAKE_INSTALL_LIBDIR} CACHE STRING "Where modules are installed, below the prefix")
option(POLYKEM_CT_CHECK "Compile in the hooks of the constant-time check (needs valgrind's headers)" OFF)

set(sources
    core/control_groups.cpp
    core/cpu_features.cpp
    core/module_file.cpp
    core/secure.cpp
    core/secure_buffer.cpp
    core/usable_cpus.cpp
    prim/aes/ref/aes256_ctr.cpp
    prim/drbg/ref/drbg.cpp
    prim/drbg/ref/fork_generation.cpp
    prim/keccak/ref/keccak.cpp
    prim/keccak/ref/permutation.cpp)
list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/warnings.cmake)
add_library(polykem_base_objects OBJECT ${sources})
polykem_strict_warnings(polykem_base_objects)
# A folder of host code is compiled together; prim/ is large by itself.
set_target_properties(polykem_base_objects PROPERTIES UNITY_BUILD_MODE GROUP)
set(core ${sources})
list(FILTER core INCLUDE REGEX "/core/")
set_source_files_properties(${core} PROPERTIES UNITY_GROUP core)
target_include_directories(polykem_base_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_compile_options(polykem_base_objects PRIVATE $<$<CONFIG:Release>:-O3>)
GNUInstallDirs_get_absolute_install_dir(folder POLYKEM_MODULE_DIR LIBDIR)
if(SKBUILD)  # the prefix is a temporary folder of the wheel's build
  set(folder "")
endif()
target_compile_definitions(polykem_base_objects PRIVATE POLYKEM_MODULE_FOLDER="${folder}")
if(NOT POLYKEM_VECTORS STREQUAL none AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(polykem_base_objects PRIVATE POLYKEM_HAVE_X86)
elseif(NOT POLYKEM_VECTORS STREQUAL none AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  target_compile_definitions(polykem_base_objects PRIVATE POLYKEM_HAVE_NEON)
endif()
if(POLYKEM_CT_CHECK)
  target_compile_definitions(polykem_base_objects PUBLIC POLYKEM_CT_CHECK)
endif()

add_library(polykem_base STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:polykem_base_objects>)
target_include_directories(polykem_base INTERFACE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(polykem_base PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
