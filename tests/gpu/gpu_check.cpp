// SPDX-License-Identifier: Apache-2.0
// The CUDA backend against known answers and against the CPU. Exit code 77: there is no GPU here, and why.
//   polykem_gpu_check TEST DATA_FOLDER [SCHEME]
// TEST: kat accumulated differential randomness replay threads parts keysets arrays border faults trap polymul.
// POLYKEM_GPU_ITEMS: items per set of the differential test and of the test of the generator (default 20000).
#include <dlfcn.h>

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

#include "engine/cuda/loader.hpp"
#include "engine/job.hpp"
#include "polykem/polykem.h"
#include "polymul/polymul.hpp"
#include "prim/keccak/keccak.hpp"

namespace {

using Bytes = std::vector<uint8_t>;

int failures = 0;

void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

struct FreeContext {
  void operator()(polykem_context* context) const { polykem_context_free(context); }
};
using Context = std::unique_ptr<polykem_context, FreeContext>;

Context make_context(const char* backend, unsigned threads = 0) {
  polykem_config config{sizeof config, threads, backend};
  polykem_context* context = nullptr;
  expect(polykem_context_new(&config, &context) == POLYKEM_OK, std::string("context for ") + backend);
  return Context(context);
}

/// The fastest CPU backend that runs the set.
Context make_cpu_context(const polykem_scheme* scheme) {
  for (size_t i = 0; i < polykem_backend_count(); ++i) {
    polykem_backend_info_t backend{};
    backend.struct_size = sizeof backend;
    polykem_backend_info(i, &backend);
    if (!backend.available || std::strcmp(backend.name, "cuda") == 0) continue;
    Context context = make_context(backend.name);
    if (polykem_context_backend(context.get(), scheme) != nullptr) return context;
  }
  return nullptr;
}

/// One set with the sizes of its records.
struct Set {
  const polykem_scheme* scheme;
  polykem_scheme_info_t info{};

  explicit Set(const polykem_scheme* s) : scheme(s) {
    info.struct_size = sizeof info;
    polykem_scheme_info(s, &info);
  }
  std::string name() const { return info.name; }
};

std::vector<Set> sets(const char* only) {
  std::vector<Set> all;
  const Context context = make_context("cuda");
  for (size_t i = 0; i < polykem_scheme_count(); ++i) {
    const polykem_scheme* scheme = polykem_scheme_at(i);
    const Set set(scheme);
    if (only != nullptr && set.name() != only) continue;
    if (polykem_context_backend(context.get(), scheme) != nullptr) all.push_back(set);
  }
  return all;
}

/// A batch of key pairs and exchanges with all records of both sides. Outputs begin poisoned.
struct Exchange {
  size_t count;
  Bytes keygen_draws, encaps_draws, pk, sk, ct, ss, decapsulated;

  Exchange(const Set& set, size_t n) : count(n) {
    keygen_draws.resize(n * set.info.keygen_draw_bytes);
    encaps_draws.resize(n * set.info.encaps_draw_bytes);
    pk.assign(n * set.info.public_key_bytes, 0xa5);
    sk.assign(n * set.info.secret_key_bytes, 0xa5);
    ct.assign(n * set.info.ciphertext_bytes, 0xa5);
    ss.assign(n * set.info.shared_secret_bytes, 0xa5);
    decapsulated.assign(n * set.info.shared_secret_bytes, 0xa5);
  }
};

polykem_request request(const Set& set, polykem_op op, size_t count, bool shared = false) {
  polykem_request r{};
  r.struct_size = sizeof r;
  r.op = op;
  r.scheme = set.scheme;
  r.count = count;
  r.key_mode = shared ? POLYKEM_KEY_SHARED : POLYKEM_KEY_PER_ITEM;
  return r;
}

void keygen(const Context& context, const Set& set, Exchange& x, bool with_draws) {
  auto r = request(set, POLYKEM_KEYGEN, x.count);
  r.draws = with_draws ? x.keygen_draws.data() : nullptr;
  r.pk_out = x.pk.data();
  r.sk_out = x.sk.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " keygen");
}

void encaps(const Context& context, const Set& set, Exchange& x, bool with_draws, bool shared = false) {
  auto r = request(set, POLYKEM_ENCAPS, x.count, shared);
  r.draws = with_draws ? x.encaps_draws.data() : nullptr;
  r.pk = x.pk.data();
  r.ct_out = x.ct.data();
  r.ss_out = x.ss.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " encaps");
}

void decaps(const Context& context, const Set& set, Exchange& x, bool shared = false) {
  auto r = request(set, POLYKEM_DECAPS, x.count, shared);
  r.sk = x.sk.data();
  r.ct = x.ct.data();
  r.ss_out = x.decapsulated.data();
  expect(polykem_run(context.get(), &r) == POLYKEM_OK, set.name() + " decaps");
}

/// Equal, or says which record differs first.
void expect_equal(const Bytes& got, const Bytes& wanted, size_t record_bytes, const std::string& what) {
  if (got == wanted) return;
  size_t at = 0, bad_records = 0;
  while (at < got.size() && got[at] == wanted[at])
    ++at;
  for (size_t i = 0; i < got.size(); i += record_bytes) {
    bad_records += std::memcmp(got.data() + i, wanted.data() + i, record_bytes) != 0;
  }
  expect(false, what + ": record " + std::to_string(at / record_bytes) + " differs from byte " +
                    std::to_string(at % record_bytes) + " on; " + std::to_string(bad_records) + " of " +
                    std::to_string(got.size() / record_bytes) + " records are wrong");
}

Bytes from_hex(const std::string& hex) {
  Bytes bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(std::strtoul(hex.substr(2 * i, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

/// All string values of `key` in one line of the data files, joined (a list of strings is one value).
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

/// The counts of one known-answer file, side by side, with the changed ciphertexts.
struct Answers {
  Exchange wanted;
  Bytes reject_sk, reject_ct, reject_ss;
};

Answers read_answers(const Set& set, const std::string& folder) {
  std::ifstream file(folder + "/" + set.name() + ".json");
  Answers a{Exchange(set, 0), {}, {}, {}};
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("{\"count\":", 0) != 0) continue;
    append(a.wanted.keygen_draws, field(line, "keypair_draws"));
    append(a.wanted.encaps_draws, field(line, "encaps_draws"));
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
  got.keygen_draws = wanted.keygen_draws;
  got.encaps_draws = wanted.encaps_draws;
  keygen(gpu, set, got, true);
  expect_equal(got.pk, wanted.pk, set.info.public_key_bytes, set.name() + " pk");
  expect_equal(got.sk, wanted.sk, set.info.secret_key_bytes, set.name() + " sk");
  got.pk = wanted.pk;
  got.sk = wanted.sk;
  encaps(gpu, set, got, true);
  expect_equal(got.ct, wanted.ct, set.info.ciphertext_bytes, set.name() + " ct");
  expect_equal(got.ss, wanted.ss, 32, set.name() + " ss");
  got.ct = wanted.ct;
  decaps(gpu, set, got);
  expect_equal(got.decapsulated, wanted.ss, 32, set.name() + " decapsulated ss");
  Exchange rejected(set, answers.reject_ss.size() / 32);
  rejected.sk = answers.reject_sk;
  rejected.ct = answers.reject_ct;
  decaps(gpu, set, rejected);
  expect_equal(rejected.decapsulated, answers.reject_ss, 32, set.name() + " rejection ss");
  std::printf("%s: %zu counts, %zu rejected ciphertexts\n", set.info.name, wanted.count, rejected.count);
}

/// The hash over 100 rounds that accumulated.json has for the set's mode "pk,sk,ct,ss,ssr".
void check_accumulated(const Set& set, const std::string& folder) {
  std::ifstream file(folder + "/accumulated.json");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t at = text.find('"' + set.name() + '"');
  if (at != std::string::npos) at = text.find("\"pk,sk,ct,ss,ssr\"", at);
  expect(at != std::string::npos, set.name() + " has no accumulated hash");
  if (at == std::string::npos) return;
  const Bytes wanted = field(text.substr(at), "100");
  constexpr size_t kRounds = 100;
  Exchange x(set, kRounds), random(set, kRounds);
  polykem::Shake stream(polykem::Shake::Strength::shake128);
  const auto draw = [&](Bytes& to, size_t i, size_t bytes) { stream.squeeze({to.data() + i * bytes, bytes}); };
  for (size_t i = 0; i < kRounds; ++i) {
    draw(x.keygen_draws, i, set.info.keygen_draw_bytes);
    draw(x.encaps_draws, i, set.info.encaps_draw_bytes);
    draw(random.ct, i, set.info.ciphertext_bytes);
  }
  const Context gpu = make_context("cuda");
  keygen(gpu, set, x, true);
  encaps(gpu, set, x, true);
  decaps(gpu, set, x);
  expect_equal(x.decapsulated, x.ss, 32, set.name() + " exchange");
  random.sk = x.sk;
  decaps(gpu, set, random);
  polykem::Shake hash(polykem::Shake::Strength::shake128);
  const auto absorb = [&](const Bytes& from, size_t i, size_t bytes) { hash.absorb({from.data() + i * bytes, bytes}); };
  for (size_t i = 0; i < kRounds; ++i) {
    absorb(x.pk, i, set.info.public_key_bytes);
    absorb(x.sk, i, set.info.secret_key_bytes);
    absorb(x.ct, i, set.info.ciphertext_bytes);
    absorb(x.ss, i, 32);
    absorb(random.decapsulated, i, 32);
  }
  Bytes got(32);
  hash.squeeze(got);
  expect_equal(got, wanted, 32, set.name() + " accumulated hash");
  std::printf("%s: accumulated hash of %zu rounds\n", set.info.name, kRounds);
}

void fill(Bytes& bytes, std::mt19937_64& random) {
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, bytes.size() - i));
  }
}

/// Makes f, g or both 0 in some keys, if the set samples them byte by byte.
void zero_some_keys(const Set& set, Bytes& draws, size_t count) {
  const size_t bytes = set.info.keygen_draw_bytes, half = (bytes - 32) / 2;
  for (size_t i = 2; i < count; i += 97) {
    uint8_t* record = draws.data() + i * bytes;
    const size_t which = i / 97 % 3;
    std::fill(record + (which == 2 ? half : 0), record + (which == 1 ? half : 2 * half), uint8_t{0});
  }
}

/// Every third ciphertext changed: a bit, the last byte's unused bits, or all of it.
void damage(const Set& set, Bytes& ct, size_t count, std::mt19937_64& random) {
  const size_t bytes = set.info.ciphertext_bytes;
  for (size_t i = 0; i < count; i += 3) {
    uint8_t* record = ct.data() + i * bytes;
    switch (i / 3 % 3) {
      case 0:
        record[random() % bytes] ^= static_cast<uint8_t>(1u << (random() % 8));
        break;
      case 1:
        record[bytes - 1] ^= 0x80;
        break;
      default:
        for (size_t b = 0; b < bytes; ++b)
          record[b] = static_cast<uint8_t>(random());
    }
  }
}

void check_against_cpu(const Set& set, size_t count, bool shared, std::mt19937_64& random) {
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  Exchange a(set, count);
  fill(a.keygen_draws, random);
  zero_some_keys(set, a.keygen_draws, count);
  fill(a.encaps_draws, random);
  Exchange b = a;
  const std::string label = set.name() + " x " + std::to_string(count) + (shared ? " shared" : "");
  keygen(gpu, set, a, true);
  keygen(cpu, set, b, true);
  expect_equal(a.pk, b.pk, set.info.public_key_bytes, label + " pk");
  expect_equal(a.sk, b.sk, set.info.secret_key_bytes, label + " sk");
  encaps(gpu, set, a, true, shared);
  encaps(cpu, set, b, true, shared);
  expect_equal(a.ct, b.ct, set.info.ciphertext_bytes, label + " ct");
  expect_equal(a.ss, b.ss, 32, label + " ss");
  damage(set, b.ct, count, random);
  a.ct = b.ct;
  decaps(gpu, set, a, shared);
  decaps(cpu, set, b, shared);
  expect_equal(a.decapsulated, b.decapsulated, 32, label + " decapsulated");
}

size_t wanted_items() {
  const char* text = std::getenv("POLYKEM_GPU_ITEMS");
  return text == nullptr ? 20000 : std::strtoul(text, nullptr, 10);
}

void check_differential(const Set& set) {
  std::mt19937_64 random(set.info.public_key_bytes);
  const size_t items = wanted_items();
  for (const size_t count : {size_t{1}, size_t{3}, size_t{31}, size_t{33}, size_t{257}, items | 1}) {
    if (count <= (items | 1)) check_against_cpu(set, count, false, random);
  }
  check_against_cpu(set, 129, true, random);
  std::printf("%s: same bytes as the CPU for %zu items\n", set.info.name, items | 1);
}

/// Keys and secrets from the device's own generator: they work, and no two are alike.
void check_randomness(const Set& set) {
  const size_t count = wanted_items() | 1;
  const Context gpu = make_context("cuda");
  Exchange x(set, count);
  keygen(gpu, set, x, false);
  encaps(gpu, set, x, false);
  decaps(gpu, set, x);
  expect_equal(x.decapsulated, x.ss, 32, set.name() + " exchange with own randomness");
  std::set<std::string> secrets, prf_keys;
  for (size_t i = 0; i < count; ++i) {
    secrets.emplace(reinterpret_cast<const char*>(x.ss.data()) + 32 * i, 32);
    const size_t end = (i + 1) * set.info.secret_key_bytes;
    prf_keys.emplace(reinterpret_cast<const char*>(x.sk.data()) + end - 32, 32);
  }
  expect(secrets.size() == count && prf_keys.size() == count, set.name() + ": two items drew the same numbers");
  std::printf("%s: %zu exchanges, all different\n", set.info.name, count);
}

/// Batches of the same sizes repeat and are replayed as graphs; each must have its own data and random numbers.
void check_replay(const Set& set) {
  const Context gpu = make_context("cuda");
  std::set<std::string> secrets;
  size_t items = 0;
  for (const size_t count : {size_t{33}, size_t{1001}, wanted_items() | 1, size_t{33}, size_t{1001}}) {
    for (int round = 0; round < 6; ++round, items += count) {
      Exchange x(set, count);
      keygen(gpu, set, x, false);
      encaps(gpu, set, x, false);
      decaps(gpu, set, x);
      expect_equal(x.decapsulated, x.ss, 32, set.name() + " exchange, again");
      for (size_t i = 0; i < count; ++i)
        secrets.emplace(reinterpret_cast<const char*>(x.ss.data()) + 32 * i, 32);
    }
  }
  expect(secrets.size() == items, set.name() + ": a batch drew the numbers of another");
  std::mt19937_64 random(11);
  for (int round = 0; round < 6; ++round)
    check_against_cpu(set, 1001, round % 2 == 0, random);
  std::printf("%s: %zu items in batches of repeated sizes\n", set.info.name, items);
}

/// Several contexts and threads on one device at once.
void check_threads(const std::vector<Set>& all) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&all, t] {
      const Set& set = all[t % all.size()];
      const Context gpu = make_context("cuda", 2);
      for (int round = 0; round < 30; ++round) {
        Exchange x(set, 1001 + 997 * t);
        keygen(gpu, set, x, false);
        encaps(gpu, set, x, false);
        decaps(gpu, set, x);
        expect_equal(x.decapsulated, x.ss, 32, set.name() + " in thread " + std::to_string(t));
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  std::printf("6 threads with contexts of their own\n");
}

/// A budget so small that every batch runs in parts.
void check_parts(const Set& set) {
  const auto* table = polykem::cuda::loaded_module().table;
  table->set_budget(size_t{32} << 20);
  std::mt19937_64 random(7);
  check_against_cpu(set, 1501, false, random);
  table->set_budget(0);
  std::printf("%s: 1501 items in parts\n", set.info.name);
}

/// Secret keys that were made on the GPU and stay there; public keys that were put there.
void check_keysets(const Set& set) {
  constexpr size_t kKeys = 999;
  const Context gpu = make_context("cuda");
  Exchange x(set, kKeys);
  polykem_keyset *secret = nullptr, *open = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, kKeys, x.pk.data(), &secret) == POLYKEM_OK, "keyset_generate");
  expect(polykem_keyset_import(gpu.get(), set.scheme, POLYKEM_PUBLIC_KEYS, kKeys, x.pk.data(), &open) == POLYKEM_OK,
         "keyset_import");
  if (secret == nullptr || open == nullptr) return;
  std::vector<size_t> index(kKeys);
  for (size_t i = 0; i < kKeys; ++i)
    index[i] = (i * 7 + 3) % kKeys;
  for (const int mode : {0, 1, 2}) {  // in order, by index, shared
    auto e = request(set, POLYKEM_ENCAPS, kKeys, mode == 2), d = request(set, POLYKEM_DECAPS, kKeys, mode == 2);
    e.keyset = open;
    d.keyset = secret;
    e.key_index = d.key_index = mode == 0 ? nullptr : index.data();
    e.ct_out = x.ct.data();
    e.ss_out = x.ss.data();
    d.ct = x.ct.data();
    d.ss_out = x.decapsulated.data();
    expect(polykem_run(gpu.get(), &e) == POLYKEM_OK && polykem_run(gpu.get(), &d) == POLYKEM_OK, "batch with key sets");
    expect_equal(x.decapsulated, x.ss, 32, set.name() + " key sets, mode " + std::to_string(mode));
    std::fill(x.decapsulated.begin(), x.decapsulated.end(), 0xa5);
  }
  polykem_keyset_free(secret);
  polykem_keyset_free(open);
  std::printf("%s: %zu keys on the card\n", set.info.name, kKeys);
}

/// Device memory with a copy of some bytes.
class OnDevice {
 public:
  explicit OnDevice(const Bytes& bytes) : size_(bytes.size()) {
    data_ = table().allocate(size_, nullptr, nullptr);
    table().copy(data_, bytes.data(), size_, nullptr);
  }
  explicit OnDevice(size_t size) : OnDevice(Bytes(size, 0xa5)) {}
  ~OnDevice() { table().release(data_, size_); }
  /// `size` bytes of uninitialised device memory; there() is false if the card does not have that much.
  struct Unwritten {
    size_t size;
  };
  explicit OnDevice(Unwritten wanted) : size_(wanted.size), data_(table().allocate(wanted.size, nullptr, nullptr)) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  uint8_t* data() const { return reinterpret_cast<uint8_t*>(data_); }
  bool there() const { return data_ != nullptr; }
  Bytes read() const { return read_end(size_); }
  /// The last `bytes` bytes.
  Bytes read_end(size_t bytes) const {
    Bytes end(bytes);
    table().copy(end.data(), data_ + size_ - bytes, bytes, nullptr);
    return end;
  }

 private:
  static const polykem::cuda::ModuleTable& table() { return *polykem::cuda::loaded_module().table; }
  size_t size_;
  std::byte* data_;
};

/// Arrays in device memory: through polykem_run, and queued on a stream.
void check_device_arrays(const Set& set) {
  constexpr size_t kCount = 2100;  // from 2,049 on parts share streams
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  std::mt19937_64 random(3);
  Exchange x(set, kCount);
  fill(x.keygen_draws, random);
  fill(x.encaps_draws, random);
  keygen(cpu, set, x, true);
  encaps(cpu, set, x, true);
  damage(set, x.ct, kCount, random);
  decaps(cpu, set, x);
  const OnDevice draws(x.keygen_draws), pk(x.pk.size()), sk(x.sk.size()), ct(x.ct), ss(x.ss.size());
  auto k = request(set, POLYKEM_KEYGEN, kCount), d = request(set, POLYKEM_DECAPS, kCount);
  k.draws = draws.data();
  k.pk_out = pk.data();
  k.sk_out = sk.data();
  expect(polykem_run(gpu.get(), &k) == POLYKEM_OK, "keygen with device arrays");
  expect_equal(pk.read(), x.pk, set.info.public_key_bytes, set.name() + " pk on the device");
  expect_equal(sk.read(), x.sk, set.info.secret_key_bytes, set.name() + " sk on the device");
  d.sk = sk.data();
  d.ct = ct.data();
  d.ss_out = ss.data();
  size_t bytes = 0;
  expect(polykem_cuda_workspace(gpu.get(), set.scheme, POLYKEM_DECAPS, kCount, &bytes) == POLYKEM_OK, "workspace");
  const OnDevice workspace(bytes);
  expect(polykem_cuda_queue(gpu.get(), &d, workspace.data(), nullptr) == POLYKEM_OK, "queue");
  expect_equal(ss.read(), x.decapsulated, 32, set.name() + " queued decaps");
  expect_equal(workspace.read(), Bytes(bytes, 0), bytes, set.name() + " workspace after use");
  std::printf("%s: arrays in device memory\n", set.info.name);
}

size_t different_records(const Bytes& bytes, size_t record_bytes) {
  std::set<std::string> records;
  for (size_t i = 0; i < bytes.size(); i += record_bytes)
    records.emplace(reinterpret_cast<const char*>(bytes.data()) + i, record_bytes);
  return records.size();
}

/// Queues an operation on arrays of the card; false and why if the card lacks the memory.
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

constexpr size_t kEnd = 2000;  ///< items at the end of a large batch that are looked at

void check_end_of_encaps(const Context& gpu, const Set& set, size_t count, const Exchange& key) {
  const Context cpu = make_cpu_context(set.scheme);
  const OnDevice pk(key.pk), ct{OnDevice::Unwritten{count * set.info.ciphertext_bytes}};
  const OnDevice ss{OnDevice::Unwritten{count * 32}};
  auto e = request(set, POLYKEM_ENCAPS, count, true);
  e.pk = pk.data();
  e.ct_out = ct.data();
  e.ss_out = ss.data();
  if (!ct.there() || !ss.there() || !queue_large(gpu, set, e, "encaps")) return;
  Exchange end(set, kEnd);
  end.ct = ct.read_end(end.ct.size());
  end.ss = ss.read_end(end.ss.size());
  end.sk = key.sk;
  expect(different_records(end.ss, 32) == kEnd, set.name() + ": secrets at the end of a large batch repeat");
  decaps(cpu, set, end, true);
  expect_equal(end.decapsulated, end.ss, 32, set.name() + " end of a large batch");
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
  expect_equal(end.decapsulated, end.ss, 32, set.name() + " keys at the end of a large batch");
  std::printf("%s: the last %zu of %zu key pairs\n", set.info.name, kEnd, count);
}

/// Enough items that the offsets into their random bytes exceed 2^32 in any unit up to 8 bytes: about 65 GB for
/// encapsulation, 110 GB and more for key generation. tests/unit/cuda_index_test.cpp checks the offsets by themselves.
void check_border(const Set& set) {
  const size_t count = (size_t{1} << 35) / set.info.keygen_draw_bytes + kEnd;
  const Context gpu = make_context("cuda");
  Exchange key(set, 1);
  keygen(gpu, set, key, false);
  check_end_of_encaps(gpu, set, count, key);
  check_end_of_keygen(gpu, set, count);
}

/// Simulated errors of the driver. The last one makes the device unusable, so this test has a process of its own.
void check_faults(const Set& set) {
  using polykem::cuda::Fault;
  const auto& table = *polykem::cuda::loaded_module().table;
  std::mt19937_64 random(11);
  for (const int after : {0, 1, 2}) {
    table.inject(Fault::allocation, after);
    check_against_cpu(set, 501, false, random);
  }
  table.inject(Fault::none, 0);
  expect(polykem::chunks_moved_to_cpu() == 0, "a failed allocation moved work to the CPU");
  const Context gpu = make_context("cuda");
  Exchange x(set, 33);
  polykem_keyset* keys = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, x.count, x.pk.data(), &keys) == POLYKEM_OK, "keyset_generate");
  table.inject(Fault::step, 2);
  check_against_cpu(set, 301, false, random);
  expect(polykem::chunks_moved_to_cpu() > 0, "a kernel's error did not move the batch to the CPU");
  auto d = request(set, POLYKEM_DECAPS, x.count);
  d.keyset = keys;
  d.ct = x.ct.data();
  d.ss_out = x.ss.data();
  expect(polykem_run(gpu.get(), &d) == POLYKEM_ERR_BACKEND_UNAVAILABLE, "keys on a lost device must be an error");
  polykem_keyset_free(keys);
  std::printf("%s: failed allocations, a failed kernel, a lost device\n", set.info.name);
}

/// Ends the GPU's context by a kernel that traps; its module lies beside this program.
void trap() {
  void* module = dlopen(POLYKEM_GPU_TRAP, RTLD_NOW | RTLD_LOCAL);
  const auto kernel = module == nullptr ? nullptr : reinterpret_cast<int (*)()>(dlsym(module, "polykem_gpu_trap"));
  expect(kernel != nullptr, std::string("no kernel that traps: ") + (kernel == nullptr ? dlerror() : ""));
  if (kernel != nullptr) expect(kernel() != 0, "the kernel did not trap");
}

/// True if all bytes are zero or as they were before the call: what a failed batch may leave.
bool untouched_or_zero(const Bytes& bytes) {
  const auto all = [&](uint8_t value) {
    return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t b) { return b == value; });
  };
  return all(0) || all(0xa5);
}

/// A batch whose keys or arrays are on the card that was lost.
void expect_unavailable(const Context& gpu, const polykem_request& r, const Bytes& ct, const Bytes& ss,
                        const std::string& what) {
  expect(polykem_run(gpu.get(), &r) == POLYKEM_ERR_BACKEND_UNAVAILABLE, what + " after a trap must be an error");
  expect(untouched_or_zero(ct) && untouched_or_zero(ss), what + " after a trap left data in its outputs");
}

/// A kernel outside the library really fails. Batches that need data on the card report that it is lost; other batches
/// go to the CPU. The context is unusable afterwards, so the test has a process of its own.
void check_trap(const Set& set) {
  constexpr size_t kCount = 301;
  const Context gpu = make_context("cuda"), cpu = make_cpu_context(set.scheme);
  Exchange x(set, kCount);
  polykem_keyset *secret = nullptr, *open = nullptr;
  expect(polykem_keyset_generate(gpu.get(), set.scheme, kCount, x.pk.data(), &secret) == POLYKEM_OK, "keyset_generate");
  expect(polykem_keyset_import(gpu.get(), set.scheme, POLYKEM_PUBLIC_KEYS, kCount, x.pk.data(), &open) == POLYKEM_OK,
         "keyset_import");
  encaps(cpu, set, x, false);
  const OnDevice pk(x.pk), sk(kCount * set.info.secret_key_bytes), ct(x.ct), ss(size_t{32} * kCount);
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
  expect(polykem::chunks_moved_to_cpu() > 0, "no batch was moved to the CPU");
  std::printf("%s: a kernel that traps\n", set.info.name);
}

/// Every multiplier against the portable product; POLYKEM_GPU_DEGREES: only these, e.g. "509,821".
void check_polymul() {
  polykem::bench::PolymulRequest request;
  request.check_only = true;
  const char* only = std::getenv("POLYKEM_GPU_DEGREES");
  std::stringstream degrees(only == nullptr ? "" : only);
  for (std::string n; std::getline(degrees, n, ',');)
    request.degrees.push_back(std::stoul(n));
  const auto report = polykem::bench::polymul_on_gpu(request, {});
  expect(report.problem.empty() && !report.wrong && report.checked > 0, "multipliers: " + report.problem);
  std::printf("%zu combinations of multiplier, operands and degree\n", report.checked);
}

int run(const std::string& test, const std::string& folder, const char* only) {
  const std::vector<Set> all = sets(only);
  expect(!all.empty(), "the module has no parameter set");
  if (test == "threads") check_threads(all);
  if (test == "polymul") check_polymul();
  if (test == "faults" || test == "trap") {
    test == "trap" ? check_trap(all.front()) : check_faults(all.front());
    return failures == 0 ? 0 : 1;
  }
  for (const Set& set : all) {
    if (test == "keysets") check_keysets(set);
    if (test == "arrays") check_device_arrays(set);
    if (test == "kat") check_kat(set, folder);
    if (test == "accumulated") check_accumulated(set, folder);
    if (test == "differential") check_differential(set);
    if (test == "randomness") check_randomness(set);
    if (test == "replay") check_replay(set);
    if (test == "parts") check_parts(set);
    if (test == "border") check_border(set);
  }
  expect(polykem::chunks_moved_to_cpu() == 0, "the device failed and the CPU took over");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s TEST DATA_FOLDER [SCHEME]\n", argv[0]);
    return 2;
  }
  const auto& module = polykem::cuda::loaded_module();
  if (module.table == nullptr) {
    std::fprintf(stderr, "skipped: %s\n", module.problem.c_str());
    return 77;
  }
  return run(argv[1], argv[2], argc > 3 ? argv[3] : nullptr);
}
