// SPDX-License-Identifier: Apache-2.0
// The subcommands of `polykem bench`. Each adds itself to `bench`.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

void add_frodo_scaling(CLI::App& bench, int& exit_code);

}  // namespace polykem::cli
