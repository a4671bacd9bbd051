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

#include "lowtide/base/quote.h"

namespace lowtide::detail {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

Error io_error(const std::string& path, const std::string& message) {
  return Error{ErrorCode::io, message, shown_path(path)};
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// Why a thing that is not a file is not read, and what to do instead.
std::string not_a_file(mode_t mode) {
  if (S_ISDIR(mode)) return "is a folder; name a file in it";
  const char* const kind = S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
  return std::string("is ") + kind +
         ", not a file: how large it is must be known before it is read; write it to a file " + "first";
}

std::string cannot_open(const std::string& path, int error_number) {
  if (path == "-" && error_number == ENOENT) {
    return "is no file, and stdin is not read here: how large a file is must be known before it is read; write it to a "
           "file first";
  }
  return "cannot be opened: " + reason(error_number);
}

}  // namespace

std::string shown_path(const std::string& path) {
  const std::string shown = quoted(path);
  const bool is_plain = shown.size() == path.size() + 2 && shown.compare(1, path.size(), path) == 0;
  return is_plain ? path : shown;
}

Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit) {
  if (path.find('\0') != std::string::npos) return io_error(path, "a path cannot hold a zero byte");
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return io_error(path, cannot_open(path, errno));
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return io_error(path, "cannot be examined: " + reason(errno));
  if (!S_ISREG(status.st_mode)) return io_error(path, not_a_file(status.st_mode));
  if (status.st_size > most_bytes) {
    return Error{ErrorCode::over_limit,
                 "is too large: " + std::to_string(status.st_size) + " bytes; the limit is " +
                     std::to_string(most_bytes) + " (" + std::string(limit) + ")",
                 shown_path(path)};
  }

  FileBytes bytes;
  bytes.size = static_cast<std::size_t>(status.st_size);
  bytes.data.reset(new (std::nothrow) char[std::max<std::size_t>(bytes.size, 1)]);
  if (bytes.data == nullptr) return io_error(path, "no memory for its " + std::to_string(bytes.size) + " bytes");
  std::size_t filled = 0;
  while (filled < bytes.size) {
    const ssize_t got = ::read(file.number(), bytes.data.get() + filled, bytes.size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, "cannot be read: " + reason(errno));
    if (got == 0) {
      return io_error(path, "became shorter while it was read: " + std::to_string(filled) + " of " +
                                std::to_string(bytes.size) + " bytes");
    }
    filled += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace lowtide::detail
