// SPDX-License-Identifier: Apache-2.0
#include "broker/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace polykem::broker {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

bool SharedMemory::create(size_t bytes, Fd& fd) {
  fd = Fd(::memfd_create("polykem", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return false;
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0 || !map_pages(fd.get(), bytes)) return false;
  ::mlock2(data_, bytes_, MLOCK_ONFAULT);  // locks pages when they are first used
  return true;
}

bool SharedMemory::map(const Fd& fd, size_t bytes) {
  struct stat file {};
  if (::fcntl(fd.get(), F_GET_SEALS) != kSeals || ::fstat(fd.get(), &file) != 0) return false;
  return static_cast<size_t>(file.st_size) == bytes && map_pages(fd.get(), bytes);
}

bool SharedMemory::map_pages(int fd, size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return false;
  unmap();
  data_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  ::madvise(memory, bytes, MADV_DONTDUMP);
  ::madvise(memory, bytes, MADV_DONTFORK);
  return true;
}

void SharedMemory::unmap() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
  data_ = nullptr;
}

}  // namespace polykem::broker
