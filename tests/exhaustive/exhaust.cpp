// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer's function over the neighbours of valid inputs: each input cut off at every length, and with each byte
// changed to each other value. The bytes cannot be written, and lie once before, once behind a page that must not be
// touched. So a write crashes, as do a read beyond either end and a check of the fuzzer that fails. Standard error then
// names the input and the change.
//
//   PROGRAM FOLDER FIRST    every file of FOLDER, whole, cut off within FIRST bytes of its beginning or its end, and
//                           changed in its first FIRST bytes
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
/// Every sanitizer has it.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());
/// AddressSanitizer has it, and handles signals itself.
extern "C" [[gnu::weak]] void __asan_init();

namespace {

/// What is being tried, for the report of a crash.
char current[512] = "nothing";

void report() {
  (void)!write(STDERR_FILENO, current, std::strlen(current));
}

void on_signal(int signal) {
  report();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void report_crashes() {
  std::signal(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(report);
  if (__asan_init != nullptr) return;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(signal, on_signal);
}

/// Memory between two pages that must not be touched. It may be written between calls of parse() only.
class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes) {
    room_ = std::max<size_t>((bytes + kPage - 1) / kPage, 1) * kPage;
    void* const memory = mmap(nullptr, room_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    begin_ = static_cast<uint8_t*>(memory) + kPage;
  }
  ~GuardedMemory() { munmap(begin_ - kPage, room_ + 2 * kPage); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// Gives the bytes to the parser, at the memory's end and at its beginning.
  void parse(const uint8_t* data, size_t size) const {
    for (uint8_t* const place : {begin_ + room_ - size, begin_}) {
      protect(PROT_READ | PROT_WRITE);
      std::copy_n(data, size, place);
      protect(PROT_READ);
      LLVMFuzzerTestOneInput(place, size);
    }
  }

 private:
  inline static const auto kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

  void protect(int access) const {
    if (mprotect(begin_, room_, access) != 0) std::abort();
  }

  size_t room_ = 0;
  uint8_t* begin_ = nullptr;
};

std::vector<uint8_t> content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Counts {
  unsigned long files = 0, cut = 0, changed = 0;
};

void try_cuts(const std::string& name, const std::vector<uint8_t>& input, size_t first, Counts& counts) {
  const GuardedMemory memory(input.size());
  for (size_t size = 0; size <= input.size(); ++size) {
    if (size > first && input.size() - size > first) continue;
    std::snprintf(current, sizeof current, "%s, cut to %zu bytes\n", name.c_str(), size);
    memory.parse(input.data(), size);
    ++counts.cut;
  }
}

void try_changes(const std::string& name, const std::vector<uint8_t>& input, size_t first, Counts& counts) {
  const GuardedMemory memory(input.size());
  std::vector<uint8_t> data = input;
  for (size_t at = 0; at < std::min(first, input.size()); ++at) {
    for (unsigned change = 1; change < 256; ++change) {
      data[at] = static_cast<uint8_t>(input[at] ^ change);
      std::snprintf(current, sizeof current, "%s, byte %zu is 0x%02x\n", name.c_str(), at, unsigned{data[at]});
      memory.parse(data.data(), data.size());
      ++counts.changed;
    }
    data[at] = input[at];
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER FIRST\n", argv[0]);
    return 2;
  }
  const size_t first = std::strtoul(argv[2], nullptr, 10);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  report_crashes();
  Counts counts;
  for (const auto& file : files) {
    const std::vector<uint8_t> input = content_of(file);
    try_cuts(file.filename(), input, first, counts);
    try_changes(file.filename(), input, first, counts);
    ++counts.files;
  }
  std::printf("%lu inputs, cut off in %lu places, changed in %lu ways\n", counts.files, counts.cut, counts.changed);
  return counts.files == 0 ? 1 : 0;
}
