# SPDX-License-Identifier: Apache-2.0
# The target fuzz_seeds: POLYKEM_FUZZ_SEEDS/FUZZER has the inputs that a fuzzer starts from.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(POLYKEM_FUZZ_SEEDS ${PROJECT_BINARY_DIR}/tests/fuzz/seeds)
file(GLOB_RECURSE fuzz_seed_data CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/data/*
     ${PROJECT_SOURCE_DIR}/ckks/tests/data/*)
add_custom_command(
  OUTPUT ${POLYKEM_FUZZ_SEEDS}.made
  COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_LIST_DIR}/seeds.py ${POLYKEM_FUZZ_SEEDS}
  COMMAND ${CMAKE_COMMAND} -E touch ${POLYKEM_FUZZ_SEEDS}.made
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/seeds.py ${fuzz_seed_data})
add_custom_target(fuzz_seeds DEPENDS ${POLYKEM_FUZZ_SEEDS}.made)
