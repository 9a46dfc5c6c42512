// SPDX-License-Identifier: Apache-2.0
#include "memory_scan.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace polykem::test {

namespace {

constexpr size_t kPage = 4096;

std::vector<std::span<uint8_t>>& left_out() {
  static std::vector<std::span<uint8_t>> spans;
  return spans;
}

uint64_t mix(uint64_t word) {
  word = (word ^ (word >> 31)) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 29)) * 0xbf58476d1ce4e5b9u;
  return word ^ (word >> 32);
}

uint64_t load(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

/// Returns the hash of the first eight bytes, or of 64 if eight carry too little information.
template <bool kLong>
uint64_t begin_hash(const uint8_t* bytes) {
  if constexpr (!kLong) return mix(load(bytes));
  uint64_t state = 0;
  for (size_t i = 0; i < Needles::kLongWindow; i += 8)
    state = (state ^ load(bytes + i)) * 0x9e3779b97f4a7c15u;
  return mix(state);
}

uint64_t hash(const uint8_t* bytes, size_t count) {
  uint64_t state = count;
  for (size_t i = 0; i < count; ++i)
    state = mix(state ^ bytes[i]) + i;
  return state;
}

size_t distinct_bytes(std::span<const uint8_t> bytes) {
  std::array<bool, 256> seen{};
  for (const uint8_t byte : bytes)
    seen[byte] = true;
  return static_cast<size_t>(std::count(seen.begin(), seen.end(), true));
}

void* run(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

/// Returns the parts of a mapping that the process has touched, according to the kernel. [Linux, pagemap]
std::vector<std::span<const uint8_t>> touched(uintptr_t begin, uintptr_t end) {
  constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
  std::vector<uint64_t> entries((end - begin) / kPage);
  static const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const auto bytes = static_cast<ssize_t>(entries.size() * sizeof entries[0]);
  if (pread(pagemap, entries.data(), static_cast<size_t>(bytes),
            static_cast<off_t>(begin / kPage * sizeof entries[0])) != bytes)
    throw std::runtime_error("cannot read /proc/self/pagemap");
  std::vector<std::span<const uint8_t>> parts;
  for (size_t i = 0; i < entries.size(); ++i) {
    if ((entries[i] & kPresentOrSwapped) == 0) continue;
    const auto* page = reinterpret_cast<const uint8_t*>(begin + i * kPage);
    if (!parts.empty() && parts.back().data() + parts.back().size() == page) {
      parts.back() = {parts.back().data(), parts.back().size() + kPage};
    } else {
      parts.emplace_back(page, kPage);
    }
  }
  return parts;
}

struct Mapping {
  std::span<const uint8_t> memory;
  std::string name;
};

/// Returns the writable mappings, without the memory that is left out.
std::vector<Mapping> mappings() {
  std::vector<Mapping> result;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3) continue;
    if (rights[0] != 'r' || rights[1] != 'w') continue;
    std::vector<std::span<uint8_t>> holes = left_out();
    std::sort(holes.begin(), holes.end(), [](auto a, auto b) { return a.data() < b.data(); });
    const std::string name = line.substr(std::min(line.size(), size_t{73}));
    const auto add = [&](uintptr_t first, uintptr_t last) {
      for (const auto part : touched(first, last))
        result.push_back({part, name});
    };
    for (const auto hole : holes) {  // the kernel joins neighbouring mappings
      const auto hole_begin = reinterpret_cast<uintptr_t>(hole.data());
      if (hole_begin < begin || hole_begin >= end) continue;
      add(begin, hole_begin);
      begin = hole_begin + hole.size();
    }
    if (begin < end) add(begin, end);
  }
  return result;
}

}  // namespace

std::span<uint8_t> own_memory(size_t bytes) {
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  left_out().emplace_back(static_cast<uint8_t*>(memory), whole);
  return {static_cast<uint8_t*>(memory), bytes};
}

void inspect(const std::function<void()>& work) {
  static const auto stack = own_memory(1 << 20);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack.data(), stack.size());
  const int failed = pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work));
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::runtime_error("no thread");
  pthread_join(thread, nullptr);
}

Needles::Kind::Kind(size_t which) {
  constexpr size_t kMax = 1 << 20, kFilter = 1 << 20;
  static const std::array memory = {own_memory(kMax * sizeof(Window)), own_memory(kMax * sizeof(Window))};
  static const std::array filters = {own_memory(kFilter), own_memory(kFilter)};
  windows = {reinterpret_cast<Window*>(memory[which].data()), kMax};
  filter = filters[which];
  std::fill(filter.begin(), filter.end(), uint8_t{0});
}

void Needles::add(const std::string& what, std::span<const uint8_t> secret, size_t window) {
  names_.push_back(what);
  const bool is_long = window >= kLongWindow;
  Kind& kind = is_long ? long_ : short_;
  for (size_t i = 0; i + window <= secret.size(); ++i) {
    const auto part = secret.subspan(i, window);
    if (distinct_bytes(part) < (is_long ? 2 : 5)) continue;
    const uint64_t begins = is_long ? begin_hash<true>(part.data()) : begin_hash<false>(part.data());
    if (kind.count == kind.windows.size()) throw std::length_error("too many needles");
    kind.windows[kind.count++] = {begins, hash(part.data(), window), window, names_.size() - 1};
    kind.filter[begins % kind.filter.size()] = 1;
  }
}

void Needles::add_words(const std::string& what, std::span<const int16_t> words) {
  add(what, {reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes()}, 96);
}

std::string Needles::find() {
  std::string found;
  inspect([&] {
    for (const Kind* kind : {&short_, &long_})
      std::sort(kind->windows.begin(), kind->windows.begin() + static_cast<ptrdiff_t>(kind->count),
                [](auto& a, auto& b) { return a.begin_hash < b.begin_hash; });
    for (const auto& [memory, name] : mappings()) {
      find_in<false>(memory, name, found);
      find_in<true>(memory, name, found);
    }
  });
  return found;
}

template <bool kLong>
void Needles::find_in(std::span<const uint8_t> memory, const std::string& mapping, std::string& found) const {
  const Kind& kind = kLong ? long_ : short_;
  const auto windows = kind.windows.first(kind.count);
  if (windows.empty()) return;
  for (size_t i = 0; i + (kLong ? kLongWindow : 8) <= memory.size(); ++i) {
    const uint8_t* at = memory.data() + i;
    if (load(at) == 0) continue;  // most of the memory; windows that begin so are found one coefficient later
    const uint64_t begins = begin_hash<kLong>(at);
    if (kind.filter[begins % kind.filter.size()] == 0) continue;
    auto w = std::lower_bound(windows.begin(), windows.end(), begins,
                              [](const Window& a, uint64_t value) { return a.begin_hash < value; });
    for (; w != windows.end() && w->begin_hash == begins; ++w) {
      if (w->bytes > memory.size() - i || hash(at, w->bytes) != w->hash) continue;
      std::ostringstream line;
      line << names_[w->what] << " at " << static_cast<const void*>(at) << " in "
           << (mapping.empty() ? "memory without a name" : mapping) << '\n';
      if (found.size() < 1000) found += line.str();
      i += w->bytes - 1;
      break;
    }
  }
}

}  // namespace polykem::test
