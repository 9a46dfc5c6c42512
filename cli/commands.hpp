// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each adds itself to `app`; when it is the one that was called, it runs and sets `exit_code`.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

void register_list(CLI::App& app, int& exit_code);
void register_keygen(CLI::App& app, int& exit_code);
void register_encaps(CLI::App& app, int& exit_code);
void register_decaps(CLI::App& app, int& exit_code);
void register_profile(CLI::App& app, int& exit_code);
void register_bench(CLI::App& app, int& exit_code);
void register_kat(CLI::App& app, int& exit_code);
void register_doctor(CLI::App& app, int& exit_code);
#ifdef POLYKEM_CLI_TLS
void register_tls_check(CLI::App& app, int& exit_code);
#endif
void register_report(CLI::App& app, int& exit_code);
void register_top(CLI::App& app, int& exit_code);

}  // namespace polykem::cli
