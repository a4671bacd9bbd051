// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/write_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "lowtide/base/quote.h"
#include "lowtide/cli/descriptor.h"

namespace lowtide::detail {
namespace {

constexpr std::string_view kSuffix = ".lowtide-tmp";

Error write_error(const std::string& path, const std::string& what) {
  return {ErrorCode::io, "cannot write it: " + what, quoted(path, 200)};
}

struct Destination {
  std::string folder;
  std::string name;
};

Destination split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// Where the bytes go: behind symbolic links, if the file is there.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real == nullptr ? path : std::string(real.get());
}

// A pipe, /dev/null or a terminal: written to as they are.
bool is_stream(const struct stat& facts) { return S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode); }

Result<void> check_kind(const std::string& path, const struct stat& facts) {
  if (S_ISDIR(facts.st_mode)) return write_error(path, "it is a directory; name a file in it");
  if (S_ISREG(facts.st_mode) || is_stream(facts)) return {};
  return write_error(
      path, "it is a " + std::string(S_ISSOCK(facts.st_mode) ? "socket" : "disk") + "; name a file, or '-' for stdout");
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// There is no old content to keep. Opened without waiting for a reader, written with waiting for it.
Result<void> write_stream(const std::string& path, std::string_view bytes) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open() && errno == ENXIO) return write_error(path, "nobody reads from this pipe");
  if (!file.is_open()) return write_error(path, reason_of(errno));
  const int flags = fcntl(file.number(), F_GETFL);
  const bool waits = flags >= 0 && fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK) == 0;
  if (!waits || !write_all(file.number(), bytes) || file.close() != 0) return write_error(path, reason_of(errno));
  return {};
}

// The temporary file: gone with this object unless it was renamed.
class Temporary {
 public:
  Temporary(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (is_there_) static_cast<void>(unlinkat(folder_, name_.c_str(), 0));
  }

  // False with errno set.
  bool create() {
    // 0666: the umask takes away what the user does not want.
    file_ = Descriptor(openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    is_there_ = file_.is_open();
    // File systems without locks go on without: then leftovers of others are not removed there either.
    if (is_there_) static_cast<void>(flock(file_.number(), LOCK_EX | LOCK_NB));
    return is_there_;
  }
  bool write(std::string_view bytes) { return write_all(file_.number(), bytes); }
  void keep_mode(mode_t mode) { static_cast<void>(fchmod(file_.number(), mode & 07777U)); }
  bool sync() { return fsync(file_.number()) == 0; }
  bool rename_to(const std::string& name) {
    if (renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) return false;
    is_there_ = false;
    return true;
  }

 private:
  int folder_;
  std::string name_;
  Descriptor file_;
  bool is_there_ = false;
};

// Of the number that a temporary file's name goes on with. This process does not write before it has cleaned up.
bool may_be_alive(std::string_view name) {
  const auto process = static_cast<pid_t>(std::strtol(std::string(name).c_str(), nullptr, 10));
  return process > 0 && process != getpid() && (kill(process, 0) == 0 || errno != ESRCH);
}

// Removes what writers of the same destination left when they were killed: their locks went with them.
void remove_leftovers(int folder, const std::string& prefix) {
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(copy), closedir);
  if (listing == nullptr) {
    close(copy);
    return;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the listing is this function's own
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) continue;
    const Descriptor file(openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open() || flock(file.number(), LOCK_EX | LOCK_NB) != 0) continue;
    // Between creation and lock the file of a living writer looks like a leftover, but it is empty then.
    struct stat facts {};
    if (fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (facts.st_size == 0 && may_be_alive(name.substr(prefix.size()))) continue;
    static_cast<void>(unlinkat(folder, entry->d_name, 0));
  }
}

}  // namespace

Result<void> check_destination(const std::string& path, const std::vector<std::string>& inputs) {
  if (path == "-") return {};
  if (path.empty()) return write_error(path, "the name is empty");
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    if (errno != ENOENT) return write_error(path, reason_of(errno));
    const std::string folder = split(path).folder;
    struct stat folder_facts {};
    if (path.back() == '/') return write_error(path, "it is a directory; name a file in it");
    if (stat(folder.c_str(), &folder_facts) != 0)
      return write_error(path, "there is no directory " + quoted(folder, 200));
    return {};
  }
  LOWTIDE_RETURN_IF_ERROR(check_kind(path, facts));
  for (const std::string& input : inputs) {
    struct stat input_facts {};
    if (stat(input.c_str(), &input_facts) == 0 && input_facts.st_dev == facts.st_dev &&
        input_facts.st_ino == facts.st_ino) {
      return write_error(path, "it is the input " + quoted(input, 200) + " itself; choose another name");
    }
  }
  return {};
}

bool is_device(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode);
}

Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && is_stream(facts)) return write_stream(path, bytes);
  const std::string real = resolved(path);
  const Destination destination = split(real);
  const Descriptor folder(open(destination.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return write_error(path, reason_of(errno));

  struct stat old_facts {};
  const bool is_there = fstatat(folder.number(), destination.name.c_str(), &old_facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) {
    LOWTIDE_RETURN_IF_ERROR(check_kind(path, old_facts));
    // A rename asks only the folder for permission; somebody who made the file read-only means it.
    if (access(real.c_str(), W_OK) != 0) return write_error(path, reason_of(errno));
  }

  // Not all of a long name, so that the temporary one is not too long.
  const std::string prefix = "." + destination.name.substr(0, 200) + ".";
  remove_leftovers(folder.number(), prefix);
  Temporary temporary(folder.number(), prefix + std::to_string(getpid()) + std::string(kSuffix));
  // A failed fsync may have dropped pages that look written: nothing is tried twice, the file is given up.
  if (!temporary.create() || !temporary.write(bytes)) return write_error(path, reason_of(errno));
  if (is_there) temporary.keep_mode(old_facts.st_mode);
  if (!temporary.sync() || !temporary.rename_to(destination.name)) return write_error(path, reason_of(errno));
  // The rename is durable once the folder is. Some file systems cannot sync a folder; the file is whole either way.
  if (fsync(folder.number()) != 0 && errno == EIO) return write_error(path, reason_of(errno));
  return {};
}

}  // namespace lowtide::detail
