// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "lowtide/base/change_of_size.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::import_internal {
namespace {

Error io_error(const std::string& path, const std::string& message) {
  return Error{ErrorCode::io, message, shown_path(path)};
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// Says why a path that is not a regular file cannot be read, and what to do instead.
std::string not_a_file(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory; name a file in it";
  const char* const kind = S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
  return std::string("is ") + kind + ", not a file, so its size is unknown before it is read; write it to a file first";
}

std::string cannot_open(const std::string& path, int error_number) {
  if (path == "-" && error_number == ENOENT) {
    return "is not a file, and standard input cannot be read here, because its size is unknown before it is read; "
           "write it to a file first";
  }
  return "cannot be opened: " + reason(error_number);
}

Error unreadable(int error_number) { return Error{ErrorCode::io, "cannot be read: " + reason(error_number), ""}; }

}  // namespace

Result<void> TextBytes::read(std::int64_t offset, std::span<char> to) const {
  std::copy_n(text_.begin() + offset, to.size(), to.begin());
  return {};
}

Result<std::unique_ptr<File>> File::open(const std::string& path, std::int64_t most_bytes, std::string_view limit) {
  if (path.find('\0') != std::string::npos) return io_error(path, "a path cannot contain a zero byte");
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return io_error(path, cannot_open(path, errno));
  std::unique_ptr<File> file(new File(descriptor));
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return io_error(path, "cannot be examined: " + reason(errno));
  if (!S_ISREG(status.st_mode)) return io_error(path, not_a_file(status.st_mode));
  if (status.st_size > most_bytes) {
    return Error{ErrorCode::over_limit,
                 "has " + std::to_string(status.st_size) + " bytes; the limit is " + std::to_string(most_bytes) + " (" +
                     std::string(limit) + ")",
                 shown_path(path)};
  }
  file->size_ = status.st_size;
  file->modified_ = status.st_mtim;
  return file;
}

File::~File() { ::close(descriptor_); }

Result<void> File::read(std::int64_t offset, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor_, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(errno);
    if (got == 0) {
      return Error{ErrorCode::io,
                   "shrank while it was read: only " + std::to_string(offset) + " of " + std::to_string(size_) +
                       " bytes are left",
                   ""};
    }
    offset += got;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<void> File::check_unchanged() const {
  struct stat status = {};
  if (::fstat(descriptor_, &status) != 0) return unreadable(errno);
  if (status.st_size == size_ && status.st_mtim.tv_sec == modified_.tv_sec &&
      status.st_mtim.tv_nsec == modified_.tv_nsec) {
    return {};
  }
  return Error{ErrorCode::io, "changed while it was read" + change_of_size(size_, status.st_size) + "; read it again",
               ""};
}

Result<FileBytes> allocate_bytes(std::int64_t size) {
  FileBytes bytes;
  bytes.size = static_cast<std::size_t>(size);
  bytes.data.reset(new (std::nothrow) char[std::max<std::size_t>(bytes.size, 1)]);
  if (bytes.data != nullptr) return bytes;
  return Error{ErrorCode::no_memory, "there is not enough memory for its " + std::to_string(size) + " bytes", ""};
}

Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit) {
  LOWTIDE_TRY(const std::unique_ptr<File> file, File::open(path, most_bytes, limit));
  Result<FileBytes> bytes = allocate_bytes(file->size());
  if (!bytes) return io_error(path, bytes.error().message);
  const Result<void> filled = file->read(0, {bytes->data.get(), bytes->size});
  if (!filled) return io_error(path, filled.error().message);
  return bytes;
}

}  // namespace lowtide::import_internal

namespace lowtide {

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  Result<std::unique_ptr<import_internal::File>> file =
      import_internal::File::open(path, limits::kMaxFileBytes, "kMaxFileBytes");
  if (!file) return file.error();
  return std::unique_ptr<ByteSource>(*std::move(file));
}

}  // namespace lowtide
