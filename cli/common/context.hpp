// SPDX-License-Identifier: Apache-2.0
// Finds parameter sets and opens contexts for commands, with errors that say what to do.
#pragma once

#include <polykem/polykem.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "common/exit_codes.hpp"

namespace polykem::cli {

/// The environment variable that names a backend to the library, unless --backend does.
inline constexpr const char* kBackendVariable = "POLYKEM_BACKEND";

/// The exit code for a status of the library.
ExitCode exit_code_of(polykem_status status);

/// The kinds of parameter sets that a command takes.
enum class Sets { kKems, kSignatures, kAll };

/// All parameter sets of that kind, KEMs first.
std::vector<Scheme> all_sets(Sets sets = Sets::kAll);

/// The set with that name or alias, of either kind; nullptr if this build has none.
const polykem_scheme* find_set(const std::string& name);

/// A hint for an unknown name: the most similar set, if any, and the command that lists all.
std::string suggestion(const std::string& name);

/// The set with that name or alias. Throws CliError (usage), which suggests the nearest name or says what the set is
/// for.
Scheme open_scheme(const std::string& name, Sets sets = Sets::kKems);

/// Throws CliError (with `code`) if the set is of another kind. where: the file that names the set, for the message, or
/// "".
void check_kind(const Scheme& scheme, Sets sets, ExitCode code, const std::string& where = {});

/// The sets in a comma-separated list, without duplicates. "all" stands for every set, a family ("ntru") for its sets.
std::vector<Scheme> open_schemes(const std::string& list);

/// True if a set has that operation.
bool has_op(const Scheme& scheme, polykem_op op);

/// Opens a context. Throws CliError: usage for an unknown backend, naming those that exist; backend if it cannot run
/// here.
Context open_context(unsigned threads = 0, const std::string& backend = {});

/// The name of the backend that runs `scheme` in `context`. Throws CliError (backend) if none can. asked: the value of
/// --backend, for the message.
std::string backend_for(const Context& context, const Scheme& scheme, const std::string& asked = {});

/// The names of this build's backends, best first. only_available: leaves out those that cannot run here.
std::vector<std::string> backend_names(bool only_available);

/// A text with a line for each backend, best first; those that cannot run here say what they need.
std::string describe_backends();

/// A line for each backend that failed in this process, so that the CPU computed instead; "" if none did.
std::string describe_failures();

/// The operations that a comma-separated list names: "keygen", "encaps", "decaps", "sign", "verify", or "all". Throws
/// CliError (usage).
std::vector<polykem_op> parse_ops(const std::string& list);

/// The operation's name: "keygen", "encaps", "decaps", "sign" or "verify".
const char* op_name(polykem_op op);

/// Splits at `separator`; empty parts are dropped.
std::vector<std::string> split(std::string_view text, char separator);

/// The candidate nearest to `word` by edit distance; empty if more than a third of the letters differ and `word` is not
/// the beginning of one. Letter case, '-' and '_' do not matter.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// The processor's name, as the operating system reports it.
std::string cpu_model();
/// True if this is a program for AArch64 that QEMU runs on x86, so that speeds mean nothing. QEMU shows the host's
/// /proc/cpuinfo, and only that of x86 names a vendor.
bool is_emulated();

/// The name and version of the compiler that built this program.
std::string compiler_name();

}  // namespace polykem::cli
