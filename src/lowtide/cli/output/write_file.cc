// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "lowtide/base/quote.h"
#include "lowtide/cli/output/descriptor.h"
#include "lowtide/cli/output/temporary_file.h"

namespace lowtide::cli_internal {
namespace {

Error write_error(const std::string& path, const std::string& what) {
  return {ErrorCode::io, "cannot write the file: " + what, quoted(path, 200)};
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

// Whether the file is a pipe or a device, such as /dev/null or a terminal. Such files are written directly.
bool is_stream(const struct stat& facts) { return S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode); }

bool is_link(const std::string& path) {
  struct stat facts {};
  return lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

Error link_error(const std::string& path) {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error).string();
  return write_error(path, "it is a symbolic link" + (error ? "" : " to " + quoted(target, 200)) +
                               ", and outputs do not follow links; name the file itself, or remove the link");
}

// Returns the file descriptor of this process that the path names, such as 3 for /dev/fd/3. Otherwise returns nullopt.
std::optional<int> named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/")}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number >= 0) return number;
  }
  return std::nullopt;
}

Result<void> check_descriptor(const std::string& path, int number) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0) return write_error(path, reason_of(errno));
  if ((flags & O_ACCMODE) == O_RDONLY) return write_error(path, "it is open for reading only");
  return {};
}

Result<void> check_kind(const std::string& path, const struct stat& facts) {
  if (S_ISDIR(facts.st_mode)) return write_error(path, "it is a directory; name a file in it");
  if (S_ISREG(facts.st_mode) || is_stream(facts)) return {};
  return write_error(
      path, "it is a " + std::string(S_ISSOCK(facts.st_mode) ? "socket" : "disk") + "; name a file, or '-' for stdout");
}

// A stream has no old content to keep. Opening it does not wait for a reader, but writing does.
Result<void> write_stream(const std::string& path, std::span<const std::string_view> pieces) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open() && errno == ENXIO) return write_error(path, "no process reads from this pipe");
  if (!file.is_open()) return write_error(path, reason_of(errno));
  // It may have been replaced between the check and open().
  struct stat facts {};
  if (fstat(file.number(), &facts) != 0 || !is_stream(facts))
    return write_error(path, "it was replaced while it was opened");
  const int flags = fcntl(file.number(), F_GETFL);
  const bool waits = flags >= 0 && fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK) == 0;
  if (!waits || !write_all(file.number(), pieces) || file.close() != 0) return write_error(path, reason_of(errno));
  return {};
}

}  // namespace

Result<void> check_destination(const std::string& path) {
  if (path == "-") return {};
  if (path.empty()) return write_error(path, "the name is empty");
  const std::optional<int> descriptor = named_descriptor(path);
  if (descriptor) LOWTIDE_RETURN_IF_ERROR(check_descriptor(path, *descriptor));
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    const int reason = errno;
    if (is_link(path) && !descriptor) return link_error(path);
    if (reason != ENOENT) return write_error(path, reason_of(reason));
    const std::string folder = split(path).folder;
    struct stat folder_facts {};
    if (path.back() == '/') return write_error(path, "it is a directory; name a file in it");
    if (stat(folder.c_str(), &folder_facts) != 0)
      return write_error(path, "there is no directory " + quoted(folder, 200));
    return {};
  }
  if (descriptor || is_stream(facts)) return {};
  if (is_link(path) && !S_ISDIR(facts.st_mode)) return link_error(path);
  return check_kind(path, facts);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const std::filesystem::path first = std::filesystem::weakly_canonical(std::filesystem::absolute(a), error);
  if (error) return a == b;
  const std::filesystem::path second = std::filesystem::weakly_canonical(std::filesystem::absolute(b), error);
  return error ? a == b : first == second;
}

bool is_stdout(const std::string& path) { return path == "-" || named_descriptor(path) == STDOUT_FILENO; }

bool is_device(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode);
}

Result<void> write_file_atomically(const std::string& path, std::span<const std::string_view> pieces,
                                   const BeforeRename& check) {
  const auto checked = [&check]() -> Result<void> { return check ? check() : Result<void>(); };
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && is_stream(facts)) {
    LOWTIDE_RETURN_IF_ERROR(write_stream(path, pieces));
    return checked();
  }
  if (const std::optional<int> descriptor = named_descriptor(path)) {
    return write_all(*descriptor, pieces) ? checked() : write_error(path, reason_of(errno));
  }
  const Destination destination = split(path);
  const Descriptor folder(open(destination.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return write_error(path, reason_of(errno));

  struct stat old_facts {};
  const bool is_there = fstatat(folder.number(), destination.name.c_str(), &old_facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there) {
    if (S_ISLNK(old_facts.st_mode)) return link_error(path);
    LOWTIDE_RETURN_IF_ERROR(check_kind(path, old_facts));
    // rename() needs only permission for the folder, but a read-only file must not be replaced.
    if (access(path.c_str(), W_OK) != 0) return write_error(path, reason_of(errno));
  }

  remove_abandoned_files(folder.number(), destination.name);
  TemporaryFile temporary(folder.number(), destination.name);
  // After a failed fsync, pages may be lost although they look written. So fsync is not repeated.
  if (!temporary.create()) return write_error(path, reason_of(errno));
  const bool is_written = temporary.write(pieces);
  const int reason = errno;
  LOWTIDE_RETURN_IF_ERROR(checked());
  if (!is_written) return write_error(path, reason_of(reason));
  if (is_there) temporary.set_mode(old_facts.st_mode);
  if (!temporary.sync() || !temporary.rename_to_destination()) return write_error(path, reason_of(errno));
  // The rename is durable after the folder is synced. Some file systems cannot sync a folder. The file is complete
  // anyway.
  if (fsync(folder.number()) != 0 && errno == EIO) return write_error(path, reason_of(errno));
  return {};
}

}  // namespace lowtide::cli_internal
