// SPDX-License-Identifier: Apache-2.0
// Checks the library against the fake module: polykem_cuda_module_check MODE, with FAKE_CUDA, POLYKEM_CUDA_MODULE and
// perhaps FAKE_CUDA_SET set.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "accelerators/cuda/accelerator.hpp"
#include "accelerators/cuda/module/module.hpp"
#include "engine/job.hpp"
#include "polykem/polykem.h"
#include "schemes/registry.hpp"

namespace {

using Bytes = std::vector<uint8_t>;

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

/// Returns what `polykem doctor` would say about the backend.
polykem_backend_info_t cuda_info() {
  polykem_backend_info_t info{};
  info.struct_size = sizeof info;
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info(i, &info);
    if (std::strcmp(info.name, "cuda") == 0) return info;
  }
  expect(false, "there is no backend cuda");
  return info;
}

polykem_context* context(const char* backend, polykem_status wanted, unsigned threads = 1) {
  const polykem_config config{sizeof config, threads, backend};
  polykem_context* result = nullptr;
  expect(polykem_context_new(&config, &result) == wanted, "polykem_context_new");
  return result;
}

const polykem_scheme* find(const char* name) {
  const polykem_scheme* scheme = nullptr;
  expect(polykem_scheme_find(name, &scheme) == POLYKEM_OK, "polykem_scheme_find");
  return scheme;
}

polykem_scheme_info_t info_of(const polykem_scheme* scheme) {
  polykem_scheme_info_t info{};
  info.struct_size = sizeof info;
  polykem_scheme_info(scheme, &info);
  return info;
}

/// The set that the fake module has.
const polykem_scheme* scheme_of_module() {
  const char* name = std::getenv("FAKE_CUDA_SET");
  return find(name == nullptr ? "ntruhps2048509" : name);
}

/// Without a working module the backend says why, and everything else works as if the backend did not exist.
void check_unavailable(const char* reason) {
  const polykem_backend_info_t info = cuda_info();
  expect(info.available == 0, "cuda must not be available");
  expect(std::strstr(info.requirements, reason) != nullptr, "the reason is missing");
  if (std::strstr(info.requirements, reason) == nullptr) std::fprintf(stderr, "  got: %s\n", info.requirements);
  context("cuda", POLYKEM_ERR_BACKEND_UNAVAILABLE);
  polykem_context* any = context(nullptr, POLYKEM_OK);
  const char* backend = polykem_context_backend(any, scheme_of_module());
  expect(backend != nullptr && std::strcmp(backend, "cuda") != 0, "a CPU backend must run the set");
  polykem_context_free(any);
}

/// A module does not run a set whose description differs from the library's.
void check_mismatch() {
  expect(cuda_info().available == 1, "the module itself is fine");
  polykem_context* forced = context("cuda", POLYKEM_OK);
  expect(polykem_context_backend(forced, scheme_of_module()) == nullptr, "a set described otherwise must not run");
  expect(std::strstr(cuda_info().requirements, "another build") != nullptr, "the reason");
  polykem_context_free(forced);
}

struct Results {
  Bytes pk, sk, ct, ss, decapsulated;
};

/// A deterministic exchange of `count` items.
Results exchange(polykem_context* context, size_t count) {
  const polykem_scheme* scheme = scheme_of_module();
  const polykem_scheme_info_t info = info_of(scheme);
  Bytes keygen_coins(count * info.keygen_coin_bytes), encaps_coins(count * info.encaps_coin_bytes);
  for (size_t i = 0; i < keygen_coins.size(); ++i)
    keygen_coins[i] = static_cast<uint8_t>(i * i / 7);
  for (size_t i = 0; i < encaps_coins.size(); ++i)
    encaps_coins[i] = static_cast<uint8_t>(i * i / 11);
  Results r{Bytes(count * info.public_key_bytes), Bytes(count * info.secret_key_bytes),
            Bytes(count * info.ciphertext_bytes), Bytes(count * info.shared_secret_bytes),
            Bytes(count * info.shared_secret_bytes)};
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = scheme;
  request.count = count;
  request.op = POLYKEM_KEYGEN;
  request.coins = keygen_coins.data();
  request.pk_out = r.pk.data();
  request.sk_out = r.sk.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "keygen");
  request.op = POLYKEM_ENCAPS;
  request.coins = encaps_coins.data();
  request.pk = r.pk.data();
  request.ct_out = r.ct.data();
  request.ss_out = r.ss.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "encaps");
  request.op = POLYKEM_DECAPS;
  request.coins = nullptr;
  request.sk = r.sk.data();
  request.ct = r.ct.data();
  request.ss_out = r.decapsulated.data();
  expect(polykem_run(context, &request) == POLYKEM_OK, "decaps");
  return r;
}

/// If a device fails, the CPU computes, nothing is lost, and doctor reports it.
void check_fallbacks(const char* reason) {
  constexpr size_t kCount = 37;
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  polykem_context* cpu = context("ref", POLYKEM_OK);
  const Results got = exchange(gpu, kCount), wanted = exchange(cpu, kCount);
  expect(got.pk == wanted.pk && got.sk == wanted.sk && got.ct == wanted.ct && got.ss == wanted.ss, "other results");
  expect(got.decapsulated == wanted.ss, "other decapsulated secrets");
  expect(polykem::chunk_fallbacks() == 3 && cuda_info().fallbacks == 3, "three chunks moved to the CPU");
  expect(std::strstr(cuda_info().requirements, reason) != nullptr, "the driver's words are missing");
  polykem_context_free(gpu);
  polykem_context_free(cpu);
}

/// ML-KEM's items keep their own status if the CPU takes over.
void check_status_after_failure() {
  constexpr size_t kCount = 21, kBroken = 4, kPublicKeyBytes = 1184, kCiphertextBytes = 1088;
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  Results made = exchange(gpu, kCount);
  std::memset(made.pk.data() + kBroken * kPublicKeyBytes, 0xff, 3);
  std::vector<polykem_status> status(kCount, POLYKEM_ERR_INTERNAL);
  expect(polykem_encaps(gpu, scheme_of_module(), kCount, POLYKEM_KEY_PER_ITEM, made.pk.data(), made.ct.data(),
                        made.ss.data(), status.data()) == POLYKEM_ERR_ITEMS,
         "one key is malformed");
  for (size_t i = 0; i < kCount; ++i)
    expect(status[i] == (i == kBroken ? POLYKEM_ERR_PUBLIC_KEY : POLYKEM_OK), "status of an item");
  expect(Bytes(made.ct.begin() + kBroken * kCiphertextBytes, made.ct.begin() + (kBroken + 1) * kCiphertextBytes) ==
             Bytes(kCiphertextBytes),
         "outputs of the malformed item are zero");
  polykem_context_free(gpu);
}

/// Threads share the copying of arrays that a GPU cannot reach.
void check_shared_by_threads() {
  const size_t count = info_of(scheme_of_module()).public_key_bytes > 5000 ? 600 : 6000;
  polykem_context* alone = context("cuda", POLYKEM_OK, 1);
  polykem_context* shared = context("cuda", POLYKEM_OK, 4);
  const Results wanted = exchange(alone, count);
  const size_t before = polykem::chunk_fallbacks();
  const Results got = exchange(shared, count);
  expect(polykem::chunk_fallbacks() - before >= 3 * 4, "each operation in a chunk a thread");
  expect(got.sk == wanted.sk && got.ct == wanted.ct && got.decapsulated == wanted.ss, "other results of threads");
  polykem_context_free(alone);
  polykem_context_free(shared);
}

/// Without device memory for keys, they stay on the host.
void check_keys_on_host() {
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  const Results made = exchange(gpu, 3);
  polykem_keyset* keys = nullptr;
  const polykem_scheme* scheme = scheme_of_module();
  expect(polykem_keyset_import(gpu, scheme, POLYKEM_SECRET_KEYS, 3, made.sk.data(), &keys) == POLYKEM_OK, "import");
  Bytes ss(made.ss.size());
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = scheme;
  request.count = 3;
  request.op = POLYKEM_DECAPS;
  request.keyset = keys;
  request.ct = made.ct.data();
  request.ss_out = ss.data();
  expect(polykem_run(gpu, &request) == POLYKEM_OK && ss == made.ss, "decaps with keys on the host");
  polykem_keyset_free(keys);
  polykem_context_free(gpu);
}

/// Returns whether a batch with a key set of this size gets expanded keys.
bool gets_expanded(polykem_context* gpu, size_t keys_in_set, polykem_key_mode mode) {
  const polykem_scheme_info_t info = info_of(scheme_of_module());
  const Bytes sk(keys_in_set * info.secret_key_bytes), ct(keys_in_set * info.ciphertext_bytes);
  Bytes ss(keys_in_set * info.shared_secret_bytes);
  polykem_keyset* keys = nullptr;
  expect(
      polykem_keyset_import(gpu, scheme_of_module(), POLYKEM_SECRET_KEYS, keys_in_set, sk.data(), &keys) == POLYKEM_OK,
      "import");
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = scheme_of_module();
  request.count = keys_in_set;
  request.op = POLYKEM_DECAPS;
  request.key_mode = mode;
  request.keyset = keys;
  request.ct = ct.data();
  request.ss_out = ss.data();
  expect(polykem_run(gpu, &request) == POLYKEM_OK, "decaps");
  polykem_keyset_free(keys);
  return ss[0] == 1;
}

/// Only small key sets have the expanded form, and only batches with one key get it.
void check_expanded_keys() {
  polykem_context* gpu = context("cuda", POLYKEM_OK);
  expect(gets_expanded(gpu, 1, POLYKEM_KEY_SHARED) && gets_expanded(gpu, 2, POLYKEM_KEY_SHARED), "one key for all");
  expect(!gets_expanded(gpu, 2, POLYKEM_KEY_PER_ITEM), "a key for each item");
  expect(!gets_expanded(gpu, 3, POLYKEM_KEY_SHARED), "a set of too many keys");
  polykem_context_free(gpu);
}

/// Messages and contexts of a chunk count as bytes that its thread copies; a string for all items does not.
void check_chunks_with_messages() {
  constexpr size_t kMessage = 10000, kContext = 200, kCopied = size_t{4} << 20, kMost = size_t{512} << 20;
  const polykem::Scheme& s = *polykem::signature_registry()[0];
  const size_t records = s.secret_key_bytes + s.signature_bytes;
  Bytes any(1);
  polykem::BatchView batch{.count = 1000000};
  batch.sk = any.data(), batch.sig_out = any.data();
  const auto chunk = [&](unsigned threads) {
    return polykem::cuda::accelerator().chunk_items(s, polykem::Op::kSign, batch, threads);
  };
  const auto expect_chunks = [&](size_t item_bytes, const char* what) {
    expect(chunk(4) == polykem::cuda::in_whole_transactions(kCopied / item_bytes), what);
    expect(chunk(1) == polykem::cuda::in_whole_transactions(kMost / (item_bytes + 1)), what);
  };
  expect_chunks(records, "chunks without messages");
  batch.message.strings = {any.data(), nullptr, kMessage, false};
  expect_chunks(records + kMessage, "chunks with messages");
  batch.message.contexts = {any.data(), nullptr, kContext, false};
  expect_chunks(records + kMessage + kContext, "chunks with contexts");
  batch.message.strings.shared = batch.message.contexts.shared = true;
  expect_chunks(records, "chunks with one message for all");
  batch.message.strings = {any.data(), nullptr, size_t{1} << 30, false};
  expect(chunk(1) > 0 && chunk(4) > 0, "chunks with messages of a gigabyte");
}

/// If a device fails to sign, the CPU signs.
void check_signatures() {
  constexpr size_t kCount = 5;
  const polykem_scheme* set = polykem_signature_at(0);
  const polykem_scheme_info_t info = info_of(set);
  Bytes xi(kCount * info.keygen_coin_bytes, 3), pk(kCount * info.public_key_bytes), sk(kCount * info.secret_key_bytes);
  const Bytes text(kCount * 7, 9);
  polykem_messages messages{};
  messages.struct_size = sizeof messages;
  messages.strings = {text.data(), nullptr, 7, 0};
  messages.deterministic = 1;
  polykem_request request{};
  request.struct_size = sizeof request;
  request.scheme = set;
  request.count = kCount;
  Bytes signatures[2];
  for (const char* backend : {"cuda", "ref"}) {
    polykem_context* any = context(backend, POLYKEM_OK);
    request.op = POLYKEM_KEYGEN, request.coins = xi.data(), request.pk_out = pk.data(), request.sk_out = sk.data();
    expect(polykem_run(any, &request) == POLYKEM_OK, "keygen");
    Bytes& sig = signatures[backend[0] == 'c' ? 0 : 1];
    sig.resize(kCount * info.signature_bytes);
    polykem_request sign = request, verify = request;
    sign.coins = verify.coins = nullptr;
    sign.pk_out = sign.sk_out = verify.pk_out = verify.sk_out = nullptr;
    sign.op = POLYKEM_SIGN, sign.sk = sk.data(), sign.messages = &messages, sign.sig_out = sig.data();
    verify.op = POLYKEM_VERIFY, verify.pk = pk.data(), verify.messages = &messages, verify.sig = sig.data();
    expect(polykem_run(any, &sign) == POLYKEM_OK && polykem_run(any, &verify) == POLYKEM_OK, "sign and verify");
    polykem_context_free(any);
  }
  expect(signatures[0] == signatures[1], "the reference's signatures");
  expect(polykem::chunk_fallbacks() == 3, "three chunks moved to the CPU");
}

size_t crossover(polykem_op op, int wanted_measured) {
  size_t items = 0;
  int measured = -1;
  expect(polykem_crossover(find("ntruhps2048509"), op, &items, &measured) == POLYKEM_OK, "polykem_crossover");
  expect(measured == wanted_measured, "crossover: measured or guessed");
  return items;
}

void expect_note(const char* part) {
  const bool found = std::strstr(polykem_crossover_note(), part) != nullptr;
  expect(found, "the note says where the crossovers come from");
  if (!found) std::fprintf(stderr, "  wanted %s, got: %s\n", part, polykem_crossover_note());
}

/// Returns the backend of a batch if none is forced. The fake GPU leaves a mark.
bool goes_to_gpu(size_t count) {
  const size_t before = polykem::chunk_fallbacks();
  polykem_context* any = context(nullptr, POLYKEM_OK);
  exchange(any, count);
  polykem_context_free(any);
  return polykem::chunk_fallbacks() > before;
}

std::string file_path() {
  return std::string(std::getenv("XDG_CACHE_HOME")) + "/polykem/crossover";
}

std::string read_file() {
  std::ifstream file(file_path());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& text) {
  std::ofstream(file_path()) << text;
}

/// Measures and writes the file that the other processes of this test read.
void check_tune(bool slow) {
  std::remove(file_path().c_str());
  expect(crossover(POLYKEM_DECAPS, 0) == 256, "a guess before the measurement");
  expect_note("guessed; polykem doctor --tune");
  expect(polykem_tune(find("ntruhps2048509")) == POLYKEM_OK, "polykem_tune");
  expect(polykem_tune(find("ntruhps4096821")) == POLYKEM_ERR_BACKEND_UNAVAILABLE, "a set the module lacks");
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_ENCAPS, POLYKEM_DECAPS}) {
    const size_t items = crossover(op, 1);
    expect(op == POLYKEM_KEYGEN || (slow ? items > 1 : items == 1), slow ? "a slow GPU" : "a fast GPU");
  }
  expect_note("measured, from ");
  expect(read_file().find("\ndevices 1 x Fake GPU\n") != std::string::npos, "the file names the GPU");
}

/// Signatures have figures of their own operations, and no others.
void check_tune_signatures() {
  std::remove(file_path().c_str());
  const polykem_scheme* set = polykem_signature_at(0);
  size_t items = 0;
  int measured = 0;
  expect(polykem_tune(set) == POLYKEM_OK, "polykem_tune");
  for (const polykem_op op : {POLYKEM_KEYGEN, POLYKEM_SIGN, POLYKEM_VERIFY}) {
    expect(polykem_crossover(set, op, &items, &measured) == POLYKEM_OK && measured == 1, "polykem_crossover");
    expect(items == 1, "a fast GPU");
  }
  for (const polykem_op op : {POLYKEM_ENCAPS, POLYKEM_DECAPS})
    expect(polykem_crossover(set, op, &items, &measured) == POLYKEM_ERR_ARGUMENT, "an operation that it lacks");
  expect(read_file().find("\nmldsa44 1 1 1\n") != std::string::npos, "the file has the set");
}

/// Writes a file with chosen figures for this machine. Its CPU line is from a measured file.
std::string table_with(const std::string& entry) {
  const std::string measured = read_file();
  const size_t at = measured.find("ntruhps2048509");
  expect(at != std::string::npos, "cuda_module_tune_fast has run before");
  return measured.substr(0, at) + entry + "\nend\n";
}

/// Each file needs a process of its own, since a process reads the file only once.
void check_file(const std::string& mode) {
  const std::string good = table_with("ntruhps2048509 40 never 2");
  if (mode == "file") {
    write_file(good);
    expect(crossover(POLYKEM_KEYGEN, 1) == 40 && crossover(POLYKEM_DECAPS, 1) == 2, "the file's figures");
    expect(crossover(POLYKEM_ENCAPS, 1) == SIZE_MAX, "never");
    expect_note("measured, from ");
    expect(!goes_to_gpu(1) && goes_to_gpu(2) && goes_to_gpu(40), "batches go by the file");
    return;
  }
  std::string text = good, reason;
  if (mode == "other_gpu") reason = "with other devices";
  if (mode == "file_other_cpu") text.replace(text.find("cpu "), 5, "cpu 9999"), reason = "on other CPUs";
  if (mode == "file_other_version") text.replace(text.find("library "), 8, "library 9"), reason = "another version";
  if (mode == "file_corrupt") text = table_with("ntruhps2048509 40 0x10 2"), reason = "line 5 is no entry";
  if (mode == "file_cut") text.resize(text.size() - 5), reason = "its end is missing";
  if (mode == "file_foreign")
    text =
        "\x7f"
        "ELF",
    reason = "no table of crossovers";
  write_file(text);
  expect(!goes_to_gpu(2), "a file that does not count decides nothing");
  expect(goes_to_gpu(256), "the guess decides");
  expect(crossover(POLYKEM_DECAPS, 0) == 256, "a guess");
  expect_note(reason.c_str());
  expect_note("is ignored");
  write_file(good);
}

/// If the folder cannot be created, the figures hold for this process.
void check_unwritable() {
  expect(polykem_tune(find("ntruhps2048509")) == POLYKEM_OK, "polykem_tune");
  expect(crossover(POLYKEM_DECAPS, 1) == 1, "figures of this process");
  expect_note("not kept");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 2 ? argv[1] : "";
  if (mode == "backend")
    std::puts(cuda_info().requirements);
  else if (mode == "absent")
    check_unavailable("was not found");
  else if (mode == "off")
    check_unavailable("switched off");
  else if (mode == "foreign")
    check_unavailable("is no polykem module");
  else if (mode == "other_version" || mode == "other_layout")
    check_unavailable("another version");
  else if (mode == "no_gpu")
    check_unavailable("cudaErrorNoDevice");
  else if (mode == "wrong_sizes" || mode == "wrong_steps")
    check_mismatch();
  else if (mode == "run_fails")
    check_fallbacks("cudaErrorLaunchFailure"), check_shared_by_threads();
  else if (mode == "run_no_memory")
    check_fallbacks("cudaErrorMemoryAllocation");
  else if (mode == "tune_fast" || mode == "tune_slow")
    check_tune(mode == "tune_slow");
  else if (mode == "tune_signatures")
    check_tune_signatures();
  else if (mode == "tune_unwritable")
    check_unwritable();
  else if (mode.rfind("file", 0) == 0 || mode == "other_gpu")
    check_file(mode);
  else if (mode == "status")
    check_status_after_failure();
  else if (mode == "signatures")
    check_signatures(), check_chunks_with_messages();
  else if (mode == "keys_no_memory")
    check_keys_on_host();
  else if (mode == "expanded_keys")
    check_expanded_keys();
  else
    expect(false, "unknown mode");
  return failures == 0 ? 0 : 1;
}
