// SPDX-License-Identifier: Apache-2.0
#include "engine/crossover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/cpu_features.hpp"
#include "core/usable_cpus.hpp"
#include "engine/accelerator.hpp"
#include "engine/static_text.hpp"

namespace polykem {

namespace {

constexpr const char* kFirstLine =
    "polykem crossover 3: fewest items for the accelerator: keygen, encaps or sign, decaps or verify";
constexpr const char* kLastLine = "end";

/// The folder of the file; "" if there is none.
std::string cache_folder() {
  const char* cache = secure_getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return cache;
  const char* home = secure_getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache" : "";
}

std::string cpu_line() {
  std::ifstream info("/proc/cpuinfo");
  std::string model = "unknown CPU";
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0 || line.find(": ") == std::string::npos) continue;
    model = line.substr(line.find(": ") + 2);
    break;
  }
  return "cpu " + std::to_string(usable_cpus().count) + " x " + model + " (" + cpu_feature_names() + ")";
}

std::string library_line() {
  return std::string("library ") + POLYKEM_LIBRARY_VERSION;
}

bool parse_items(const std::string& word, size_t& out) {
  if (word == "never") {
    out = Crossovers::kNever;
    return true;
  }
  if (word.empty() || word.size() > 9 || word.find_first_not_of("0123456789") != std::string::npos) return false;
  out = std::stoul(word);
  return out > 0;
}

bool parse_entry(const std::string& line, std::string& name, CrossoverOps& ops) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> name)) return false;
  for (size_t& op : ops) {
    if (!(words >> word) || !parse_items(word, op)) return false;
  }
  return !(words >> word);
}

}  // namespace

Crossovers::Crossovers(Accelerator& accelerator, const char* file, size_t guess)
    : accelerator_(accelerator), file_(file), guess_(guess) {}

void Crossovers::load(Table& t) const {
  if (t.loaded) return;
  const std::string folder = cache_folder();
  std::string problem;
  if (folder.empty()) {
    t.note = "guessed; measurements cannot be kept, neither XDG_CACHE_HOME nor HOME names a folder";
  } else {
    t.path = folder + "/polykem/" + file_;
    if (read(t, problem)) {
      t.note = "measured, from " + t.path;
    } else {
      forget(t, problem);
    }
  }
  t.loaded = true;
  update_min_items(t);
}

void Crossovers::update_min_items(Table& t) const {
  size_t min_items = guess_;
  for (const auto& [name, ops] : t.measured)
    min_items = std::min(min_items, *std::min_element(ops.begin(), ops.end()));
  t.min_items.store(min_items, std::memory_order_relaxed);
}

void Crossovers::forget(Table& t, const std::string& why) {
  t.measured.clear();
  t.note = "guessed; " + (why.empty() ? "polykem doctor --tune measures" : t.path + " is ignored: " + why);
}

/// Reads the file. Returns false with an empty problem if there is none.
bool Crossovers::read(Table& t, std::string& problem) {
  std::ifstream file(t.path);
  if (!file) return false;
  std::string line;
  const auto next_is = [&](const std::string& wanted) { return std::getline(file, line) && line == wanted; };
  if (!next_is(kFirstLine)) return problem = "it is no table of crossovers", false;
  if (!next_is(library_line())) return problem = "it was written by another version of polykem", false;
  if (!next_is(cpu_line())) return problem = "it was measured on other CPUs", false;
  if (!std::getline(file, t.devices) || t.devices.rfind("devices ", 0) != 0)
    return problem = "line 4 names no devices", false;
  for (size_t number = 5; std::getline(file, line); ++number) {
    if (line == kLastLine) return true;
    std::string name;
    CrossoverOps ops{};
    if (!parse_entry(line, name, ops)) return problem = "line " + std::to_string(number) + " is no entry", false;
    t.measured[name] = ops;
  }
  problem = "its end is missing";
  return false;
}

/// Writes a new file and renames it, so that no existing link is followed.
bool Crossovers::write(const Table& t, std::string& problem) {
  const std::string folder = t.path.substr(0, t.path.rfind('/'));
  (void)mkdir(folder.substr(0, folder.rfind('/')).c_str(), 0700);
  (void)mkdir(folder.c_str(), 0700);
  std::ostringstream text;
  text << kFirstLine << '\n' << library_line() << '\n' << cpu_line() << '\n' << t.devices << '\n';
  for (const auto& [name, ops] : t.measured) {
    text << name;
    for (const size_t items : ops)
      text << ' ' << (items == kNever ? "never" : std::to_string(items));
    text << '\n';
  }
  text << kLastLine << '\n';
  std::string temporary = t.path + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  problem = t.path + " cannot be written";
  if (file < 0) return false;
  const std::string all = text.str();
  const bool written = ::write(file, all.data(), all.size()) == static_cast<ssize_t>(all.size());
  if (close(file) == 0 && written && std::rename(temporary.c_str(), t.path.c_str()) == 0) return true;
  (void)unlink(temporary.c_str());
  return false;
}

/// The file is read before the devices are known. They are compared once the accelerator has been loaded.
void Crossovers::confirm_devices(Table& t) const {
  if (t.devices_confirmed || !accelerator_.available()) return;
  t.devices_confirmed = true;
  const std::string here = "devices " + accelerator_.devices();
  if (!t.measured.empty() && t.devices != here) forget(t, "it was measured with other devices");
  t.devices = here;
  update_min_items(t);
}

size_t Crossovers::items_of(const Table& t, const Scheme& scheme, Op op) const {
  const auto found = t.measured.find(scheme.name);
  return found == t.measured.end() ? guess_ : found->second[index_of_op(op)];
}

/// If memory runs out here, the answer is the CPU.
bool Crossovers::pays(const Scheme& scheme, Op op, size_t count) try {
  Table& t = tables_.get();
  if (count < t.min_items.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(t.mutex);
  load(t);
  if (count < std::min(items_of(t, scheme, op), guess_)) return false;
  confirm_devices(t);
  const size_t items = items_of(t, scheme, op);
  return items != kNever && count >= items && accelerator_.available();
} catch (const std::bad_alloc&) {
  return false;
}

size_t Crossovers::items(const Scheme& scheme, Op op, bool& measured) {
  Table& t = tables_.get();
  const std::lock_guard lock(t.mutex);
  load(t);
  confirm_devices(t);
  measured = t.measured.count(scheme.name) > 0;
  return items_of(t, scheme, op);
}

void Crossovers::set(const Scheme& scheme, const CrossoverOps& ops) {
  Table& t = tables_.get();
  const std::lock_guard lock(t.mutex);
  load(t);
  confirm_devices(t);
  t.measured[scheme.name] = ops;
  update_min_items(t);
  t.note = "measured in this process";
  std::string problem = "there is no folder for caches";
  if (!t.path.empty() && write(t, problem)) {
    t.note = "measured, from " + t.path;
  } else {
    t.note += "; not kept: " + problem;
  }
}

const char* Crossovers::note() {
  Table& t = tables_.get();
  const std::lock_guard lock(t.mutex);
  load(t);
  return static_text(t.note);
}

}  // namespace polykem
