// SPDX-License-Identifier: Apache-2.0
#include "ckks/src/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "core/module_file.hpp"

namespace polykem::ckks {

namespace {

constexpr ModuleFile kFile{"libpolykem_ckks_cuda.so", "POLYKEM_CKKS_CUDA_MODULE",
                           "make cuda (CMake: -DPOLYKEM_CUDA=ON)"};
/// The most rows, of all digits of a polynomial together, in one launch.
constexpr size_t kMaxDigitRows = 508;

struct Loaded {
  const DeviceModule* module = nullptr;
  std::string problem;
};

/// The module is never unloaded: the driver keeps threads of its own.
Loaded load() {
  const LoadedFile file = load_module_file(kFile);
  if (file.handle == nullptr) return {nullptr, file.problem};
  using Entry = const DeviceModule* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(file.handle, kDeviceModuleEntry));
  if (entry == nullptr) return {nullptr, file.path + " is no module of polykem's CKKS"};
  const DeviceModule* const module = entry();
  if (module->version != kDeviceModuleVersion || module->table_bytes != sizeof *module)
    return {nullptr, file.path + " belongs to another version of polykem"};
  return {module, ""};
}

const DeviceModule& loaded_module() {
  static const auto* const loaded = new Loaded(load());
  if (loaded->module == nullptr) throw Error(Fault::kDevice, "no GPU can be used: " + loaded->problem);
  return *loaded->module;
}

void check_parameters(const Context& context) {
  const auto refuse = [](const std::string& text) { throw Error(Fault::kParameters, text); };
  if (context.log_n() < Device::kMinLogN)
    refuse("GPUs compute in rings of dimension 2^12 to 2^16, not 2^" + std::to_string(context.log_n()));
  if (context.special() == 0) return;
  if (context.digit_size(0, context.limbs()) > kMaxConverted)
    refuse("a digit of key switching has at most " + std::to_string(kMaxConverted) +
           " primes on a GPU: ask for more digits");
  if (const size_t rows = context.digits() * context.primes(); rows > kMaxDigitRows)
    refuse("digits times primes are at most " + std::to_string(kMaxDigitRows) + " on a GPU, not " +
           std::to_string(rows) + ": ask for fewer digits");
}

[[noreturn]] void fail(Outcome outcome, int ordinal, const ErrorText& why) {
  const std::string device = "GPU " + std::to_string(ordinal) + ": ";
  if (outcome == Outcome::kOutOfMemory)
    throw Error(Fault::kOutOfMemory, device + why.text + "; free batches that lie there, or take smaller ones");
  throw Error(Fault::kDevice, device + why.text);
}

template <typename Batch>
DevicePolynomials batch_of(const Batch& batch, size_t parts) {
  return {batch.on_device->get(), batch.count, parts, batch.limbs};
}
DevicePolynomials batch_of(const Ciphertexts& batch) {
  return batch_of(batch, batch.parts);
}

/// Return everything but the words.
Ciphertexts described(const Ciphertexts& a) {
  return {.count = a.count,
          .parts = a.parts,
          .limbs = a.limbs,
          .scale = a.scale,
          .slots = a.slots,
          .n = a.n,
          .set = a.set,
          .words = {}};
}
Plaintexts described(const Plaintexts& a) {
  return {.count = a.count, .limbs = a.limbs, .scale = a.scale, .slots = a.slots, .n = a.n, .set = a.set, .words = {}};
}
SwitchingKey described(const SwitchingKey& a) {
  return {.n = a.n, .primes = a.primes, .set = a.set, .words = {}};
}

template <typename Object>
Object uploaded(const std::shared_ptr<const Device>& device, const Object& a, uint64_t set, bool secret) {
  if (a.set != set) throw Error(Fault::kArgument, "the device was opened for another parameter set");
  if (device_of(a) == device.get()) return a;
  if (a.on_device != nullptr)
    throw Error(Fault::kDevice, "the object lies on another device: copy it to main memory first (..._to_host)");
  Object out = described(a);
  const auto words = std::make_shared<DeviceWords>(device, a.words.size(), secret);
  words->upload(a.words.data());
  out.on_device = words;
  return out;
}

template <typename Batch>
Batch downloaded(const Batch& a) {
  if (a.on_device == nullptr) return a;
  Batch out = described(a);
  out.words.resize(a.on_device->count());
  a.on_device->download(out.words.data());
  return out;
}

}  // namespace

template <typename... Parameters, typename... Arguments>
void Device::run(Outcome (*function)(OpenDevice*, Parameters...), const Arguments&... arguments) const {
  ErrorText why{};
  const Outcome outcome = function(open_, arguments..., &why);
  if (outcome != Outcome::kOk) fail(outcome, ordinal_, why);
}

Device::Device(const Context& context, int ordinal, const DeviceModule& module)
    : module_(module), ordinal_(ordinal), q_id_(context.q_id()), id_(context.id()) {}

std::shared_ptr<const Device> Device::open(const Context& context, int ordinal, size_t scratch_bytes) {
  if (ordinal < 0) throw Error(Fault::kArgument, "GPUs are numbered from 0");
  check_parameters(context);
  const DeviceModule& module = loaded_module();
  std::vector<uint64_t> primes, roots;
  for (size_t i = 0; i < context.primes(); ++i) {
    primes.push_back(context.modulus(i).value());
    roots.push_back(context.ntt(i).psi());
  }
  const DeviceSetup setup{ordinal,         context.log_n(),   scratch_bytes,
                          context.limbs(), context.special(), context.digit_size(0, context.limbs()),
                          primes.data(),   roots.data()};
  const std::shared_ptr<Device> device(new Device(context, ordinal, module));
  ErrorText why{};
  const Outcome outcome = module.open(&setup, &device->open_, &why);
  if (outcome != Outcome::kOk) fail(outcome, ordinal, why);
  device->self_ = device;
  return device;
}

Device::~Device() {
  if (open_ != nullptr) module_.close(open_);
}

void Device::wait() const {
  run(module_.wait);
}

void Device::allocate(Ciphertexts& out) const {
  out.on_device = std::make_shared<DeviceWords>(self_.lock(), out.count * out.parts * out.limbs * out.n, false);
}

void Device::combine(Operation operation, const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a), y = batch_of(b);
  run(module_.combine, operation, &to, &x, &y);
}

void Device::combine_plain(Operation operation, const Ciphertexts& a, const Plaintexts& b, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a), y = batch_of(b, 1);
  run(module_.combine_plain, operation, &to, &x, &y);
}

void Device::negate(const Ciphertexts& a, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a);
  run(module_.negate, &to, &x);
}

void Device::tensor(const Ciphertexts& a, const Ciphertexts& b, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a), y = batch_of(b);
  run(module_.tensor, &to, &x, &y);
}

void Device::relinearise(const Ciphertexts& a, const SwitchingKey& key, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a);
  run(module_.relinearise, &to, &x, key.on_device->get());
}

void Device::automorphism(const Ciphertexts& a, uint64_t g, const SwitchingKey& key, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a);
  run(module_.automorphism, &to, &x, g, key.on_device->get());
}

void Device::rescale(const Ciphertexts& a, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a);
  run(module_.rescale, &to, &x);
}

void Device::select(const Ciphertexts& a, size_t first, Ciphertexts& out) const {
  const DevicePolynomials to = batch_of(out), x = batch_of(a);
  run(module_.select, &to, &x, first);
}

DeviceWords::DeviceWords(std::shared_ptr<const Device> device, size_t count, bool secret)
    : device_(std::move(device)), count_(count), secret_(secret) {
  device_->run(device_->module_.allocate, count, &words_);
}

DeviceWords::~DeviceWords() {
  device_->module_.release(device_->open_, words_, count_, secret_);
}

void DeviceWords::upload(const uint64_t* words) const {
  device_->run(device_->module_.upload, words_, words, count_);
}

void DeviceWords::download(uint64_t* words) const {
  device_->run(device_->module_.download, words, words_, count_);
}

Ciphertexts to_device(const std::shared_ptr<const Device>& device, const Ciphertexts& a) {
  return uploaded(device, a, device->q_id(), false);
}
Plaintexts to_device(const std::shared_ptr<const Device>& device, const Plaintexts& a) {
  return uploaded(device, a, device->q_id(), true);
}
SwitchingKey to_device(const std::shared_ptr<const Device>& device, const SwitchingKey& key) {
  return uploaded(device, key, device->id(), false);
}

Ciphertexts to_host(const Ciphertexts& a) {
  return downloaded(a);
}
Plaintexts to_host(const Plaintexts& a) {
  return downloaded(a);
}

}  // namespace polykem::ckks
