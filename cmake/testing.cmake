# SPDX-License-Identifier: Apache-2.0
# What the folders of tests share: GoogleTest, optimisation, labels.
option(POLYKEM_FETCH_GTEST "Download GoogleTest if it is not installed" OFF)
if(CMAKE_CROSSCOMPILING)  # Debian has GoogleTest for other architectures as source only
  set(FETCHCONTENT_SOURCE_DIR_GOOGLETEST /usr/src/googletest)
else()
  find_package(GTest)
endif()
if(NOT GTest_FOUND AND (POLYKEM_FETCH_GTEST OR FETCHCONTENT_SOURCE_DIR_GOOGLETEST))
  include(FetchContent)
  FetchContent_Declare(googletest GIT_REPOSITORY https://github.com/google/googletest.git
                       GIT_TAG f8d7d77c06936315286eb55f8de22cd23c188571) # v1.14.0
  set(INSTALL_GTEST OFF)
  FetchContent_MakeAvailable(googletest)
endif()
include(GoogleTest)

set(CMAKE_UNITY_BUILD OFF)
# No optimisation compiles soonest; the tests spend their time in the library.
add_compile_options($<$<CONFIG:Release>:-O0>)

# polykem_gtests(TARGET ...): gtest_discover_tests, which would append a parameter's bytes, addresses too, to names.
function(polykem_gtests target)
  gtest_discover_tests(${target} NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 ${ARGN})
endfunction()

# polykem_labels(TARGET LABEL...): several labels for the tests that polykem_gtests found, which takes only one.
function(polykem_labels target)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake
       "set_tests_properties(\${${target}_TESTS} PROPERTIES LABELS \"${ARGN}\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${target}_labels.cmake)
endfunction()

# polykem_label_cases(TARGET LABEL PATTERN...): one more label for those of the tests that polykem_gtests found
# whose names a regular expression fits. Each has to fit one; where no vector code is built it need not.
function(polykem_label_cases target label)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${label}.cmake)
  list(TRANSFORM ARGN REPLACE "(.+)" "[==[\\1]==]" OUTPUT_VARIABLE patterns)
  list(JOIN patterns " " patterns)
  file(WRITE ${file} "include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/label_cases.cmake]==])\n"
                     "polykem_label_found(${target} ${label} ${patterns})\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
