// SPDX-License-Identifier: Apache-2.0
// Tests that a device does not hash long messages, with simulated_device.cpp, which the environment names.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "support/signer.hpp"

namespace polykem::test {
namespace {

constexpr size_t kLongestHashedByGpu = size_t{4} << 20;

template <class Function>
Function* of_device(const char* name) {
  void* const module = dlopen(std::getenv("POLYKEM_CUDA_MODULE"), RTLD_NOW | RTLD_NOLOAD);
  auto* const found = module == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(module, name));
  EXPECT_NE(found, nullptr) << name;
  return found;
}

/// A copy in the device's memory.
class OnDevice {
 public:
  explicit OnDevice(const Bytes& bytes)
      : data_(static_cast<uint8_t*>(of_device<void*(size_t)>("simulated_device_allocate")(bytes.size()))) {
    std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~OnDevice() { of_device<void(void*)>("simulated_device_release")(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  const uint8_t* data() const { return data_; }

 private:
  uint8_t* data_;
};

/// Long and short messages side by side, also at both ends, and lengths around the limit.
class LongMessages : public testing::Test {
 protected:
  LongMessages() : text_(offsets_.back(), 3) {
    for (size_t i = 0; i < kCount; ++i)
      text_[offsets_[i + 1] - 1] = static_cast<uint8_t>(i);
    Bytes xi(kCount * 32);
    std::iota(xi.begin(), xi.end(), uint8_t{1});
    host_.keygen(kCount, xi, pk_, sk_);
    messages_ = deterministic({text_.data(), offsets_.data(), 0, 0}, strings(context_, 3, true));
  }

  Bytes key(const Bytes& keys, size_t number) const {
    const auto size = static_cast<ptrdiff_t>(keys.size() / kCount), first = static_cast<ptrdiff_t>(number) * size;
    return {keys.begin() + first, keys.begin() + first + size};
  }
  static size_t longest_on_device() { return of_device<size_t()>("simulated_device_longest_message")(); }

  static constexpr size_t kCount = 7;
  const std::vector<size_t> offsets_ = [] {
    const std::vector<size_t> lengths{kLongestHashedByGpu + 1, 30, kLongestHashedByGpu + 2, kLongestHashedByGpu + 2,
                                      kLongestHashedByGpu,     0,  kLongestHashedByGpu + 70};
    std::vector<size_t> out{5};
    for (const size_t length : lengths)
      out.push_back(out.back() + length);
    return out;
  }();
  Bytes text_;
  const Bytes context_{7, 8, 9};
  const Signer host_{"mldsa44", "ref"}, device_{"mldsa44", "cuda", 2};
  Bytes pk_, sk_;
  polykem_messages messages_{};
};

TEST_F(LongMessages, WithAKeyForEachAndOneForAll) {
  const Bytes right = host_.sign(kCount, sk_, messages_);
  EXPECT_EQ(device_.sign(kCount, sk_, messages_), right);
  Bytes wrong = right;
  for (const size_t item : {size_t{2}, size_t{5}})
    wrong[item * device_.info.signature_bytes] ^= 1;
  const auto items = device_.verify(kCount, pk_, messages_, wrong);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(items[i], i == 2 || i == 5 ? POLYKEM_ERR_SIGNATURE : POLYKEM_OK) << i;
  const Bytes with_one = host_.sign(kCount, key(sk_, 3), messages_);
  EXPECT_EQ(device_.sign(kCount, key(sk_, 3), messages_), with_one);
  EXPECT_EQ(device_.verify(kCount, key(pk_, 3), messages_, with_one), std::vector<polykem_status>(kCount, POLYKEM_OK));
  EXPECT_EQ(longest_on_device(), kLongestHashedByGpu);
}

TEST_F(LongMessages, WithKeysOnTheDevice) {
  const Bytes right = host_.sign(kCount, sk_, messages_);
  Bytes sig(right.size());
  const OnDevice pk(pk_), sk(sk_);
  polykem_request r = device_.request(POLYKEM_SIGN, kCount);
  r.messages = &messages_;
  r.sk = sk.data();
  r.sig_out = sig.data();
  ASSERT_EQ(polykem_run(device_.context.get(), &r), POLYKEM_OK);
  EXPECT_EQ(sig, right);
  r.op = POLYKEM_VERIFY;
  r.pk = pk.data();
  r.sig = sig.data();
  EXPECT_EQ(polykem_run(device_.context.get(), &r), POLYKEM_OK);
  EXPECT_EQ(longest_on_device(), kLongestHashedByGpu);
}

TEST_F(LongMessages, WithChosenKeysOfASet) {
  const size_t index[kCount] = {6, 0, 2, 2, 1, 5, 3};
  Bytes chosen;
  for (const size_t number : index) {
    const Bytes one = key(sk_, number);
    chosen.insert(chosen.end(), one.begin(), one.end());
  }
  polykem_keyset* set = nullptr;
  ASSERT_EQ(polykem_keyset_import(device_.context.get(), device_.scheme, POLYKEM_SECRET_KEYS, kCount, sk_.data(), &set),
            POLYKEM_OK);
  Bytes sig(kCount * device_.info.signature_bytes);
  polykem_request r = device_.request(POLYKEM_SIGN, kCount);
  r.messages = &messages_;
  r.keyset = set;
  r.key_index = index;
  r.sig_out = sig.data();
  EXPECT_EQ(polykem_run(device_.context.get(), &r), POLYKEM_OK);
  EXPECT_EQ(sig, host_.sign(kCount, chosen, messages_));
  EXPECT_EQ(longest_on_device(), kLongestHashedByGpu);
  polykem_keyset_free(set);
}

}  // namespace
}  // namespace polykem::test
