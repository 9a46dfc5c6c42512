// SPDX-License-Identifier: Apache-2.0
// NTRU's vector key generation against the reference, in workspaces that hold anything: blocks that share inversions,
// and among them one that is not full.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "isa.hpp"
#include "schemes/ntru/ntru.hpp"

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
  static BackendId id() { return GetParam() == testing::Isa::avx2 ? BackendId::avx2 : BackendId::avx512; }

  /// One chunk at a time, each in a workspace of noise.
  static Keys keygen(const Scheme& s, BackendId id, const Bytes& draws, Noise& noise) {
    const Operation& operation = std::find_if(s.backends.begin(), s.backends.end(), [&](const SchemeBackend& b) {
                                   return b.backend == id;
                                 })->op(Op::keygen);
    const size_t count = draws.size() / s.keygen_draw_bytes;
    Keys keys{Bytes(count * s.public_key_bytes), Bytes(count * s.secret_key_bytes)};
    std::vector<Status> status(count, Status::ok);
    for (size_t first = 0; first < count; first += operation.chunk) {
      const Batch batch{.count = std::min(operation.chunk, count - first),
                        .draws = &draws[first * s.keygen_draw_bytes],
                        .pk_out = &keys.pk[first * s.public_key_bytes],
                        .sk_out = &keys.sk[first * s.secret_key_bytes],
                        .item_status = &status[first]};
      const size_t bytes = operation.workspace_bytes(batch.count);
      AlignedBuffer<uint8_t> workspace(bytes);
      const Bytes dirt = noise.bytes(bytes);
      std::copy(dirt.begin(), dirt.end(), workspace.data());
      EXPECT_EQ(operation.run(batch, reinterpret_cast<std::byte*>(workspace.data()), nullptr), Status::ok);
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
      EXPECT_TRUE(keygen(s, id(), draws, noise) == keygen(s, BackendId::ref, draws, noise)) << s.name << " " << count;
    }
  }
}

POLYKEM_EVERY_ISA(NtruLanesTest);

}  // namespace
}  // namespace polykem
