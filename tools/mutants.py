#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in the source, one at a time; a test must find each.

    tools/mutants.py [--build FOLDER] [--list] [NAME...]

Works on a copy of the tree in FOLDER (build-mutants), so that nothing here changes. First the tests have to pass
without a fault. Then each mutant's text is replaced, what its test needs is built, and the test has to fail (killed).
Exits with 1 if one survives, no longer applies or does not compile. Those in code for AVX-512 are skipped on a CPU
without. A fault that was met in practice becomes a row of MUTANTS.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 120  # seconds of one test; a mutant that hangs is found

# The portable backend is enough for faults of the engine and of the schemes, and builds soonest.
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1", "-DPOLYKEM_VECTORS=none",
             "-DPOLYKEM_CUDA=OFF", "-DPOLYKEM_BUILD_EXAMPLES=OFF",
             "-DPOLYKEM_BUILD_TESTS=ON", "-DPOLYKEM_CKKS=ON"]
CONFIGURE_AVX512 = [option.replace("VECTORS=none", "VECTORS=avx512") for option in CONFIGURE]


class Mutant(NamedTuple):
    name: str
    file: str
    text: str  # must be there exactly once
    replacement: str
    program: str  # the target in build/bin that has the test
    test: str  # --gtest_filter; if the program is polykem, a unittest below tests/, as FOLDER/MODULE.CLASS.TEST


MUTANTS = [
    # Randomness
    Mutant("generator never seeds again", "src/prim/drbg/drbg.hpp",
           "fills_left_ -= fills_left_ > 0 ? 1 : 0;", "", "drbg_test", "DrbgSeeding.*"),
    Mutant("the generator's next key is what it gives out", "src/prim/drbg/ref/drbg.cpp",
           "rest.counter = kKeyBytes / kAesBlockBytes;", "rest.counter = 0;", "drbg_test", "*AShortFill*"),
    Mutant("generator keeps its key", "src/prim/drbg/ref/drbg.cpp",
           "stream.squeeze(key_);\n", "", "prim_test", "Drbg.*"),
    Mutant("no entropy is no error", "src/prim/drbg/ref/drbg.cpp",
           "if (got <= 0) return Status::kRandom;", "if (got <= 0) return Status::kOk;",
           "worker_test", "OsEntropy.*"),
    # Files of keys
    Mutant("a seed and another expanded key pass", "formats/keys.cpp",
           "!equal(pair.sk, key.expanded)", "false", "formats_test", "Keys.*"),
    Mutant("a damaged expanded key passes", "formats/keys.cpp",
           "status == POLYKEM_ERR_ITEMS || !equal(sent, received)", "status == POLYKEM_ERR_ITEMS",
           "formats_test", "Keys.*"),
    Mutant("lengths of DER in more bytes than they take", "formats/der.cpp",
           "const bool shortest = in[2] != 0 && length >= kLongForm;", "const bool shortest = true;",
           "formats_test", "Der.*"),
    Mutant("a damaged BEGIN line passes for text", "formats/pem.cpp",
           'if (starts_with(text, kBegin)) throw FormatError("the BEGIN line is damaged");', "",
           "formats_test", "Pem.*"),
    Mutant("base64 in PEM may go on after an empty line", "formats/pem.cpp",
           "text.empty() && (lines_ > 0 || empty_line_)", "false", "formats_test", "Pem.*"),
    Mutant("the last digits of base64 are others", "formats/base64.cpp",
           "(v > 62) & ", "(v > 63) & ", "formats_test", "Base64.*"),
    # CKKS
    Mutant("more digits than there are", "ckks/src/context.cpp",
           "(params.digits - 1) * digit_limbs >= limbs_", "false", "ckks_test", "CkksApi.ParametersAreChecked"),
    Mutant("a batch of other primes passes", "ckks/src/evaluator.hpp",
           "batch.set != context.q_id()", "batch.n != context.n()", "ckks_test", "CkksApi.ParameterSets*"),
    Mutant("no memory for a thread ends the process", "ckks/src/context.cpp",
           "} catch (const std::bad_alloc&) {     // no memory for one more", "", "ckks_calls_test", "*WithThreads"),
    Mutant("operands in different places pass", "ckks/src/evaluator.cpp",
           "((device_of(others) != place) || ...)", "false && ((device_of(others) != place) || ...)",
           "ckks_device_test", "CkksDevice.PlacesMustAgree"),
    Mutant("slots of a sum do not move", "ckks/src/cuda_module/gpu.cpp",
           "mod_down(Unit::kImma, item(out, first), moved_sums,", "mod_down(Unit::kImma, item(out, first), at.sums,",
           "ckks_device_test", "CkksDevice.ComputesAsTheCpu"),
    Mutant("plaintexts stay in a GPU's memory", "ckks/src/device.cpp",
           "return uploaded(device, a, device->q_id(), true);", "return uploaded(device, a, device->q_id(), false);",
           "ckks_device_test", "CkksDevice.PlaintextsGoBackAndAreZeroized"),
    # Files of OpenFHE
    Mutant("a residue may be its modulus", "ckks/openfhe/check.cpp",
           "return x >= tower.modulus;", "return x > tower.modulus;", "openfhe_test", "Refusals.*"),
    Mutant("any root is a root of unity", "ckks/openfhe/check.cpp",
           "q.root < q.value && power(q.root, n, q.value) == q.value - 1", "q.root < q.value",
           "openfhe_test", "Refusals.*"),
    Mutant("what was shared is not compared", "ckks/openfhe/pointers.cpp",
           "if (content == object) return number;", "return number;", "openfhe_test", "RoundTrip.*"),
    Mutant("bytes after the object pass", "ckks/openfhe/binary.cpp",
           "in_.sgetc() != std::streambuf::traits_type::eof()", "false", "openfhe_test", "Refusals.*"),
    Mutant("keys of one tag may have several rings", "ckks/openfhe/check.cpp",
           "key.context == first.context || *key.context == *first.context", "true",
           "openfhe_test", "Hostile.KeysOfOne*"),
    Mutant("keys of one tag may have several special moduli", "ckks/openfhe/check.cpp",
           "moduli_of(key.a[0]) == moduli_of(first.a[0])", "true", "openfhe_test", "Hostile.KeysOfOne*"),
    Mutant("a tower of any length is taken", "ckks/openfhe/handles.cpp",
           "|| polynomial[i].values.size() != n", "|| n == 0", "openfhe_test", "Hostile.Towers*"),
    Mutant("a short array of words is taken", "ckks/src/capi.cpp",
           "if (count != needed)", "if (count > needed)", "ckks_test", "CkksApi.ArraysOf*"),
    Mutant("a scale beyond the modulus passes", "ckks/src/context.cpp",
           "if (bits < bound) return;", "if (bits < 1000) return;", "ckks_test", "CkksApi.ScalesBeyond*"),
    Mutant("a scale of the modulus passes", "ckks/src/context.cpp",
           "if (bits < bound) return;", "if (bits <= bound) return;", "ckks_test", "CkksApi.ScalesThatAreGiven*"),
    # Threads
    Mutant("a quota of CPUs counts for one less", "src/core/usable_cpus.cpp",
           "std::ceil(quota)", "std::floor(quota)", "usable_cpus_test", "UsableCpus.*"),
    Mutant("groups above the own have no quota", "src/core/control_groups.cpp",
           "if (group.empty()) return;", "return;", "usable_cpus_test", "CpuQuota.*"),
    Mutant("a product of two upper parts is lost", "ckks/src/rows/avx512/rows_avx512.cpp",
           "high52(high52(high, a1, b), a, b1)", "high52(high, a1, b)", "ckks_test", "CkksRows.SumProducts*"),
    Mutant("a sum of many products overflows", "ckks/src/rows/lanes/words.hpp",
           "if (i % 64 == 63)", "if (i % 128 == 127)", "ckks_test", "CkksRows.SumProducts*"),
    Mutant("words of 52 bits are not reduced before a product", "ckks/src/rows/avx512/rows_avx512.cpp",
           "if constexpr (!kSpare) x = reduce(x);", "", "ckks_test", "LogN/CkksRows.Transform*"),
    Mutant("several rotations share one g", "ckks/src/host_backend.cpp",
           "raised.key_switch(*keys[i], gs[i],", "raised.key_switch(*keys[i], gs[0],",
           "ckks_test", "CkksCircuit.Several*"),
    Mutant("CKKS starts threads beyond the allowed CPUs", "ckks/src/context.cpp",
           "std::min(usable_cpus().count, kMaxThreads)", "kMaxThreads", "ckks_threads_test", "CkksThreads.*"),
    # Broker
    Mutant("broker trusts an index", "src/broker/session.cpp",
           "if (index >= slots_.size() || slots_[index].busy) return false;", "if (slots_[index].busy) return false;",
           "broker_test", "Hostile.NamesASlot*"),
    Mutant("broker takes a slot twice", "src/broker/session.cpp",
           "if (index >= slots_.size() || slots_[index].busy) return false;",
           "if (index >= slots_.size()) return false;", "broker_test", "HostileToAStalledDaemon.HandsIn*"),
    Mutant("broker leaves inputs in the shared memory", "src/broker/session.cpp",
           "zeroize(view_.records(slot.index), in);", "", "broker_test", "Server.Wipes*"),
    Mutant("broker wipes results that a client is reading", "src/broker/session.cpp",
           "  drop_all();\n  ::shutdown", "  zeroize();\n  ::shutdown", "broker_test", "Server.AnEndLeaves*"),
    Mutant("broker does not see that a process has ended", "src/broker/server.cpp",
           "if (session->process() >= 0) watch(session->process(), id | kProcess);", "", "broker_test",
           "HostileToAStalledDaemon.Dies*"),
    Mutant("broker takes memory that could shrink", "src/broker/shared_memory.cpp",
           "::fcntl(fd.get(), F_GET_SEALS) != kSeals || ", "", "broker_test", "HostileDaemon.Sends*"),
    Mutant("broker believes how much is in a ring", "src/broker/session.cpp",
           "many > view_.slots() || !claim(index)", "!claim(index)", "broker_test", "HostileInNumbers.AFullRing*"),
    Mutant("shared memory is in core dumps", "src/broker/shared_memory.cpp",
           "::madvise(memory, bytes, MADV_DONTDUMP);", "", "broker_test", "Server.TheSharedMemory*"),
    Mutant("shared memory may be swapped out", "src/broker/shared_memory.cpp",
           "::mlock2(data_, bytes_, MLOCK_ONFAULT);", "", "broker_test", "Server.TheSharedMemory*"),
    Mutant("a worker leaves a result in the shared memory", "src/broker/connection.cpp",
           "  polykem::zeroize(view_.records(index), batch->item.input_bytes() + batch->item.output_bytes());\n", "",
           "broker_test", "HostileDaemon.HasNothing*"),
    Mutant("a worker keeps descriptors that it did not ask for", "src/broker/socket.cpp",
           "for (size_t i = 0; i < many; ++i) {", "for (size_t i = 0; i < 1; ++i) {",
           "broker_test", "HostileDaemon.SendsMany*"),
    Mutant("broker counts operations and not their time", "src/broker/session.cpp",
           "share_.used_ns += slot.cost_ns;", "share_.used_ns += 1'000'000;", "broker_test", "Fairness.Shares*"),
    Mutant("broker takes whatever comes", "src/broker/server.cpp",
           "full_ = !queue_.empty() && !window_.has_room();", "full_ = false;",
           "broker_test", "Fairness.OperationsInFlight*"),
    Mutant("who rests saves time up", "src/broker/fair_queue.hpp",
           "share.used_ns = std::max(share.used_ns, now_ns_);", "", "broker_test", "FairQueue.*"),
    Mutant("a user has a share for each client", "src/broker/user_queue.hpp",
           "owner.share.used_ns += ns;", "owner.share.used_ns += ns / (owner.clients.size() + 1);",
           "broker_test", "UserQueue.*"),
    Mutant("one user may hold all shared memory", "src/broker/server.cpp",
           "alone ? free : free / 2", "free", "broker_test", "Fairness.AUserLeavesMemory*"),
    Mutant("a worker may take all that its user may have", "src/broker/server.cpp",
           "map_bytes(slots) > users / 2", "map_bytes(slots) > users", "broker_test", "Fairness.AClientLeavesMemory*"),
    Mutant("a worker does not wait for its place", "src/broker/socket.cpp",
           "Fd socket = stream_socket(0);", "Fd socket = stream_socket();", "broker_test", "Server.AWorkerWaits*"),
    # Handshakes over TCP
    Mutant("serve does not look whether a client is there", "cli/net/connection.cpp",
           "::poll(&socket, 1, 0) <= 0", "true", "net_test", "ALook.*"),
    Mutant("who has sent something counts as gone", "cli/net/connection.cpp",
           "POLLRDHUP, 0}", "POLLIN | POLLRDHUP, 0}", "net_test", "ALook.*"),
    Mutant("serve computes for who has left", "cli/net/operations.cpp",
           "if (operation_ != nullptr) operation_->owner.remove(*operation_);", "", "polykem",
           "e2e/test_floods.Floods.test_keys_for_those_who_have_left_are_not_made"),
    # Engine
    Mutant("item_status not preset before a chunk", "src/engine/chunk.cpp",
           "std::fill_n(batch.item_status, batch.count, Status::kOk);", "", "item_status_test", "*"),
    Mutant("failed items not noticed", "src/engine/chunk.cpp",
           "any |= static_cast<int>(items.item_status[i]);", "", "item_status_test", "*"),
    Mutant("outputs not zeroed after a failed batch", "src/engine/job.cpp",
           "zeroize(records.*f.out, size);", "", "calls_test", "*Run/Keygen_mlkem512_1items_1threads"),
    Mutant("worker not wiped when it goes back", "src/engine/worker.cpp",
           "  worker->zeroize();\n", "", "worker_test", "WorkerPool.*"),
    Mutant("outputs on an accelerator not zeroed after a failed batch", "src/engine/job.cpp",
           "route.accelerator->zero(records.*f.out, size);", "", "accelerator_test", "*OutputsOnTheDevice*/mlkem512"),
    Mutant("worker not wiped before the batch is complete", "src/engine/job.cpp",
           "if (worker != nullptr && first >= records_.count) worker->zeroize(zeroize_stack_);", "",
           "secrets_test", "SecretsInACallback.*"),
    Mutant("too little of the stack wiped after one item", "src/core/secure.hpp",
           "13 * 1024 + 512", "4 * 1024", "secrets_test", "Families/Stack.*"),
    Mutant("a batch of tickets leaves its memory", "src/engine/batcher/batch.cpp",
           "  polykem::zeroize(memory_.data(), used_);\n", "", "secrets_test", "Families/SecretsOfTickets.*"),
    Mutant("the message of a refused operation is hashed", "src/engine/batcher/batcher.cpp",
           "const auto mine = core();",
           "const auto mine = core();\n  if (Ticket* early = Ticket::create(request)) early->release();",
           "batcher_test", "*BatchedSignatures.WhatIsRefused*"),
    Mutant("who waits hands over to another thread", "src/engine/batcher/placement.cpp",
           "single > kSwitch && !caller.waits", "single > kSwitch", "batcher_test", "Api.ACallerThatWaits*"),
    Mutant("the library's threads take the program's signals", "src/core/thread.hpp",
           "sigfillset(&all);", "sigemptyset(&all);", "batcher_test", "Executors.SignalsGo*"),
    Mutant("a device's wrong result does not matter", "src/engine/batcher/executor_state.cpp",
           'breaker_.open("a result was wrong", now);', "", "batcher_test", "Executors.ADeviceThatBegins*"),
    Mutant("one late batch takes a device away", "src/engine/batcher/breaker.hpp",
           "if (++late_ >= kLateInARow) open", "open", "batcher_test", "Executors.OneLate*"),
    Mutant("late batches never take a device away", "src/engine/batcher/executor_state.cpp",
           'breaker_.late("batches passed their deadline in a row", batch.started, now);', "",
           "batcher_test", "Executors.LateBatches*"),
    Mutant("decapsulations always come first", "src/engine/batcher/queues.cpp",
           "std::ranges::stable_sort(order, std::greater(),",
           "if (false) std::ranges::stable_sort(order, std::greater(),",
           "batcher_test", "Executors.AKeyPairIsMade*"),
    Mutant("what nothing is known of stays cheap", "src/engine/batcher/placement.cpp",
           "queue.single.of(1) / all : Clock::duration::max();",
           "queue.single.of(1) / all : kUnmeasuredOperation / all;", "batcher_test", "Executors.TheCostOf*"),
    Mutant("operations wait for a device that stands still", "src/engine/batcher/placement.cpp",
           "executor.forced() && !executor.all_late();", "executor.forced();", "batcher_test",
           "Executors.NothingWaits*"),
    Mutant("nobody counts what spills", "src/engine/batcher/dispatch.cpp",
           "queue.stats->spilled += fresh;", "static_cast<void>(fresh);", "batcher_test", "Executors.AboveHighWater*"),
    Mutant("the set that came last is first", "src/engine/batcher/queues.hpp",
           "queue.since() >= best->since()", "queue.since() < best->since()", "batcher_test", "Executors.TheSetThat*"),
    Mutant("what lacks memory is measured", "src/engine/batcher/batcher_core.cpp",
           "if (status != Status::kOutOfMemory) queue", "queue", "batcher_calls_test", "*WithoutMemoryAreNotMeasured"),
    Mutant("the end does not wait for a probe", "src/engine/batcher/batcher_core.cpp",
           "  Lock lock(mutex_);\n  idle_.wait(lock, all_done);\n  ended", "  Lock lock(mutex_);\n  ended",
           "batcher_test", "Executors.TheEndWaits*"),
    Mutant("a caller computes what takes too long for it", "src/engine/batcher/placement.cpp",
           "if (single > caller.longest_here) return false;", "", "batcher_test", "Executors.ALongOperation*"),
    Mutant("a device's first probe is measured", "src/engine/batcher/executor_state.cpp",
           "if (++it.passed == 1) {", "if (++it.passed == 0) {", "batcher_test", "Executors.TheFirstProbe*"),
    Mutant("a device's batch may take more than the deadline", "src/engine/batcher/placement.cpp",
           "service.items_to_try(max_time), config.batch_items", "config.batch_items, config.batch_items",
           "batcher_test", "Executors.TwoBatches*"),
    Mutant("a crossover's note dies with the next one", "src/engine/crossover.cpp",
           "return static_text(t.note);", "return t.note.c_str();", "accelerator_test", "*ANoteOf*/mlkem512"),
    Mutant("last key of a set refused", "src/engine/request.cpp",
           "if (b.key_index[i] >= set.count) return Status::kRange;",
           "if (b.key_index[i] + 1 >= set.count) return Status::kRange;", "capi_test", "Api.KeySets*"),
    Mutant("key behind a set's end taken", "src/engine/request.cpp",
           "if (b.key_index[i] >= set.count) return Status::kRange;",
           "if (b.key_index[i] > set.count) return Status::kRange;", "capi_test", "Api.KeySets*"),
    Mutant("keys of another parameter set taken", "src/engine/request.cpp",
           "if (set.scheme != r.scheme || set.kind != wanted)", "if (set.kind != wanted)",
           "capi_test", "Api.KeySets*"),
    Mutant("a count whose bytes overflow taken", "src/engine/request.cpp",
           "if (!s.has(r.op) || !count_fits(s, b.count)) return Status::kArgument;", "",
           "capi_test", "Api.Refuses*"),
    # Schemes: rejection, and refusal of keys
    Mutant("NTRU accepts what does not decapsulate", "src/schemes/ntru/ref/steps.hpp",
           "t.fail |= recover_r<P>(t.a, t.z) | wrong_weight<P>(t.b);", "recover_r<P>(t.a, t.z);",
           "property_test", "*AnyFlipped*/ntruhps2048509_ref"),
    Mutant("ML-KEM, Kyber and Saber accept what does not re-encrypt", "src/schemes/fo_transform.hpp",
           "state.fo().fail[l] = ct::mask_different(again.at(l), state.ct_in().at(l), P.ciphertext_bytes());",
           "state.fo().fail[l] = 0;", "property_test", "*AnyFlipped*/mlkem512_ref"),
    Mutant("ML-KEM compares all but the last byte", "src/schemes/fo_transform.hpp",
           "ct::mask_different(again.at(l), state.ct_in().at(l), P.ciphertext_bytes());",
           "ct::mask_different(again.at(l), state.ct_in().at(l), P.ciphertext_bytes() - 1);",
           "property_test", "*AnyFlipped*/mlkem512_ref"),
    Mutant("ML-KEM takes coefficients of q and more", "src/schemes/mlkem/ref/arithmetic.hpp",
           "key.valid = P.kyber() || too_large == 0;", "key.valid = 1;", "keys_test", "*OutOfRange*/mlkem512_ref"),
    Mutant("ML-KEM does not check the stored hash", "src/schemes/mlkem/keys.hpp",
           "P.kyber() || std::memcmp(hash, stored, kSymBytes) == 0;", "true;",
           "keys_test", "*AnotherHash*/mlkem512_ref"),
    Mutant("FrodoKEM accepts what does not re-encrypt", "src/schemes/frodo/steps.cpp",
           "t.fail = ct::mask_nonzero(difference);", "t.fail = 0;",
           "property_test", "*AnyFlipped*/efrodokem640aes_ref"),
    Mutant("FrodoKEM rejects without the salt's bytes", "src/schemes/frodo/steps.cpp",
           "std::memcpy(state.ct_out(i) + state.set.salt_offset(), t.coins + state.set.p.secret_bytes, "
           "state.set.salt_bytes());", "",
           "property_test", "*RoundTrip*/frodokem640shake_ref"),
    Mutant("a signature of which no attempt succeeds counts", "src/schemes/mldsa/state.hpp",
           "io.item_status[slot.item] = Status::kSecretKey;", "", "mldsa_requests_test", "DamagedKeys.*"),
    # OpenSSL provider
    Mutant("a resume without cause ends the pause", "provider/async_job.cpp",
           "resumes < kMaxIdleResumes", "resumes < 1", "provider_tls_test", "Jobs.ResumedWithoutCause"),
    Mutant("an abandoned operation stays", "provider/async_job.cpp",
           "delete static_cast<Waiter*>(waiter);", "(void)waiter;", "provider_tls_test", "Jobs.Abandoned"),
    Mutant("a descriptor that nothing paused on stays", "provider/async_job.cpp",
           "if (is_new) forget_if_unpaused(context, waiter);", "(void)is_new;",
           "provider_tls_test", "Jobs.PausesForbidden"),
    Mutant("the parts of X25519MLKEM768 change places", "src/schemes/hybrid/params.hpp",
           '{"x25519mlkem768", "X25519MLKEM768", {}, "mlkem768", ecdh::Curve::kX25519, Combiner::kTls, false,',
           '{"x25519mlkem768", "X25519MLKEM768", {}, "mlkem768", ecdh::Curve::kX25519, Combiner::kTls, true,',
           "kat_test", "*EveryCase*/x25519mlkem768_ref"),
    Mutant("X25519's zero passes", "src/prim/ecdh/x25519.hpp", "  return any != 0;\n", "  return true;\n", "ecdh_test",
           "*X25519OfSmallOrderIsRefused/x25519_portable"),
    Mutant("a public key that is not reduced passes", "provider/key.cpp",
           "if (parts.ek_bytes != 0 && !is_reduced({own.data() + parts.ek_at, parts.ek_bytes})) {", "if (false) {",
           "provider_evp_test", "Provider.RefusesMalformedKeys"),
    Mutant("a coefficient may be q", "provider/key.cpp",
           "(p[1] & 0xF) << 8) < kQ && (p[1] >> 4 | p[2] << 4) < kQ;",
           "(p[1] & 0xF) << 8) <= kQ && (p[1] >> 4 | p[2] << 4) <= kQ;",
           "provider_boundary_test", "PublicKey.CoefficientsAreBelowQ"),
    Mutant("a point in another form passes", "provider/classical.cpp",
           "return share.data()[0] == 4 ?", "return share.data()[0] == 4 || share.data()[0] >= 6 ?",
           "provider_boundary_test", "PublicKey.PointsHaveOneForm"),
    Mutant("a failed decapsulation leaves its secret", "provider/kem.cpp",
           "if (!decapsulate(*context.key, in, secret)) {\n        OPENSSL_cleanse(secret, right);",
           "if (!decapsulate(*context.key, in, secret)) {", "provider_boundary_test", "*AFailureLeavesNoSecret*"),
    Mutant("a failed encapsulation leaves its secret", "provider/kem.cpp",
           "OPENSSL_cleanse(secret, right_secret);", "", "provider_boundary_test", "*AFailureLeavesNoSecret*"),
    Mutant("a provider is torn down after OPENSSL_cleanup", "provider/provider.cpp",
           "up_ref(provider->handle, 0) <= 0", "false", "provider_exit_test", "*TheProcess/HybridKey"),
    Mutant("a count of references counts as an error", "provider/provider.cpp",
           "up_ref(provider->handle, 0) <= 0", "up_ref(provider->handle, 0) != 1",
           "provider_exit_test", "Exit.WritesStatisticsWhileAKeyIsLeft"),
    Mutant("a program's own OPENSSL_cleanup is not noticed", "provider/provider.cpp",
           "OPENSSL_atexit(stay_loaded) == 1;", "true;", "provider_exit_test", "*Cleanup/HybridKey"),
    Mutant("a fork may happen while the provider's lock is held", "provider/provider.cpp",
           "once = register_handlers();", "once = OPENSSL_atexit(stay_loaded) != 0;",
           "provider_exit_test", "Exit.AForkMeanwhile*"),
    Mutant("a child of the program's context is used", "provider/core.cpp",
           "is_child_(!is_our_libcrypto(core))", "is_child_(true)", "provider_exit_test", "*ItsContext/HybridKey"),
    Mutant("abandoned pauses are not counted", "provider/async_job.cpp",
           "if (operation != nullptr) operation->pauses->abandon();", "",
           "provider_tls_test", "Jobs.AbandonedUpToALimit"),
    Mutant("pauses that ended well count as abandoned", "provider/async_job.cpp",
           "operation = std::move(waiter->operation);",
           "operation = std::move(waiter->operation);\n  operation->pauses->abandon();",
           "provider_tls_test", "Jobs.AbandonedUpToALimit"),
    Mutant("an imported pair is not checked", "provider/keymgmt.cpp",
           "return key.check_pair();\n    if (key.has_private())", "return 1;\n    if (key.has_private())",
           "provider_evp_test", "*Transfer/ntruhps2048509"),
    Mutant("an unknown key of openssl.cnf passes", "provider/config.cpp",
           "if (is_known(key, offer) || core.get(key.c_str()) == nullptr) continue;", "continue;",
           "provider_config_test", "Config.WrongKey"),
    Mutant("a seed is not used", "provider/compute.cpp",
           "operation.secrets.empty() ? nullptr : operation.secrets.data();", "nullptr;",
           "provider_kat_test", "*mlkem512"),
]


def copy_tree(target):
    """Copies every file that git knows of, as it is here; files that did not change keep their date."""
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    known = set()
    for name in names:
        source, copy = ROOT / name, target / name
        if not source.is_file() or source.is_symlink():
            continue
        known.add(copy)
        content = source.read_bytes()
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            copy.chmod(source.stat().st_mode)
    for stale in target.rglob("*"):
        if stale.is_file() and stale not in known:
            stale.unlink()


class Scratch:
    """The copy of the tree and its build."""

    def __init__(self, folder, options=CONFIGURE):
        self.tree, self.build, self.options = folder / "tree", folder / "build", options
        self.log = folder / "build.log"

    def configure(self):
        copy_tree(self.tree)
        launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        has_ccache = subprocess.run(["sh", "-c", "command -v ccache"], capture_output=True).returncode == 0
        self.call(["cmake", "-S", self.tree, "-B", self.build, *self.options, *(launcher if has_ccache else [])])

    def call(self, command):
        result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace")
        self.log.write_text(result.stdout)
        if result.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command[:3]))} failed, see {self.log}")

    def compile(self, *programs):
        self.call(["cmake", "--build", self.build, "-j", os.environ.get("JOBS", str(os.cpu_count())),
                   "--target", *programs])

    def passes(self, program, test):
        """Returns whether the test passes. A filter that selects nothing is an error: it would always pass."""
        program_file = self.build / "bin" / program
        command, folder = [program_file, f"--gtest_filter={test}", "--gtest_brief=1"], self.tree
        if program == "polykem":
            below, name = test.split("/")
            command, folder = [sys.executable, "-B", "-m", "unittest", name], self.tree / "tests" / below
        try:
            result = subprocess.run(command, cwd=folder, env={**os.environ, "POLYKEM_PROGRAM": str(program_file)},
                                    capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return False
        if "0 tests from 0 test suites ran" in result.stdout:
            raise RuntimeError(f"{program} has no test {test}")
        return result.returncode == 0


def mutate(scratch, mutant):
    """Returns 'killed', 'survived', or what is wrong with the mutant."""
    path = scratch.tree / mutant.file
    original = path.read_text() if path.is_file() else ""
    if original.count(mutant.text) != 1:
        return f"does not apply: its text is {original.count(mutant.text)} times in {mutant.file}"
    path.write_text(original.replace(mutant.text, mutant.replacement))
    try:
        scratch.compile(mutant.program)
        return "survived" if scratch.passes(mutant.program, mutant.test) else "killed"
    except RuntimeError as error:
        return str(error)
    finally:
        path.write_text(original)


def run(scratch, mutants):
    scratch.configure()
    scratch.compile(*sorted({m.program for m in mutants}))
    for program, test in sorted({(m.program, m.test) for m in mutants}):
        if not scratch.passes(program, test):
            raise RuntimeError(f"{program} --gtest_filter={test} fails without a mutant")
    killed = 0
    for number, mutant in enumerate(mutants, 1):
        started = time.monotonic()
        outcome = mutate(scratch, mutant)
        killed += outcome == "killed"
        seconds = time.monotonic() - started
        print(f"[{number}/{len(mutants)}] {outcome:<9} {seconds:5.1f} s  {mutant.name}"
              f"  ({mutant.program} {mutant.test})", flush=True)
    print(f"{killed} killed, {len(mutants) - killed} not")
    return killed == len(mutants)


def run_all(folder, mutants):
    """Runs mutants in the build that has their code. Returns whether a test found each that this CPU can run."""
    vector = [m for m in mutants if "/avx512/" in m.file]
    portable = [m for m in mutants if m not in vector]
    good = run(Scratch(folder), portable) if portable else True
    if vector and "avx512_vbmi2" not in Path("/proc/cpuinfo").read_text():
        print(f"{len(vector)} skipped: this CPU cannot run their code for AVX-512")
    elif vector:
        good = run(Scratch(folder / "avx512", CONFIGURE_AVX512), vector) and good
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build-mutants", help="where the copy is built")
    parser.add_argument("--list", action="store_true", help="list the mutants and exit")
    parser.add_argument("names", nargs="*", help="only mutants whose name contains one of these")
    arguments = parser.parse_args()
    mutants = [m for m in MUTANTS if not arguments.names or any(name in m.name for name in arguments.names)]
    if arguments.list or not mutants:
        print(*(f"{m.name}: {m.file}" for m in mutants), sep="\n")
        return 0 if mutants else 2
    arguments.build.mkdir(parents=True, exist_ok=True)
    try:
        return 0 if run_all(arguments.build.resolve(), mutants) else 1
    except RuntimeError as error:
        print(f"mutants: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
