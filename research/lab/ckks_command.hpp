// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::lab {

/// Runs `polykem-lab ckks`, which ckks/bench defines; argv begins with "ckks". Returns the exit code.
int run_ckks(int argc, char** argv);

}  // namespace polykem::lab
