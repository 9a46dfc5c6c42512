// SPDX-License-Identifier: Apache-2.0
// Tests that items of a batch do not affect the status of items of the next, wherever the status is kept.
#include <algorithm>

#include "support/batch.hpp"

namespace polykem::test {
namespace {

class ItemStatus : public testing::Test {
 protected:
  static constexpr size_t kCount = 70;  // several chunks

  /// `status` may be nullptr: then the engine keeps the status of items itself.
  polykem_status encaps(const Bytes& pk, polykem_status* status) {
    auto request = make_request(POLYKEM_ENCAPS, set_, kCount);
    request.pk = pk.data();
    request.ct_out = ct_.data();
    request.ss_out = ss_.data();
    request.item_status = status;
    return polykem_run(context_.get(), &request);
  }

  Context context_ = make_context("ref");
  const polykem_scheme* set_ = scheme("mlkem512");
  const Exchange made_{context_.get(), set_, kCount};
  Bytes ct_ = Bytes(made_.ct.size()), ss_ = Bytes(made_.sender.size());
};

TEST_F(ItemStatus, OfEveryItemIsWritten) {
  std::vector<polykem_status> status(kCount, POLYKEM_ERR_PUBLIC_KEY);
  EXPECT_EQ(encaps(made_.pk, status.data()), POLYKEM_OK);
  EXPECT_EQ(std::count(status.begin(), status.end(), POLYKEM_OK), static_cast<ptrdiff_t>(kCount));
}

TEST_F(ItemStatus, OfABatchThatAskedForNoneDoesNotReachTheNext) {
  Bytes bad = made_.pk;
  bad[0] = bad[1] = 0xff;  // a coefficient of q or more
  EXPECT_EQ(encaps(bad, nullptr), POLYKEM_ERR_ITEMS);
  EXPECT_EQ(encaps(made_.pk, nullptr), POLYKEM_OK);
}

}  // namespace
}  // namespace polykem::test
