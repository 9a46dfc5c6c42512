// SPDX-License-Identifier: Apache-2.0
// Tests known answers of a few sets on NEON, without the engine: each operation on a single item, and in batches that
// do and do not fill the lanes. Files are those of tests/embedded/cases.py, without accumulated hashes.
//
//   arm64_short FILE...
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/cpu_features.hpp"
#include "schemes/frodo/frodo.hpp"
#include "schemes/mlkem/vector_backends.hpp"
#include "schemes/ntru/vector_backends.hpp"

namespace {

using namespace polykem;
using Bytes = std::vector<uint8_t>;

struct Set {
  std::string name;
  SchemeBackend backend;
  RecordBytes keygen, encaps;
  bool needs_sha3;
};

template <mlkem::MlkemParams P>
Set mlkem_set(const char* name) {
  const RecordBytes bytes{P.public_key_bytes(), P.secret_key_bytes(), P.ciphertext_bytes(), mlkem::kSymBytes, 0};
  Set set{name, mlkem::neon_sha3_backend<P>(), bytes, bytes, true};
  set.keygen.coins = mlkem::kKeygenCoinBytes;
  set.encaps.coins = mlkem::kEncapsCoinBytes;
  return set;
}

template <ntru::NtruParams P>
Set ntru_set(const char* name) {
  const RecordBytes bytes{P.public_key_bytes(), P.secret_key_bytes(), P.ciphertext_bytes(), P.kSharedSecretBytes, 0};
  Set set{name, ntru::neon_backend<P>(), bytes, bytes, false};
  set.keygen.coins = P.keygen_coin_bytes();
  set.encaps.coins = P.encaps_coin_bytes();
  return set;
}

std::vector<Set> sets() {
  std::vector<Set> all{mlkem_set<mlkem::kMlkem512>("mlkem512"), mlkem_set<mlkem::kMlkem768>("mlkem768"),
                       mlkem_set<mlkem::kMlkem1024>("mlkem1024"), ntru_set<ntru::kHps2048509>("ntruhps2048509"),
                       ntru_set<ntru::kHrss701>("ntruhrss701")};
  for (const Scheme& scheme : frodo::schemes()) {
    for (const SchemeBackend& backend : scheme.backends) {
      if (std::strcmp(backend.name, cpu::kNeon) == 0)
        all.push_back(
            {scheme.name, backend, scheme.record_bytes(Op::kKeygen), scheme.record_bytes(Op::kEncaps), false});
    }
  }
  return all;
}

// ---- a file: its cases of one kind as arrays of records

struct Cases {
  explicit Cases(Status wanted = Status::kOk) : status(wanted) {}

  Status status;
  size_t count = 0;
  Bytes coins, pk, sk, ct, ss;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(std::move(bytes)) {}
  bool more() const { return at_ < bytes_.size(); }
  uint8_t letter() { return bytes_.at(at_++); }
  void append(Bytes& to, size_t bytes) {
    if (bytes_.size() - at_ < bytes) throw std::string("the file ends within a case");
    to.insert(to.end(), bytes_.begin() + static_cast<long>(at_), bytes_.begin() + static_cast<long>(at_ + bytes));
    at_ += bytes;
  }

 private:
  Bytes bytes_;
  size_t at_ = 0;
};

struct File {
  Cases keygen, encaps, decaps, bad_pk{Status::kPublicKey}, bad_sk{Status::kSecretKey};

  void add(Reader& in, const Set& set) {
    const RecordBytes& b = set.keygen;
    switch (in.letter()) {
      case 'k':
        return add(in, keygen, {{&Cases::coins, b.coins}, {&Cases::pk, b.pk}, {&Cases::sk, b.sk}});
      case 'e':
        return add(in, encaps,
                   {{&Cases::coins, set.encaps.coins}, {&Cases::pk, b.pk}, {&Cases::ct, b.ct}, {&Cases::ss, b.ss}});
      case 'd':
        return add(in, decaps, {{&Cases::sk, b.sk}, {&Cases::ct, b.ct}, {&Cases::ss, b.ss}});
      case 'p':
        bad_pk.ct.resize(b.ct);
        bad_pk.ss.resize(b.ss);
        return add(in, bad_pk, {{&Cases::coins, set.encaps.coins}, {&Cases::pk, b.pk}});
      case 's':
        bad_sk.ss.resize(b.ss);
        return add(in, bad_sk, {{&Cases::sk, b.sk}, {&Cases::ct, b.ct}});
      default:
        throw std::string("a case of an unknown kind");
    }
  }

 private:
  struct Part {
    Bytes Cases::*field;
    size_t bytes;
  };
  static void add(Reader& in, Cases& cases, std::initializer_list<Part> parts) {
    for (const auto& [field, bytes] : parts)
      in.append(cases.*field, bytes);
    ++cases.count;
  }
};

// ---- an operation

/// Returns `count` records from record `first` of `all` on, continuing with the first one after the last one.
Bytes take(const Bytes& all, size_t bytes, size_t first, size_t count) {
  Bytes result;
  for (size_t i = first; i < first + count && !all.empty(); ++i) {
    const size_t at = i * bytes % all.size();
    result.insert(result.end(), all.begin() + static_cast<long>(at), all.begin() + static_cast<long>(at + bytes));
  }
  return result;
}

/// Computes `count` items of the cases and compares all outputs.
bool holds(const Set& set, Op op, const Cases& cases, size_t first, size_t count) {
  const RecordBytes& b = op == Op::kKeygen ? set.keygen : set.encaps;
  const Bytes coins = take(cases.coins, b.coins, first, count), pk = take(cases.pk, b.pk, first, count),
              sk = take(cases.sk, b.sk, first, count), ct = take(cases.ct, b.ct, first, count),
              ss = take(cases.ss, b.ss, first, count);
  Bytes pk_out(count * b.pk), sk_out(count * b.sk), ct_out(count * b.ct), ss_out(count * b.ss);
  std::vector<Status> status(count, Status::kOk);
  Batch batch;
  batch.count = count;
  batch.item_status = status.data();
  batch.ss_out = ss_out.data();
  if (op == Op::kKeygen) {
    batch.coins = coins.data();
    batch.pk_out = pk_out.data();
    batch.sk_out = sk_out.data();
  } else if (op == Op::kEncaps) {
    batch.coins = coins.data();
    batch.pk = pk.data();
    batch.ct_out = ct_out.data();
  } else {
    batch.sk = sk.data();
    batch.ct = ct.data();
  }
  const Operation& any_count = set.backend.op(op);
  const Tail small = any_count.tail(batch);
  const Operation& operation = small.count == count ? *small.operation : any_count;
  const size_t bytes = operation.workspace_bytes(count);
  std::vector<std::byte> memory(bytes + 64);
  void* begin = memory.data();
  size_t room = memory.size();
  std::align(64, bytes, begin, room);
  if (operation.run(operation.context, batch, static_cast<std::byte*>(begin), nullptr) != Status::kOk) return false;
  if (std::any_of(status.begin(), status.end(), [&](Status s) { return s != cases.status; })) return false;
  if (op == Op::kKeygen) return pk_out == pk && sk_out == sk;
  return ss_out == ss && (op == Op::kDecaps || ct_out == ct);
}

/// Runs each case alone, and all of them in batches of sizes that fill the lanes differently.
unsigned check(const Set& set, Op op, const char* name, const Cases& cases) {
  unsigned failures = 0;
  const auto expect = [&](size_t first, size_t count) {
    if (holds(set, op, cases, first, count)) return;
    ++failures;
    std::printf("%s, %s: wrong, items %zu to %zu\n", set.name.c_str(), name, first, first + count - 1);
  };
  if (cases.count == 0) return 0;
  for (size_t i = 0; i < cases.count; ++i)
    expect(i, 1);
  const Operation& operation = set.backend.op(op);
  for (const size_t count : {2, 16, 19})
    expect(1, std::min<size_t>(count, operation.chunk));
  return failures;
}

unsigned check_file(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  const Bytes bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.size() < 32) throw std::string("cannot read ") + path;
  const std::string name(reinterpret_cast<const char*>(bytes.data()));
  const auto all = sets();
  const auto set = std::find_if(all.begin(), all.end(), [&](const Set& s) { return s.name == name; });
  if (set == all.end()) throw "a set that this program does not have: " + name;
  if (set->needs_sha3 && !cpu_features().has(CpuFeatures::kSha3)) throw name + ": this CPU has no SHA3";
  Reader in(Bytes(bytes.begin() + 32, bytes.end()));
  File file;
  while (in.more())
    file.add(in, *set);
  const unsigned failures =
      check(*set, Op::kKeygen, "keygen", file.keygen) + check(*set, Op::kEncaps, "encaps", file.encaps) +
      check(*set, Op::kDecaps, "decaps", file.decaps) + check(*set, Op::kEncaps, "refused public key", file.bad_pk) +
      check(*set, Op::kDecaps, "refused secret key", file.bad_sk);
  std::printf("%s on %s: %zu cases, %u failures\n", name.c_str(), set->backend.name,
              file.keygen.count + file.encaps.count + file.decaps.count, failures);
  return failures + (file.keygen.count == 0);
}

}  // namespace

int main(int count, char** paths) {
  unsigned failures = count < 2;
  try {
    for (int i = 1; i < count; ++i)
      failures += check_file(paths[i]);
  } catch (const std::string& problem) {
    std::printf("%s\n", problem.c_str());
    return 2;
  }
  return failures == 0 ? 0 : 1;
}
