// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace polykem::ckks::lab {

/// `polykem-lab ckks`; argv begins with "ckks". Returns the exit code.
int run_command(int argc, char** argv);

}  // namespace polykem::ckks::lab
