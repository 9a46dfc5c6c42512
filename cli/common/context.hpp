// SPDX-License-Identifier: Apache-2.0
// Opening parameter sets and contexts for commands, with errors that say what to do.
#pragma once

#include <polykem/polykem.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "common/exit_codes.hpp"

namespace polykem::cli {

/// The environment variable by which the library takes a backend, unless --backend names one.
inline constexpr const char* kBackendVariable = "POLYKEM_BACKEND";

/// The exit code for a status of the library.
ExitCode exit_code_of(polykem_status status);

/// Which sets a command takes.
enum class Sets { kKems, kSignatures, kAll };

/// All sets of that kind, KEMs first.
std::vector<Scheme> all_sets(Sets sets = Sets::kAll);

/// The set of that name or alias, of either kind; NULL if this build has none.
const polykem_scheme* find_set(const std::string& name);

/// A hint for a name that no parameter set has: the set it resembles, if any, and where to find all.
std::string suggestion(const std::string& name);

/// The set of that name or alias. Throws CliError (usage) that suggests the nearest name, or says what the set is for.
Scheme open_scheme(const std::string& name, Sets sets = Sets::kKems);

/// Throws CliError (with `code`) if a set is of another kind. `where`: what is of the set, for the message; or empty.
void check_kind(const Scheme& scheme, Sets sets, ExitCode code, const std::string& where = {});

/// Sets from a comma-separated list; "all" gives every set, a family's name ("ntru") its sets. No duplicates.
std::vector<Scheme> open_schemes(const std::string& list);

/// True if a set has that operation.
bool has_op(const Scheme& scheme, polykem_op op);

/// A context. Throws CliError: usage for an unknown backend (naming those that exist), backend if it cannot run here.
Context open_context(unsigned threads = 0, const std::string& backend = {});

/// Name of the backend that runs `scheme` in `context`. Throws CliError (backend) if none can; `asked` is the value of
/// --backend, for the message.
std::string backend_for(const Context& context, const Scheme& scheme, const std::string& asked = {});

/// Names of this build's backends, best first; only those that can run here, if only_available.
std::vector<std::string> backend_names(bool only_available);

/// All backends for people, best first, a line each; those that cannot run here say what they need.
std::string describe_backends();

/// A line for each backend of which the CPU had to compute something in this process, as it failed; "" if none did.
std::string describe_failures();

/// Operations from "keygen", "encaps", "decaps", "sign", "verify", "all" or a comma-separated list. Throws CliError
/// (usage).
std::vector<polykem_op> parse_ops(const std::string& list);

/// "keygen", "encaps", "decaps", "sign" or "verify".
const char* op_name(polykem_op op);

/// Splits at `separator`; empty parts are dropped.
std::vector<std::string> split(std::string_view text, char separator);

/// The one of `candidates` that `word` resembles most, by edit distance; empty if it resembles none: more than a third
/// of the letters differ, and it is not the beginning of one. Letter case, '-' and '_' do not matter.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// The processor's name as the system gives it.
std::string cpu_model();
/// True if this is a program for AArch64 on another processor: QEMU shows the host's description of its CPUs, and only
///     those of x86 name a vendor. Speeds mean nothing then.
bool is_emulated();

/// Name and version of the compiler that built it.
std::string compiler_name();

}  // namespace polykem::cli
