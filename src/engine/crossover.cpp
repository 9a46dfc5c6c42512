// SPDX-License-Identifier: Apache-2.0
#include "engine/crossover.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/cpu.hpp"
#include "core/text.hpp"
#include "engine/accelerator.hpp"

namespace polykem {

namespace {

constexpr const char* kFirstLine = "polykem crossover 2: fewest items for the accelerator: keygen encaps decaps";
constexpr const char* kLastLine = "end";

/// "" if there is no such folder.
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
  cpu_set_t set;
  const int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return "cpu " + std::to_string(cpus) + " x " + model + " (" + cpu_feature_names() + ")";
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

void Crossovers::load() {
  if (loaded_) return;
  const std::string folder = cache_folder();
  if (folder.empty()) {
    note_ = "guessed; measurements cannot be kept, neither XDG_CACHE_HOME nor HOME names a folder";
    loaded_ = true;
    return;
  }
  path_ = folder + "/polykem/" + file_;
  std::string problem;
  if (read(problem)) {
    note_ = "measured, from " + path_;
  } else {
    forget(problem);
  }
  loaded_ = true;
}

void Crossovers::forget(const std::string& why) {
  measured_.clear();
  note_ = "guessed; " + (why.empty() ? "polykem doctor --tune measures" : path_ + " is ignored: " + why);
}

/// False with an empty problem if there is no file.
bool Crossovers::read(std::string& problem) {
  std::ifstream file(path_);
  if (!file) return false;
  std::string line;
  const auto next_is = [&](const std::string& wanted) { return std::getline(file, line) && line == wanted; };
  if (!next_is(kFirstLine)) return problem = "it is no table of crossovers", false;
  if (!next_is(library_line())) return problem = "it was written by another version of polykem", false;
  if (!next_is(cpu_line())) return problem = "it was measured on other CPUs", false;
  if (!std::getline(file, devices_) || devices_.rfind("devices ", 0) != 0)
    return problem = "line 4 names no devices", false;
  for (size_t number = 5; std::getline(file, line); ++number) {
    if (line == kLastLine) return true;
    std::string name;
    CrossoverOps ops{};
    if (!parse_entry(line, name, ops)) return problem = "line " + std::to_string(number) + " is no entry", false;
    measured_[name] = ops;
  }
  problem = "its end is missing";
  return false;
}

bool Crossovers::write(std::string& problem) const {
  const std::string folder = path_.substr(0, path_.rfind('/'));
  const std::string temporary = path_ + "." + std::to_string(getpid());
  (void)mkdir(folder.substr(0, folder.rfind('/')).c_str(), 0700);
  (void)mkdir(folder.c_str(), 0700);
  std::ofstream file(temporary);
  file << kFirstLine << '\n' << library_line() << '\n' << cpu_line() << '\n' << devices_ << '\n';
  for (const auto& [name, ops] : measured_) {
    file << name;
    for (const size_t items : ops)
      file << ' ' << (items == kNever ? "never" : std::to_string(items));
    file << '\n';
  }
  file << kLastLine << '\n';
  file.close();
  if (file && std::rename(temporary.c_str(), path_.c_str()) == 0) return true;
  (void)unlink(temporary.c_str());
  problem = path_ + " cannot be written";
  return false;
}

/// The file is read before the devices are known; they are compared as soon as the accelerator has been loaded.
void Crossovers::confirm_devices() {
  if (devices_confirmed_ || !accelerator_.available()) return;
  devices_confirmed_ = true;
  const std::string here = "devices " + accelerator_.devices();
  if (!measured_.empty() && devices_ != here) forget("it was measured with other devices");
  devices_ = here;
}

size_t Crossovers::items_locked(const Scheme& scheme, Op op) const {
  const auto found = measured_.find(scheme.name);
  return found == measured_.end() ? guess_ : found->second[static_cast<size_t>(op)];
}

/// If memory runs out here, the answer is the CPU.
bool Crossovers::pays(const Scheme& scheme, Op op, size_t count) try {
  const std::lock_guard lock(mutex_);
  load();
  if (count < std::min(items_locked(scheme, op), guess_)) return false;
  confirm_devices();
  const size_t items = items_locked(scheme, op);
  return items != kNever && count >= items;
} catch (const std::bad_alloc&) {
  return false;
}

size_t Crossovers::items(const Scheme& scheme, Op op, bool& measured) {
  const std::lock_guard lock(mutex_);
  load();
  confirm_devices();
  measured = measured_.count(scheme.name) > 0;
  return items_locked(scheme, op);
}

void Crossovers::set(const Scheme& scheme, const CrossoverOps& ops) {
  const std::lock_guard lock(mutex_);
  load();
  confirm_devices();
  measured_[scheme.name] = ops;
  note_ = "measured in this process";
  std::string problem = "there is no folder for caches";
  if (!path_.empty() && write(problem)) {
    note_ = "measured, from " + path_;
  } else {
    note_ += "; not kept: " + problem;
  }
}

const char* Crossovers::note() {
  const std::lock_guard lock(mutex_);
  load();
  return static_text(note_);
}

}  // namespace polykem
