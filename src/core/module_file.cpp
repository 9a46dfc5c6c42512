// SPDX-License-Identifier: Apache-2.0
#include "core/module_file.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace polykem {

namespace {

/// Everything up to the last '/', or "" if there is none.
std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// True in a program with raised rights (setuid, setcap), which loads nothing that its user can choose.
bool has_raised_rights() {
  return getauxval(AT_SECURE) != 0;
}

std::string program_path() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length <= 0 ? "" : std::string(path.data(), static_cast<size_t>(length));
}

/// The file that this code was loaded from. "" if it is part of the program itself, of which the linker knows only
/// argv[0], which the caller chose.
std::string library_path() {
  struct Search {
    ElfW(Addr) address;
    bool is_first;
    const char* name;
  } search{reinterpret_cast<ElfW(Addr)>(&load_module_file), true, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        auto& sought = *static_cast<Search*>(data);
        // In a namespace of dlmopen the first object is not the program.
        const bool is_program = std::exchange(sought.is_first, false) &&
                                reinterpret_cast<unsigned long>(object->dlpi_phdr) == getauxval(AT_PHDR);
        const std::span headers(object->dlpi_phdr, object->dlpi_phnum);
        const bool found = std::ranges::any_of(headers, [&](const auto& part) {
          return part.p_type == PT_LOAD && sought.address - object->dlpi_addr - part.p_vaddr < part.p_memsz;
        });
        if (found && !is_program) sought.name = object->dlpi_name;
        return found ? 1 : 0;
      },
      &search);
  return search.name != nullptr && *search.name == '/' ? search.name : "";
}

/// True if only root and this user can change the file, or the folder's contents. In a folder with the sticky bit
/// others can add files but not replace these, which is enough for a parent folder.
bool only_we_change(const std::string& path, bool is_above) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return false;
  if (about.st_uid != 0 && about.st_uid != geteuid()) return false;
  return (about.st_mode & (S_IWOTH | S_IWGRP)) == 0 || (is_above && (about.st_mode & S_ISVTX) != 0);
}

/// True if only root and this user can change the file and every folder above it. path: without symbolic links.
bool is_trusted(std::string each) {
  for (bool is_above = false; only_we_change(each, is_above); is_above = true) {
    if (each == "/") return true;
    each.resize(std::max<size_t>(each.rfind('/'), 1));
  }
  return false;
}

std::string without_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), &std::free);
  return resolved == nullptr ? "" : resolved.get();
}

/// The file that the path leads to, if only root or this user can have put the file and any link to it there; else "".
std::string trusted_file(const std::string& path) {
  const std::string file = without_links(path), place = without_links(folder_of(path));
  return !file.empty() && !place.empty() && is_trusted(place) && is_trusted(file) ? file : "";
}

std::vector<std::string> candidates(const ModuleFile& file) {
  if (const char* path = secure_getenv(file.variable); path != nullptr) return {path};
  std::vector<std::string> paths;
  const auto beside = [&](const std::string& other) {
    const std::string folder = folder_of(other);
    if (folder.empty()) return;
    paths.push_back(folder + file.name);
    paths.push_back(folder + "../lib/" + file.name);
  };
  beside(library_path());
  if (!has_raised_rights()) beside(program_path());
  const std::string installed = POLYKEM_MODULE_FOLDER;  // empty in a Python wheel
  if (!installed.empty()) paths.push_back(installed + "/" + file.name);
  return paths;
}

}  // namespace

FoundFile find_module_file(const ModuleFile& file) {
  const char* named = secure_getenv(file.variable);
  if (named != nullptr && *named == '\0') return {"", std::string("switched off by ") + file.variable + "=\"\""};
  FoundFile result;
  for (const std::string& path : candidates(file)) {
    if (access(path.c_str(), R_OK) != 0) continue;
    // The resolved path that was checked is loaded, since links in `path` may change meanwhile.
    const std::string file_there = named != nullptr ? path : trusted_file(path);
    if (!file_there.empty()) return {file_there, ""};
    result.problem = path + " is not loaded: other users than root and this one can change it or a folder above it; " +
                     file.variable + " set to its path loads it nevertheless";
  }
  if (result.problem.empty())
    result.problem = std::string(file.name) + " was not found; build it with " + file.how_to_build + " or set " +
                     file.variable + " to its path";
  return result;
}

LoadedFile load_module_file(const ModuleFile& file) {
  FoundFile found = find_module_file(file);
  LoadedFile result{.handle = nullptr, .path = std::move(found.path), .problem = std::move(found.problem)};
  if (result.path.empty()) return result;
  result.handle = dlopen(result.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (result.handle == nullptr) result.problem = dlerror();
  return result;
}

}  // namespace polykem
