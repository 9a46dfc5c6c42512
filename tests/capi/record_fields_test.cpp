// SPDX-License-Identifier: Apache-2.0
// Tests that the C API and the Python extension agree with the engine's list of records of each operation.
#include <gtest/gtest.h>

#include <iterator>
#include <map>

#include "engine/request.hpp"
#include "python/src/record_fields.hpp"
#include "schemes/registry.hpp"
#include "support/batch.hpp"

namespace polykem::test {
namespace {

constexpr Op kAll[] = {Op::kKeygen, Op::kEncaps, Op::kDecaps};
constexpr Op kOfSignatures[] = {Op::kKeygen, Op::kSign, Op::kVerify};

/// The fields of python::kRecordFields are the engine's, in its order.
const FieldInfo& engines(const python::RecordField& f) {
  return kRecordFields[&f - python::kRecordFields];
}

void compare(const Scheme& s, Op op, bool seeds) {
  polykem_request request = make_request(static_cast<polykem_op>(op), reinterpret_cast<const polykem_scheme*>(&s), 1);
  request.secret_form = seeds ? POLYKEM_SECRET_SEED : POLYKEM_SECRET_EXPANDED;
  const python::RecordLengths lengths = python::record_lengths(info(request.scheme), request);
  const RecordBytes bytes = record_bytes(s, op, seeds);
  for (const python::RecordField& f : python::kRecordFields) {
    EXPECT_EQ(f.in != nullptr, engines(f).in != nullptr) << f.argument;
    EXPECT_EQ(f.out != nullptr, engines(f).out != nullptr) << f.argument;
    EXPECT_EQ(f.key, engines(f).key) << f.argument;
    EXPECT_EQ(lengths.*f.length, bytes.*engines(f).bytes) << s.name << " " << f.argument;
  }
}

TEST(RecordFields, PythonsAreTheEngines) {
  ASSERT_EQ(std::size(python::kRecordFields), std::size(kRecordFields));
  for (const Scheme* s : registry()) {
    for (const Op op : kAll)
      compare(*s, op, false);
    if (s->secret_seed_bytes() != 0) compare(*s, Op::kDecaps, true);
  }
  for (const Scheme* s : signature_registry()) {
    for (const Op op : kOfSignatures)
      compare(*s, op, false);
    compare(*s, Op::kSign, true);
  }
}

/// The C API writes the whole of each output that the engine lists for an operation and nothing else, and needs what
/// the engine lists, but not coins.
TEST(RecordFields, TheCApisAreTheEngines) {
  const Context context = make_context("ref");
  const Scheme& s = *find_scheme("mlkem512");
  std::map<size_t, Bytes> made;  // the outputs so far, by length
  for (const Op op : kAll) {
    const ItemRecords item(s, op, false);
    polykem_request request = make_request(static_cast<polykem_op>(op), scheme(s.name), 1);
    std::map<const char*, Bytes> arrays;
    for (const python::RecordField& f : python::kRecordFields) {
      const size_t bytes = s.record_bytes(op).*engines(f).bytes;
      Bytes& array = arrays[f.argument] = f.in != nullptr && made.contains(bytes) ? made[bytes] : pattern(bytes, 7);
      array.resize(bytes + 8, 0x5a);
      if (f.in != nullptr) request.*f.in = array.data();
      if (f.out != nullptr) request.*f.out = array.data();
    }
    const auto before = arrays;
    ASSERT_EQ(polykem_run(context.get(), &request), POLYKEM_OK);
    for (const python::RecordField& f : python::kRecordFields) {
      const size_t bytes = s.record_bytes(op).*engines(f).bytes;
      const Bytes &array = arrays[f.argument], &old = before.at(f.argument);
      if (f.in != nullptr || !item.has(engines(f))) {
        EXPECT_EQ(array, old) << f.argument;
      } else {
        const auto tail = static_cast<ptrdiff_t>(bytes) - 8;
        EXPECT_NE(Bytes(array.begin() + tail, array.end() - 8), Bytes(old.begin() + tail, old.end() - 8)) << f.argument;
        EXPECT_EQ(Bytes(array.end() - 8, array.end()), Bytes(8, 0x5a)) << f.argument << " is shorter";
        made[bytes] = Bytes(array.begin(), array.end() - 8);
      }
    }
    for (const python::RecordField& f : python::kRecordFields) {
      polykem_request less = request;
      if (f.in != nullptr) less.*f.in = nullptr;
      if (f.out != nullptr) less.*f.out = nullptr;
      const bool needed = item.has(engines(f)) && engines(f).field != field::kCoins;
      EXPECT_EQ(polykem_run(context.get(), &less), needed ? POLYKEM_ERR_ARGUMENT : POLYKEM_OK) << f.argument;
    }
  }
}

}  // namespace
}  // namespace polykem::test
