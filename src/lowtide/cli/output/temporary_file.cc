// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/temporary_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>

namespace lowtide::cli_internal {
namespace {

constexpr std::string_view kSuffix = ".lowtide-tmp";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kRandomDigits = 16;
constexpr int kMostAttempts = 100;

// Cuts a long name, so that the temporary name is not too long.
std::string prefix_for(std::string_view destination) { return "." + std::string(destination.substr(0, 200)) + "."; }

bool is_temporary_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return false;
  if (name.size() != prefix.size() + kRandomDigits + kSuffix.size()) return false;
  const std::string_view middle = name.substr(prefix.size(), kRandomDigits);
  return middle.find_first_not_of(kDigits) == std::string_view::npos;
}

// The random name does not affect any output, because the file is renamed or removed.
bool append_random_digits(std::string& name) {
  std::uint64_t number = 0;
  if (getentropy(&number, sizeof(number)) != 0) return false;
  for (std::size_t digit = 0; digit < kRandomDigits; ++digit, number >>= 4U) name += kDigits[number & 15U];
  return true;
}

// Whether the name leads to this open, regular file.
bool is_named(int folder, const char* name, int file) {
  struct stat by_name {};
  struct stat opened {};
  return fstat(file, &opened) == 0 && fstatat(folder, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(opened.st_mode) && opened.st_dev == by_name.st_dev && opened.st_ino == by_name.st_ino;
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  if (is_there_) static_cast<void>(unlinkat(folder_, name_.c_str(), 0));
}

bool TemporaryFile::create() {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    switch (try_create()) {
      case Attempt::made: return true;
      case Attempt::failed: return false;
      case Attempt::again: break;
    }
  }
  errno = EBUSY;
  return false;
}

TemporaryFile::Attempt TemporaryFile::try_create() {
  name_ = prefix_for(destination_);
  if (!append_random_digits(name_)) return Attempt::failed;
  name_ += kSuffix;
  // 0666: the umask removes the permissions that the user does not want.
  file_ = Descriptor(openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file_.is_open()) return errno == EEXIST ? Attempt::again : Attempt::failed;
  const bool is_locked = flock(file_.number(), LOCK_EX | LOCK_NB) == 0;
  // A sweeper holds the lock and removes the file.
  if (!is_locked && errno == EWOULDBLOCK) return Attempt::again;
  // A sweeper has removed the file. Without locks, sweepers remove nothing.
  if (is_locked && !is_named(folder_, name_.c_str(), file_.number())) return Attempt::again;
  is_there_ = true;
  return Attempt::made;
}

bool TemporaryFile::write(std::span<const std::string_view> pieces) { return write_all(file_.number(), pieces); }

bool TemporaryFile::sync() { return fsync(file_.number()) == 0; }

void TemporaryFile::set_mode(mode_t mode) { static_cast<void>(fchmod(file_.number(), mode & 07777U)); }

bool TemporaryFile::rename_to_destination() {
  if (renameat(folder_, name_.c_str(), folder_, destination_.c_str()) != 0) return false;
  is_there_ = false;
  return true;
}

void remove_abandoned_files(int folder, std::string_view destination) {
  const std::string prefix = prefix_for(destination);
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(copy), closedir);
  if (listing == nullptr) {
    close(copy);
    return;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the listing is this function's own
  while (const dirent* entry = readdir(listing.get())) {
    if (!is_temporary_name(entry->d_name, prefix)) continue;
    // Without O_NONBLOCK, opening a pipe of this name would wait.
    const Descriptor file(openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open() || flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!is_named(folder, entry->d_name, file.number())) continue;
    static_cast<void>(unlinkat(folder, entry->d_name, 0));
  }
}

bool write_all(int file, std::span<const std::string_view> pieces) {
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return true;
}

}  // namespace lowtide::cli_internal
