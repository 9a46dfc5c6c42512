# SPDX-License-Identifier: Apache-2.0
# What the folders of tests share: GoogleTest, optimisation, labels.
if(CMAKE_CROSSCOMPILING)  # Debian has GoogleTest for other architectures as source only
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest)
endif()
include(GoogleTest)

set(CMAKE_UNITY_BUILD OFF)
# No optimisation compiles soonest; the tests spend their time in the library.
add_compile_options($<$<CONFIG:Release>:-O0>)

# polykem_labels(TARGET LABEL...): several labels for the tests that gtest_discover_tests found, which takes only one.
function(polykem_labels target)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake
       "set_tests_properties(\${${target}_TESTS} PROPERTIES LABELS \"${ARGN}\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
endfunction()

# polykem_label_cases(TARGET LABEL PATTERN...): one more label for those of the tests that gtest_discover_tests found
# whose names a regular expression fits. Each has to fit one; where no vector code is built it need not.
function(polykem_label_cases target label)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${label}.cmake)
  list(TRANSFORM ARGN REPLACE "(.+)" "[==[\\1]==]" OUTPUT_VARIABLE patterns)
  list(JOIN patterns " " patterns)
  file(WRITE ${file} "include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/label_cases.cmake]==])\n"
                     "polykem_label_found(${target} ${label} ${patterns})\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
