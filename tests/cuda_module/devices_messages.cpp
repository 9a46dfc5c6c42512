// SPDX-License-Identifier: Apache-2.0
// Tests the module's devices with messages, and with a workspace whose tail is public, by a toy that signs.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/bytes.hpp"
#include "toy.hpp"

namespace polykem::cuda::test {

namespace {

/// Memory of either kind.
template <class T>
class Host {
 public:
  Host(size_t size, bool pinned) : size_(size), pinned_(pinned) {
    void* memory = nullptr;
    if (pinned) {
      (void)cudaHostAlloc(&memory, size * sizeof(T), 0);
    } else {
      memory = std::malloc(size * sizeof(T));
    }
    data_ = static_cast<T*>(memory);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { pinned_ ? static_cast<void>(cudaFreeHost(data_)) : std::free(data_); }
  T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  const size_t size_;
  const bool pinned_;
  T* data_;
};

/// Returns bytes that no earlier call returned.
void fill_anew(const Host<uint8_t>& memory) {
  static polykem::test::Noise noise(1);
  noise.fill({memory.data(), memory.size()});
}

/// A batch to sign.
struct Signing {
  size_t count;
  Host<uint8_t> sk, signatures;

  Signing(size_t n, bool pinned) : count(n), sk(n * kSk, pinned), signatures(n * kSignature, pinned) { fill_anew(sk); }

  BatchView view(const Messages& messages) const {
    BatchView batch{.count = count};
    batch.sk = sk.data(), batch.sig_out = signatures.data(), batch.message = messages;
    return batch;
  }
  Outcome sign(const DeviceScheme& scheme, const Messages& messages) const { return sign(scheme, view(messages)); }
  Outcome sign(const DeviceScheme& scheme, const BatchView& batch) const {
    const std::array<uint8_t, kSeedBytes> seed{};
    ErrorText why{};
    return table().run(scheme.operation(Op::kSign), batch, seed.data(), nullptr, &why);
  }
  bool all_signed(const Messages& messages) const {
    std::array<uint8_t, kSignature> wanted;
    for (size_t i = 0; i < count; ++i) {
      signature_of(wanted.data(), sk.data() + i * kSk, messages, messages.strings.at(i), messages.contexts.at(i));
      if (std::memcmp(wanted.data(), signatures.data() + i * kSignature, kSignature) != 0) return false;
    }
    return true;
  }
  /// Returns true if the device has no secret key and no secret trace of these items.
  bool is_wiped() const {
    for (size_t item = 0; item < count; item += 1 + count / 16) {
      const uint8_t* own = sk.data() + item * kSk;
      const Trace trace = secret_trace(own);
      if (fake_runtime::device_memory_has({own, own + kSk})) return false;
      if (fake_runtime::device_memory_has({trace.begin(), trace.end()})) return false;
    }
    return true;
  }
  bool has_public_traces() const {
    const Trace first = public_trace(sk.data()), last = public_trace(sk.data() + (count - 1) * kSk);
    return fake_runtime::device_memory_has({first.begin(), first.end()}) &&
           fake_runtime::device_memory_has({last.begin(), last.end()});
  }
};

/// Strings of every form, of up to 40 bytes.
class Texts {
 public:
  static constexpr size_t kForms = 6;

  Texts(size_t count, bool pinned)
      : bytes_(kSkipped + 40 * count, pinned), lengths_(count + 1, pinned), empty_(count + 1, pinned) {
    lengths_[0] = kSkipped;
    for (size_t i = 0; i < count; ++i)
      lengths_[i + 1] = lengths_[i] + i * 7 % 41;
    std::fill_n(empty_.data(), count + 1, kSkipped);
    renew();
  }
  void renew() { fill_anew(bytes_); }
  Strings form(size_t number) const {
    const Strings forms[kForms] = {
        {bytes_.data(), lengths_.data(), 0, false},  // of different lengths; the first is not at the beginning
        {bytes_.data(), nullptr, 24, false},         // of one length
        {bytes_.data(), nullptr, 39, true},          // one for all
        {bytes_.data(), nullptr, 0, false},          // empty
        {bytes_.data(), empty_.data(), 0, false},    // empty, by their offsets
        {}};                                         // absent
    return forms[number % kForms];
  }

 private:
  static constexpr size_t kSkipped = 5;
  Host<uint8_t> bytes_;
  Host<size_t> lengths_, empty_;
};

/// Signs a batch with each form of messages, beside contexts of two other forms, more than once with the same arrays.
void sign_all_forms(size_t count, bool pinned) {
  const Signing s(count, pinned);
  Texts messages(count, pinned), contexts(count, pinned);
  for (size_t form = 0; form < Texts::kForms; ++form) {
    for (const size_t other : {form + 1, form + 4}) {
      const Messages all{messages.form(form), contexts.form(other)};
      for (int round = 0; round < 3; ++round) {
        messages.renew(), contexts.renew(), fill_anew(s.sk);
        expect(s.sign(kSigner, all) == Outcome::kOk && s.all_signed(all), "signatures of the strings");
      }
    }
  }
  expect(strays == 0, "strings and offsets are in device memory");
}

void check_messages() {
  for (const bool pinned : {true, false}) {
    for (const size_t count : {size_t{1}, size_t{700}})
      sign_all_forms(count, pinned);
    expect(std::ranges::all_of(parts_signed(), [](size_t items) { return items == 1 || items == 700; }), "one part");
    sign_all_forms(20000, pinned);
    expect(std::ranges::max(parts_signed()) <= 10048, "a part for each device");
    table().set_budget(size_t{40} << 20);  // of all parts in flight
    sign_all_forms(5000, pinned);
    expect(std::ranges::max(parts_signed()) < 2500, "more parts than devices");
    table().set_budget(0);
  }
  expect(fake_runtime::replayed() > 0, "launches are replayed too");
}

/// The secret part of a workspace is wiped, also when a step or the device fails; its public tail is not.
void check_public_tail() {
  const auto fails_by = [](Fault fault, int after, const Signing& s) {
    table().inject(fault, after);
    return s.sign(kSigner, Messages{}) == Outcome::kFailed;
  };
  for (const size_t count : {size_t{500}, size_t{9000}, size_t{30000}}) {  // the last one has parts that share streams
    // A step that fails while launches are recorded would be launched again: another count is not recorded yet.
    const Signing good(count, true), no_step(count + 1000, true), no_end(count, true);
    expect(good.sign(kSigner, Messages{}) == Outcome::kOk, "sign");
    fake_runtime::run_all();
    expect(good.is_wiped(), "what is secret is wiped");
    expect(good.has_public_traces(), "what is public is not");
    expect(fails_by(Fault::kStep, 1, no_step) && fails_by(Fault::kSynchronize, 0, no_end), "failures are reported");
    fake_runtime::run_all();
    expect(no_step.is_wiped() && no_end.is_wiped(), "what is secret is wiped after failures");
  }
}

/// The secret part of a workspace is wiped before it makes room for that of a part with longer messages.
void check_growing_parts() {
  constexpr size_t kCount = 60000, kLongest = 180;
  table().set_budget(size_t{40} << 20);  // of all parts in flight, so that the parts of a batch take turns
  const Signing s(kCount, true);
  const Host<uint8_t> bytes(kCount * kLongest, true);
  const Host<size_t> offsets(kCount + 1, true);
  offsets[0] = 0;
  for (size_t i = 0; i < kCount; ++i)
    offsets[i + 1] = offsets[i] + i * kLongest / kCount;
  const Messages messages{.strings = {bytes.data(), offsets.data(), 0, false}};
  expect(s.sign(kSigner, messages) == Outcome::kOk && s.all_signed(messages), "sign");
  expect(parts_signed().size() > 8, "more parts than a batch has under way");
  fake_runtime::run_all();
  expect(s.is_wiped(), "what is secret is wiped");
}

/// The same for the caller's workspace.
void check_queued_tail() {
  constexpr size_t kCount = 300;
  const DeviceOperation& sign = kSigner.operation(Op::kSign);
  const size_t bytes = table().queue_workspace_bytes(sign, kCount), tail = kCount * kTrace / 256 * 256;
  const auto array = [](size_t size) { return table().allocate(size, nullptr, nullptr); };
  std::byte *const workspace = array(bytes), *const sk = array(kCount * kSk), *const out = array(kCount * kSignature);
  const Signing s(kCount, false);
  std::memcpy(sk, s.sk.data(), kCount * kSk);
  BatchView batch = s.view({});
  batch.sk = reinterpret_cast<uint8_t*>(sk), batch.sig_out = reinterpret_cast<uint8_t*>(out);
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreateWithFlags(&stream, 0) == cudaSuccess, "a stream");
  const std::array<uint8_t, kSeedBytes> seed{};
  ErrorText why{};
  expect(table().queue(sign, batch, seed.data(), workspace, stream, &why) == Outcome::kOk, "queue");
  fake_runtime::run_all();
  expect(std::all_of(workspace, workspace + bytes - tail, [](std::byte b) { return b == std::byte{0}; }),
         "what is secret is wiped");
  expect(s.has_public_traces(), "what is public is not");
  table().release(workspace, bytes);
  table().release(sk, kCount * kSk);
  table().release(out, kCount * kSignature);
}

/// On one device, parts have at most 96 MiB and the last is halved, unless the operation wants larger ones.
void check_parts() {
  constexpr size_t kCount = 100000;
  table().set_budget(size_t{8} << 30);
  const Signing s(kCount, true);
  std::byte* const sk = table().allocate(kCount * kSk, nullptr, nullptr);
  expect(table().copy(sk, s.sk.data(), kCount * kSk, nullptr) == Outcome::kOk, "keys for the device");
  BatchView batch = s.view({});
  batch.sk = reinterpret_cast<uint8_t*>(sk);
  for (const DeviceScheme* scheme : {&kSigner, &kSignerLarge}) {
    expect(s.sign(*scheme, batch) == Outcome::kOk && s.all_signed({}), "sign");
    const std::vector<size_t> parts = parts_signed();
    expect(std::accumulate(parts.begin(), parts.end(), size_t{0}) == kCount, "each item is in one part");
    expect(parts.size() == (scheme == &kSigner ? 3 : 1), "the number of parts");
  }
  batch.count = kCount / 4;
  const Host<uint8_t> bytes(batch.count * 4000, true);
  for (const bool has_messages : {false, true}) {
    if (has_messages) batch.message.strings = {bytes.data(), nullptr, 4000, false};
    expect(s.sign(kSigner, batch) == Outcome::kOk, "sign a quarter of them");
    expect(parts_signed().size() == (has_messages ? 2 : 1), "messages count as bytes of a part");
  }
  table().release(sk, kCount * kSk);
}

}  // namespace

std::span<const Check> message_checks() {
  static constexpr Check kAll[] = {
      {"messages", check_messages},
      {"public_tail", check_public_tail},
      {"growing_parts", check_growing_parts},
      {"queued_tail", check_queued_tail},
      {"parts", check_parts},
  };
  return kAll;
}

}  // namespace polykem::cuda::test
