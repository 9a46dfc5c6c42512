// SPDX-License-Identifier: Apache-2.0
// NTRU's vector key generation against the reference, in workspaces with arbitrary contents: blocks that share
// inversions, one of them not full.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/backend.hpp"
#include "isa.hpp"
#include "schemes/ntru/ntru.hpp"
#include "schemes/registry.hpp"

namespace polykem {
namespace {

using testing::AlignedBuffer;
using testing::Noise;
using Bytes = std::vector<uint8_t>;

struct Keys {
  Bytes pk, sk;
  bool operator==(const Keys&) const = default;
};

class NtruLanesTest : public testing::IsaTest {
 protected:
  static const char* name() { return GetParam() == testing::Isa::avx2 ? cpu::kAvx2 : cpu::kAvx512; }

  /// One chunk at a time, each in a workspace of noise.
  static Keys keygen(const Scheme& s, const char* backend, const Bytes& draws, Noise& noise) {
    const Operation& operation = cpu_backend(s, backend)->op(Op::keygen);
    const size_t count = draws.size() / s.keygen_draw_bytes;
    Keys keys{Bytes(count * s.public_key_bytes), Bytes(count * s.secret_key_bytes)};
    std::vector<Status> status(count, Status::ok);
    BatchView all{.count = count, .draws = draws.data()};
    all.pk_out = keys.pk.data();
    all.sk_out = keys.sk.data();
    all.item_status = status.data();
    for (size_t first = 0; first < count; first += operation.chunk) {
      const Batch batch{all.slice(s.record_bytes(Op::keygen), first, std::min(operation.chunk, count - first))};
      const size_t bytes = operation.workspace_bytes(batch.count);
      AlignedBuffer<uint8_t> workspace(bytes);
      const Bytes dirt = noise.bytes(bytes);
      std::copy(dirt.begin(), dirt.end(), workspace.data());
      EXPECT_EQ(operation.run(operation.context, batch, reinterpret_cast<std::byte*>(workspace.data()), nullptr),
                Status::ok);
    }
    return keys;
  }
};

TEST_P(NtruLanesTest, KeysDoNotDependOnTheWorkspace) {
  for (const Scheme& s : ntru::schemes()) {
    if (s.public_key_bytes > 1500) continue;  // the two large sets: the same code
    Noise noise(s.public_key_bytes);
    for (const size_t count : {size_t{20}, size_t{50}}) {
      const Bytes draws = noise.bytes(count * s.keygen_draw_bytes);
      EXPECT_TRUE(keygen(s, name(), draws, noise) == keygen(s, cpu::kRef, draws, noise)) << s.name << " " << count;
    }
  }
}

POLYKEM_EVERY_ISA(NtruLanesTest);

}  // namespace
}  // namespace polykem
