// SPDX-License-Identifier: Apache-2.0
// Compares the CUDA backend with known answers and with the CPU. Exit code 77: there is no usable GPU; it prints why.
//   polykem_gpu_check TEST[,TEST...] DATA_FOLDER [SETS]
// TEST: kat accumulated differential kernels randomness replay threads parts keysets seeds malformed arrays border
// faults trap. SETS: beginnings of families or names of sets, "mlkem" or "kyber768"; without it, all. A set
// that the module lacks is a failure. POLYKEM_GPU_FAMILIES: the same for every test of a run. POLYKEM_GPU_ITEMS: items
// per set of the tests that take many (default 20000; FrodoKEM 2001). POLYKEM_GPU_KERNELS: "few" or "many", the kernels
// for few or many items whatever the count is.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "accelerators/cuda/loader.hpp"
#include "engine/job.hpp"
#include "exchange.hpp"
#include "keys.hpp"
#include "polykem/polykem.h"
#include "prim/keccak/keccak.hpp"

namespace polykem::test {
namespace {

Bytes from_hex(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(std::strtoul(hex.substr(2 * i, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

/// Returns all string values of `key` in a count of the data files, joined. A list of strings is one value.
Bytes field(const std::string& line, const std::string& key) {
  const size_t at = line.find('"' + key + "\":");
  if (at == std::string::npos) return {};
  const size_t begin = line.find_first_not_of(' ', at + key.size() + 3);
  const char close = line[begin] == '[' ? ']' : '"';
  const size_t end = line.find(close, begin + 1);
  std::string hex;
  for (size_t i = begin; i < end; ++i) {
    if (std::isxdigit(static_cast<unsigned char>(line[i])) != 0) hex += line[i];
  }
  return from_hex(hex);
}

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The counts of a known-answer file, side by side, with the changed ciphertexts.
struct Answers {
  Exchange wanted;
  Bytes reject_sk, reject_ct, reject_ss;
};

/// Returns the text of the set's known answers. FrodoKEM's file is compressed.
std::string read_text(const Set& set, const std::string& folder) {
  const std::string path = folder + "/" + set.name() + ".json";
  std::ifstream file(path);
  if (file) return {std::istreambuf_iterator<char>(file), {}};
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("gzip -dc '" + path + ".gz'").c_str(), "r"), &pclose);
  std::string text;
  std::vector<char> block(1 << 16);
  for (size_t n = 0; pipe != nullptr && (n = std::fread(block.data(), 1, block.size(), pipe.get())) > 0;)
    text.append(block.data(), n);
  return text;
}

Answers read_answers(const Set& set, const std::string& folder) {
  const std::string text = read_text(set, folder), begin = "{\"count\":";
  Answers a{Exchange(set, 0), {}, {}, {}};
  for (size_t here = text.find(begin), next = 0; here != std::string::npos; here = next) {
    next = text.find(begin, here + 1);
    const std::string line = text.substr(here, next - here);
    append(a.wanted.keygen_coins, field(line, "keypair_draws"));
    append(a.wanted.encaps_coins, field(line, "encaps_draws"));
    append(a.wanted.pk, field(line, "pk"));
    append(a.wanted.sk, field(line, "sk"));
    append(a.wanted.ct, field(line, "ct"));
    append(a.wanted.ss, field(line, "ss"));
    ++a.wanted.count;
    for (size_t at = line.find("\"reject\""); (at = line.find("\"byte\":", at)) != std::string::npos; ++at) {
      const std::string rest = line.substr(at);
      Bytes ct = field(line, "ct");
      ct[std::strtoul(rest.c_str() + 7, nullptr, 10)] ^=
          static_cast<uint8_t>(std::strtoul(rest.c_str() + rest.find("\"xor\":") + 6, nullptr, 10));
      append(a.reject_ct, ct);
      append(a.reject_sk, field(line, "sk"));
      append(a.reject_ss, field(rest, "ss"));
    }
  }
  return a;
}

void check_kat(const Set& set, const std::string& folder) {
  const Answers answers = read_answers(set, folder);
  const Exchange& wanted = answers.wanted;
  expect(wanted.count > 0 && !answers.reject_ct.empty(), set.name() + " has no known answers in " + folder);
  if (wanted.count == 0) return;
  const Context gpu = make_context("cuda");
  Exchange got(set, wanted.count);
  got.keygen_coins = wanted.keygen_coins;
  got.encaps_coins = wanted.encaps_coins;
  keygen(gpu, set, got, true);
  expect_equal(got.pk, wanted.pk, set.info.public_key_bytes, set.name() + " pk");
  expect_equal(got.sk, wanted.sk, set.info.secret_key_bytes, set.name() + " sk");
  got.pk = wanted.pk;
  got.sk = wanted.sk;
  encaps(gpu, set, got, true);
  expect_equal(got.ct, wanted.ct, set.info.ciphertext_bytes, set.name() + " ct");
  expect_equal(got.ss, wanted.ss, set.info.shared_secret_bytes, set.name() + " ss");
  got.ct = wanted.ct;
  decaps(gpu, set, got);
  expect_equal(got.decapsulated, wanted.ss, set.info.shared_secret_bytes, set.name() + " decapsulated ss");
  Exchange rejected(set, answers.reject_ss.size() / set.info.shared_secret_bytes);
  rejected.sk = answers.reject_sk;
  rejected.ct = answers.reject_ct;
  decaps(gpu, set, rejected);
  expect_equal(rejected.decapsulated, answers.reject_ss, set.info.shared_secret_bytes, set.name() + " rejection ss");
  std::printf("%s: %zu counts, %zu rejected ciphertexts\n", set.info.name, wanted.count, rejected.count);
}

/// The hash over 100 rounds that accumulated.json has for the set's mode "pk,sk,ct,ss,ssr", of hybrids "pk,sk,ct,ss".
void check_accumulated(const Set& set, const std::string& folder) {
  if (set.name() == "saber") return;           // the file has none
  const bool with_random = !set.is("hybrid");  // random ciphertexts
  std::ifstream file(folder + "/accumulated.json");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t at = text.find('"' + set.name() + '"');
  if (at == std::string::npos) at = text.find('"' + set.name() + "_r2\"");  // LAC's, under their longer names
  if (at != std::string::npos) at = text.find(with_random ? "\"pk,sk,ct,ss,ssr\"" : "\"pk,sk,ct,ss\"", at);
  expect(at != std::string::npos, set.name() + " has no accumulated hash");
  if (at == std::string::npos) return;
  const Bytes wanted = field(text.substr(at), "100");
  constexpr size_t kRounds = 100;
  Exchange x(set, kRounds), random(set, kRounds);
  Shake stream(Shake::Strength::kShake128);
  const auto draw = [&](Bytes& to, size_t i, size_t bytes) { stream.squeeze({to.data() + i * bytes, bytes}); };
  for (size_t i = 0; i < kRounds; ++i) {
    draw(x.keygen_coins, i, set.info.keygen_coin_bytes);
    draw(x.encaps_coins, i, set.info.encaps_coin_bytes);
    if (with_random) draw(random.ct, i, set.info.ciphertext_bytes);
  }
  const Context gpu = make_context("cuda");
  keygen(gpu, set, x, true);
  encaps(gpu, set, x, true);
  decaps(gpu, set, x);
  expect_equal(x.decapsulated, x.ss, set.info.shared_secret_bytes, set.name() + " exchange");
  random.sk = x.sk;
  if (with_random) decaps(gpu, set, random);
  Shake hash(Shake::Strength::kShake128);
  const auto absorb = [&](const Bytes& from, size_t i, size_t bytes) { hash.absorb({from.data() + i * bytes, bytes}); };
  for (size_t i = 0; i < kRounds; ++i) {
    absorb(x.pk, i, set.info.public_key_bytes);
    absorb(x.sk, i, set.info.secret_key_bytes);
    absorb(x.ct, i, set.info.ciphertext_bytes);
    absorb(x.ss, i, set.info.shared_secret_bytes);
    if (with_random) absorb(random.decapsulated, i, set.info.shared_secret_bytes);
  }
  Bytes got(32);
  hash.squeeze(got);
  expect_equal(got, wanted, got.size(), set.name() + " accumulated hash");
  std::printf("%s: accumulated hash of %zu rounds\n", set.info.name, kRounds);
}

/// Compares both sides of exchanges, and damaged ciphertexts, with a context of the CPU.
void check_against(const Context& cpu, const Set& set, size_t count, bool shared, std::mt19937_64& random) {
  const Context gpu = make_context("cuda");
  Exchange a(set, count);
  fill(a.keygen_coins, random);
  make_some_extreme(set, a.keygen_coins, count);
  fill(a.encaps_coins, random);
  if (!set.is("ntru")) make_some_extreme(set, a.encaps_coins, count);
  Exchange b = a;
  const std::string label = set.name() + " x " + std::to_string(count) + (shared ? " shared" : "");
  keygen(gpu, set, a, true);
  keygen(cpu, set, b, true);
  expect_equal(a.pk, b.pk, set.info.public_key_bytes, label + " pk");
  expect_equal(a.sk, b.sk, set.info.secret_key_bytes, label + " sk");
  encaps(gpu, set, a, true, shared);
  encaps(cpu, set, b, true, shared);
  expect_equal(a.ct, b.ct, set.info.ciphertext_bytes, label + " ct");
  expect_equal(a.ss, b.ss, set.info.shared_secret_bytes, label + " ss");
  damage(set, b.ct, count, random);
  a.ct = b.ct;
  decaps(gpu, set, a, shared);
  decaps(cpu, set, b, shared);
  expect_equal(a.decapsulated, b.decapsulated, set.info.shared_secret_bytes, label + " decapsulated");
}

void check_against_cpu(const Set& set, size_t count, bool shared, std::mt19937_64& random) {
  check_against(make_cpu_context(set.scheme), set, count, shared, random);
}

/// Compares most items with the fastest CPU backend, some with `ref`. Many items come in parts of a gigabyte of
/// records.
void check_differential(const Set& set) {
  std::mt19937_64 random(set.info.public_key_bytes);
  const size_t items = wanted_items(set), most = (size_t{1} << 30) / set.item_bytes() | 1;
  for (const size_t count : {size_t{1}, size_t{3}, size_t{31}, size_t{33}, size_t{257}}) {
    if (count <= items) check_against_cpu(set, count, false, random);
  }
  for (size_t left = items; left > 0; left -= std::min(left, most))
    check_against_cpu(set, std::min(left, most), false, random);
  check_against_cpu(set, std::min<size_t>(items, 129), true, random);
  for (const bool shared : {false, true})
    check_against(make_context("ref"), set, set.frodo() ? 3 : 67, shared, random);
  std::printf("%s: same bytes as the CPU for %zu items\n", set.info.name, items);
}

/// Runs every operation with a key for each item and with one key: every kernel of FrodoKEM, with few items. It is for
/// tools that follow each access to memory.
void check_kernels(const Set& set) {
  std::mt19937_64 random(set.info.public_key_bytes);
  for (const bool shared : {false, true})
    check_against_cpu(set, wanted_items(set), shared, random);
  std::printf("%s: every operation with %zu items\n", set.info.name, wanted_items(set));
}

/// Keys and secrets from the device's own generator work, and no two are equal.
void check_randomness(const Set& set) {
  const size_t count = wanted_items(set), ss_bytes = set.info.shared_secret_bytes;
  const Context gpu = make_context("cuda");
  Exchange x(set, count);
  keygen(gpu, set, x, false);
  encaps(gpu, set, x, false);
  decaps(gpu, set, x);
  expect_equal(x.decapsulated, x.ss, set.info.shared_secret_bytes, set.name() + " exchange with own randomness");
  std::set<std::string> secrets, key_ends;  // keys end with what was drawn for rejection, or with a hash of the key
  for (size_t i = 0; i < count; ++i) {
    secrets.emplace(reinterpret_cast<const char*>(x.ss.data()) + ss_bytes * i, ss_bytes);
    const size_t end = (i + 1) * set.info.secret_key_bytes;
    key_ends.emplace(reinterpret_cast<const char*>(x.sk.data()) + end - 16, 16);
  }
  expect(secrets.size() == count && key_ends.size() == count, set.name() + ": two items drew the same numbers");
  std::printf("%s: %zu exchanges, all different\n", set.info.name, count);
}

/// Batches of the same sizes repeat and are replayed as graphs; each must have its own data and random numbers.
void check_replay(const Set& set) {
  const Context gpu = make_context("cuda");
  std::set<std::string> secrets;
  size_t items = 0;
  const size_t most = wanted_items(set), few = std::min<size_t>(33, most), some = std::min<size_t>(1001, most);
  for (const size_t count : {few, some, most, few, some}) {
    for (int round = 0; round < 6; ++round, items += count) {
      Exchange x(set, count);
      keygen(gpu, set, x, false);
      encaps(gpu, set, x, false);
      decaps(gpu, set, x);
      expect_equal(x.decapsulated, x.ss, set.info.shared_secret_bytes, set.name() + " exchange, again");
      for (size_t i = 0; i < count; ++i)
        secrets.emplace(reinterpret_cast<const char*>(x.ss.data()) + x.ss.size() / count * i, x.ss.size() / count);
    }
  }
  expect(secrets.size() == items, set.name() + ": a batch drew the numbers of another");
  std::mt19937_64 random(11);
  for (int round = 0; round < 6; ++round)
    check_against_cpu(set, some, round % 2 == 0, random);
  std::printf("%s: %zu items in batches of repeated sizes\n", set.info.name, items);
}

/// Uses one device from several contexts and threads at once, with sets of every family.
void check_threads(const std::vector<Set>& all) {
  std::vector<Set> mixed;
  for (const Set& set : all) {
    const bool known =
        std::any_of(mixed.begin(), mixed.end(), [&](const Set& other) { return set.is(other.info.family); });
    if (!known) mixed.push_back(set);
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&mixed, t] {
      const Set& set = mixed[t % mixed.size()];
      const size_t count = 1001 + 997 * t;
      const Context gpu = make_context("cuda", 2);
      for (int round = 0; round < (set.frodo() ? 6 : 30); ++round) {
        Exchange x(set, set.frodo() ? count / 8 : count);
        keygen(gpu, set, x, false);
        encaps(gpu, set, x, false);
        decaps(gpu, set, x);
        expect_equal(x.decapsulated, x.ss, set.info.shared_secret_bytes,
                     set.name() + " in thread " + std::to_string(t));
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  std::printf("6 threads with contexts of their own, %zu families\n", mixed.size());
}

/// Uses a budget so small that every batch runs in parts.
void check_parts(const Set& set) {
  const auto* table = cuda::loaded_module().table;
  table->set_budget(size_t{32} << 20);
  std::mt19937_64 random(7);
  check_against_cpu(set, 1501, false, random);
  table->set_budget(0);
  std::printf("%s: 1501 items in parts\n", set.info.name);
}

/// Arrays in device memory that begin `offset` bytes after an aligned place: keygen and encaps through polykem_run,
/// decaps queued on a stream.
void compare_device_arrays(const Set& set, const Context& gpu, const Exchange& x, size_t offset) {
  const std::string name = set.name() + " + " + std::to_string(offset);
  const OnDevice coins(x.keygen_coins, offset), encaps_coins(x.encaps_coins, offset), pk(x.pk.size(), offset),
      sk(x.sk.size(), offset), sent(x.ct.size(), offset), shared(x.ss.size(), offset), ct(x.ct, offset),
      ss(x.ss.size(), offset);
  auto k = request(set, POLYKEM_KEYGEN, x.count), e = request(set, POLYKEM_ENCAPS, x.count),
       d = request(set, POLYKEM_DECAPS, x.count);
  k.coins = coins.data();
  k.pk_out = pk.data();
  k.sk_out = sk.data();
  expect(polykem_run(gpu.get(), &k) == POLYKEM_OK, "keygen with device arrays");
  expect_equal(pk.read(), x.pk, set.info.public_key_bytes, name + " pk on the device");
  expect_equal(sk.read(), x.sk, set.info.secret_key_bytes, name + " sk on the device");
  e.coins = encaps_coins.data();
  e.pk = pk.data();
  e.ct_out = sent.data();
  e.ss_out = shared.data();
  expect(polykem_run(gpu.get(), &e) == POLYKEM_OK, "encaps with device arrays");
  expect_equal(shared.read(), x.ss, set.info.shared_secret_bytes, name + " ss on the device");
  d.sk = sk.data();
  d.ct = ct.data();
  d.ss_out = ss.data();
  size_t bytes = 0;
  expect(polykem_cuda_workspace(gpu.get(), set.scheme, POLYKEM_DECAPS, x.count, &bytes) == POLYKEM_OK, "workspace");
  const OnDevice workspace(bytes);
  expect(polykem_cuda_queue(gpu.get(), &d, workspace.data(), nullptr) == POLYKEM_OK, "queue");
  expect_equal(ss.read(), x.decapsulated, set.info.shared_secret_bytes, name + " queued decaps");
  const DeviceScheme& scheme = *cuda::loaded_module().table->scheme(set.info.name);
  Bytes secret = workspace.read();
  secret.resize(scheme.operation(Op::kDecaps).zeroized_bytes(x.count));  // what is public follows
  expect_equal(secret, Bytes(secret.size(), 0), secret.size(), name + " workspace after use");
}

/// Uses arrays in device memory, aligned and not; some ciphertexts are damaged.
void check_device_arrays(const Set& set) {
  const size_t count =
      set.frodo() ? std::min<size_t>(301, wanted_items(set)) : 2100;  // from 2,049 on parts share streams
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  std::mt19937_64 random(3);
  Exchange x(set, count);
  fill(x.keygen_coins, random);
  fill(x.encaps_coins, random);
  keygen(cpu, set, x, true);
  encaps(cpu, set, x, true);
  damage(set, x.ct, count, random);
  decaps(cpu, set, x);
  for (const size_t offset : {0, 1})
    compare_device_arrays(set, gpu, x, offset);
  std::printf("%s: arrays in device memory\n", set.info.name);
}

size_t different_records(const Bytes& bytes, size_t record_bytes) {
  std::set<std::string> records;
  for (size_t i = 0; i < bytes.size(); i += record_bytes)
    records.emplace(reinterpret_cast<const char*>(bytes.data()) + i, record_bytes);
  return records.size();
}

/// Queues an operation on arrays of the GPU. Returns false with a reason if the GPU lacks the memory.
bool queue_large(const Context& gpu, const Set& set, const polykem_request& r, const char* what) {
  size_t bytes = 0;
  expect(polykem_cuda_workspace(gpu.get(), set.scheme, r.op, r.count, &bytes) == POLYKEM_OK, "workspace");
  const OnDevice workspace{OnDevice::Unwritten{bytes}};
  if (!workspace.there()) {
    std::printf("%s: %s of %zu items needs %zu MB of workspace, more than there are\n", set.info.name, what, r.count,
                bytes >> 20);
    return false;
  }
  expect(polykem_cuda_queue(gpu.get(), &r, workspace.data(), nullptr) == POLYKEM_OK, set.name() + " large " + what);
  (void)workspace.read_end(1);  // waits
  return true;
}

constexpr size_t kEnd = 2000;  ///< items at the end of a large batch that are compared

void check_end_of_encaps(const Context& gpu, const Set& set, size_t count, const Exchange& key) {
  const Context cpu = make_cpu_context(set.scheme);
  const OnDevice pk(key.pk), ct{OnDevice::Unwritten{count * set.info.ciphertext_bytes}};
  const OnDevice ss{OnDevice::Unwritten{count * set.info.shared_secret_bytes}};
  auto e = request(set, POLYKEM_ENCAPS, count, true);
  e.pk = pk.data();
  e.ct_out = ct.data();
  e.ss_out = ss.data();
  if (!ct.there() || !ss.there() || !queue_large(gpu, set, e, "encaps")) return;
  Exchange end(set, kEnd);
  end.ct = ct.read_end(end.ct.size());
  end.ss = ss.read_end(end.ss.size());
  end.sk = key.sk;
  expect(different_records(end.ss, set.info.shared_secret_bytes) == kEnd,
         set.name() + ": secrets at the end of a large batch repeat");
  decaps(cpu, set, end, true);
  expect_equal(end.decapsulated, end.ss, set.info.shared_secret_bytes, set.name() + " end of a large batch");
  std::printf("%s: the last %zu of %zu encapsulations\n", set.info.name, kEnd, count);
}

void check_end_of_keygen(const Context& gpu, const Set& set, size_t count) {
  const Context cpu = make_cpu_context(set.scheme);
  const OnDevice pk{OnDevice::Unwritten{count * set.info.public_key_bytes}};
  const OnDevice sk{OnDevice::Unwritten{count * set.info.secret_key_bytes}};
  auto k = request(set, POLYKEM_KEYGEN, count);
  k.pk_out = pk.data();
  k.sk_out = sk.data();
  if (!pk.there() || !sk.there() || !queue_large(gpu, set, k, "keygen")) return;
  Exchange end(set, kEnd);
  end.pk = pk.read_end(end.pk.size());
  end.sk = sk.read_end(end.sk.size());
  expect(different_records(end.pk, set.info.public_key_bytes) == kEnd,
         set.name() + ": keys at the end of a large batch repeat");
  encaps(cpu, set, end, false);
  decaps(cpu, set, end);
  expect_equal(end.decapsulated, end.ss, set.info.shared_secret_bytes,
               set.name() + " keys at the end of a large batch");
  std::printf("%s: the last %zu of %zu key pairs\n", set.info.name, kEnd, count);
}

/// Enough items that the offsets into their records exceed 2^32. Of NTRU those into their random bytes, in any unit up
/// to 8 bytes: about 65 GB for encapsulation, 110 GB and more for key generation. In the generator's units of 16 bytes
/// they would exceed it in twice the memory; tests/prim/cuda_index_test.cpp checks the offsets by themselves.
void check_border(const Set& set) {
  const size_t record = std::min(set.info.public_key_bytes, set.info.ciphertext_bytes);
  const size_t count =
      kEnd + (set.is("ntru") ? (size_t{1} << 35) / set.info.keygen_coin_bytes : (size_t{1} << 32) / record);
  const Context gpu = make_context("cuda");
  Exchange key(set, 1);
  keygen(gpu, set, key, false);
  const DeviceScheme& known = *cuda::loaded_module().table->scheme(set.info.name);
  check_end_of_encaps(gpu, set, std::min(count, known.operation(Op::kEncaps).max_items), key);
  check_end_of_keygen(gpu, set, std::min(count, known.operation(Op::kKeygen).max_items));
}

/// Simulated errors of the driver.
void check_faults(const Set& set) {
  using cuda::Fault;
  const auto& table = *cuda::loaded_module().table;
  std::mt19937_64 random(11);
  for (const int after : {0, 1, 2}) {
    table.inject(Fault::kAllocation, after);
    check_against_cpu(set, 501, false, random);
  }
  table.inject(Fault::kNone, 0);
  expect(chunk_fallbacks() == 0, "a failed allocation moved work to the CPU");
  const Context gpu = make_context("cuda");
  Exchange x(set, 33);
  polykem_keyset* keys = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, x.count, x.pk.data(), &keys) == POLYKEM_OK, "keyset_generate");
  table.inject(Fault::kStep, 2);
  check_against_cpu(set, 301, false, random);
  expect(chunk_fallbacks() > 0, "a kernel's error did not move the batch to the CPU");
  auto d = request(set, POLYKEM_DECAPS, x.count);
  d.keyset = keys;
  d.ct = x.ct.data();
  d.ss_out = x.ss.data();
  table.inject(Fault::kStep, 0);
  expect(polykem_run(gpu.get(), &d) == POLYKEM_ERR_BACKEND_UNAVAILABLE, "no CPU has the keys of a batch that failed");
  expect(polykem_run(gpu.get(), &d) == POLYKEM_OK, "the device works again");
  polykem_keyset_free(keys);
  std::printf("%s: failed allocations, failed kernels\n", set.info.name);
}

/// Ends the GPU's context by a kernel that traps.
void trap() {
  const auto kernel = application<int (*)()>("polykem_gpu_trap");
  expect(kernel != nullptr && kernel() != 0, "the kernel did not trap");
}

/// Returns true if all bytes are zero or as they were before the call, as after a failed batch.
bool untouched_or_zero(const Bytes& bytes) {
  const auto all = [&](uint8_t value) {
    return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t b) { return b == value; });
  };
  return all(0) || all(0xa5);
}

/// Runs a batch whose keys or arrays are on the lost GPU.
void expect_unavailable(const Context& gpu, const polykem_request& r, const Bytes& ct, const Bytes& ss,
                        const std::string& what) {
  expect(polykem_run(gpu.get(), &r) == POLYKEM_ERR_BACKEND_UNAVAILABLE, what + " after a trap must be an error");
  expect(untouched_or_zero(ct) && untouched_or_zero(ss), what + " after a trap left data in its outputs");
}

/// A kernel outside the library traps. Batches that need data on the GPU report that it is lost, and others run on the
/// CPU. The context is unusable afterwards, so the test is a process of its own.
void check_trap(const Set& set) {
  constexpr size_t kCount = 301;
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  Exchange x(set, kCount);
  polykem_keyset *secret = nullptr, *open = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, kCount, x.pk.data(), &secret) == POLYKEM_OK, "keyset_generate");
  expect(polykem_keyset_import(gpu.get(), set.scheme, POLYKEM_PUBLIC_KEYS, kCount, x.pk.data(), &open) == POLYKEM_OK,
         "keyset_import");
  encaps(cpu, set, x, false);
  const OnDevice pk(x.pk), sk(kCount * set.info.secret_key_bytes), ct(x.ct), ss(x.ss.size());
  size_t bytes = 0;
  expect(polykem_cuda_workspace(gpu.get(), set.scheme, POLYKEM_DECAPS, kCount, &bytes) == POLYKEM_OK, "workspace");
  const OnDevice workspace(bytes);
  trap();

  Bytes ct_out(x.ct.size(), 0xa5), ss_out(x.ss.size(), 0xa5);
  for (const bool on_card : {false, true}) {  // key sets, device pointers
    auto e = request(set, POLYKEM_ENCAPS, kCount), d = request(set, POLYKEM_DECAPS, kCount);
    e.keyset = on_card ? nullptr : open;
    d.keyset = on_card ? nullptr : secret;
    e.pk = on_card ? pk.data() : nullptr;
    d.sk = on_card ? sk.data() : nullptr;
    e.ct_out = ct_out.data();
    e.ss_out = d.ss_out = ss_out.data();
    d.ct = x.ct.data();
    const std::string keys = set.name() + (on_card ? " device keys" : " key sets");
    expect_unavailable(gpu, e, ct_out, ss_out, keys + " encaps");
    expect_unavailable(gpu, d, {}, ss_out, keys + " decaps");
  }
  auto d = request(set, POLYKEM_DECAPS, kCount);
  d.sk = sk.data();
  d.ct = ct.data();
  d.ss_out = ss.data();
  expect_unavailable(gpu, d, {}, {}, set.name() + " device arrays");
  expect(polykem_cuda_queue(gpu.get(), &d, workspace.data(), nullptr) == POLYKEM_ERR_BACKEND_UNAVAILABLE,
         "queue after a trap must be an error");
  auto k = request(set, POLYKEM_KEYGEN, kCount);
  k.pk_out = pk.data();
  k.sk_out = sk.data();
  expect_unavailable(gpu, k, {}, {}, set.name() + " keygen into device arrays");
  polykem_keyset_free(secret);
  polykem_keyset_free(open);
  std::mt19937_64 random(17);
  check_against_cpu(set, kCount, false, random);  // ordinary memory: the CPU takes over
  expect(chunk_fallbacks() > 0, "no batch was moved to the CPU");
  std::printf("%s: a kernel that traps\n", set.info.name);
}

void run_test(const std::string& test, const std::string& folder, const std::vector<Set>& all) {
  if (test == "threads") return check_threads(all);
  if (test == "faults") return check_faults(all.front());
  if (test == "trap") return check_trap(all.front());
  for (const Set& set : all) {
    if (test == "keysets")
      check_keysets(set);
    else if (test == "seeds")
      check_seeds(set);
    else if (test == "malformed")
      check_malformed(set);
    else if (test == "arrays")
      check_device_arrays(set);
    else if (test == "kat")
      check_kat(set, folder);
    else if (test == "accumulated")
      check_accumulated(set, folder);
    else if (test == "differential")
      check_differential(set);
    else if (test == "kernels")
      check_kernels(set);
    else if (test == "randomness")
      check_randomness(set);
    else if (test == "replay")
      check_replay(set);
    else if (test == "parts")
      check_parts(set);
    else if (test == "border")
      check_border(set);
    else
      return expect(false, "there is no test '" + test + "'");
  }
}

/// Returns false if POLYKEM_GPU_FAMILIES excludes all sets that `only` names.
bool any_selected(const std::string& only) {
  for (size_t i = 0; i < polykem_scheme_count(); ++i) {
    const Set set(polykem_scheme_at(i));
    if (selected(set.info.family, set.name()) && named(only, set.info.family, set.name())) return true;
  }
  return false;
}

int run(const std::string& tests, const std::string& folder, const std::string& only) {
  if (!any_selected(only)) {
    std::fprintf(stderr, "skipped: POLYKEM_GPU_FAMILIES leaves out '%s'\n", only.c_str());
    return 77;
  }
  const std::vector<Set> all = sets(only);
  if (all.empty()) return 1;
  bool lost = false;
  std::istringstream words(tests);
  for (std::string test; std::getline(words, test, ',');) {
    run_test(test, folder, all);
    lost = lost || test == "faults" || test == "trap";
  }
  expect(lost || chunk_fallbacks() == 0, "the device failed and the CPU took over");
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace polykem::test

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s TEST[,TEST...] DATA_FOLDER [SETS]\n", argv[0]);
    return 2;
  }
  const auto& module = polykem::cuda::loaded_module();
  if (module.table == nullptr) {
    std::fprintf(stderr, "skipped: %s\n", module.problem.c_str());
    return 77;
  }
  if (!polykem::test::choose_kernels()) return 2;
  return polykem::test::run(argv[1], argv[2], argc > 3 ? argv[3] : "");
}
