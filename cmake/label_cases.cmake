# SPDX-License-Identifier: Apache-2.0
# Read by ctest, not by CMake: see polykem_label_cases in testing.cmake.

# polykem_label_found(TARGET LABEL PATTERN...): a pattern that fits no case, of a renamed test perhaps, becomes a test
# that fails.
function(polykem_label_found target label)
  foreach(pattern IN LISTS ARGN)
    set(cases ${${target}_TESTS})
    list(FILTER cases INCLUDE REGEX "${pattern}")
    if(cases)
      set_tests_properties(${cases} PROPERTIES LABELS ${label})
    elseif(DEFINED ${target}_TESTS)
      add_test("${target}: no case for ${label} is named ${pattern}" no_such_case)
    endif()
  endforeach()
endfunction()
