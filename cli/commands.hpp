// SPDX-License-Identifier: Apache-2.0
// The programs, and the subcommands of `polykem`. Each subcommand adds itself to `app`; the one that is called runs and
// sets `exit_code`.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): another library's name
class App;
}

namespace polykem::cli {

/// The programs, without the preparation of streams and signals in main(). They return the exit code.
int run_polykem(int argc, char** argv);
int run_polykemd(int argc, char** argv);

void register_list(CLI::App& app, int& exit_code);
void register_keygen(CLI::App& app, int& exit_code);
void register_encaps(CLI::App& app, int& exit_code);
void register_decaps(CLI::App& app, int& exit_code);
void register_sign(CLI::App& app, int& exit_code);
void register_verify(CLI::App& app, int& exit_code);
void register_profile(CLI::App& app, int& exit_code);
void register_bench(CLI::App& app, int& exit_code);
void register_kat(CLI::App& app, int& exit_code);
void register_doctor(CLI::App& app, int& exit_code);
#ifdef POLYKEM_CLI_NET
namespace net {
void register_exchange(CLI::App& app, int& exit_code);
void register_serve(CLI::App& app, int& exit_code);
void register_swarm(CLI::App& app, int& exit_code);
}  // namespace net
#endif
#ifdef POLYKEM_CLI_TLS
void register_tls_check(CLI::App& app, int& exit_code);
#endif
void register_report(CLI::App& app, int& exit_code);
void register_top(CLI::App& app, int& exit_code);

}  // namespace polykem::cli
