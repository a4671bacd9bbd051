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

#include "lowtide/base/quote.h"

namespace lowtide::import_internal {
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

// Reads from the current position of the file until `to` is filled up to `end`.
Result<void> read_up_to(int file, const std::string& path, FileBytes& to, std::size_t& filled, std::size_t end) {
  while (filled < end) {
    const ssize_t got = ::read(file, to.data.get() + filled, end - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, "cannot be read: " + reason(errno));
    if (got == 0) {
      return io_error(path, "shrank while it was read: only " + std::to_string(filled) + " of " +
                                std::to_string(to.size) + " bytes are left");
    }
    filled += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit,
                            CheckHead check_head) {
  if (path.find('\0') != std::string::npos) return io_error(path, "a path cannot contain a zero byte");
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return io_error(path, cannot_open(path, errno));
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) return io_error(path, "cannot be examined: " + reason(errno));
  if (!S_ISREG(status.st_mode)) return io_error(path, not_a_file(status.st_mode));
  if (status.st_size > most_bytes) {
    return Error{ErrorCode::over_limit,
                 "has " + std::to_string(status.st_size) + " bytes; the limit is " + std::to_string(most_bytes) + " (" +
                     std::string(limit) + ")",
                 shown_path(path)};
  }

  FileBytes bytes;
  bytes.size = static_cast<std::size_t>(status.st_size);
  std::size_t filled = 0;
  const auto allocate = [&](std::size_t size) -> Result<void> {
    std::unique_ptr<char[]> data(new (std::nothrow) char[std::max<std::size_t>(size, 1)]);
    if (data == nullptr)
      return io_error(path, "there is not enough memory for its " + std::to_string(bytes.size) + " bytes");
    std::copy_n(bytes.data.get(), filled, data.get());
    bytes.data = std::move(data);
    return {};
  };
  if (check_head != nullptr && bytes.size > kHeadBytes) {
    LOWTIDE_RETURN_IF_ERROR(allocate(kHeadBytes));
    LOWTIDE_RETURN_IF_ERROR(read_up_to(file.number(), path, bytes, filled, kHeadBytes));
    const Result<void> checked = check_head({bytes.data.get(), filled}, status.st_size);
    if (!checked) {
      const Error& error = checked.error();
      return Error{error.code, error.message, shown_path(path) + (error.place.empty() ? "" : ": " + error.place)};
    }
  }
  LOWTIDE_RETURN_IF_ERROR(allocate(bytes.size));
  LOWTIDE_RETURN_IF_ERROR(read_up_to(file.number(), path, bytes, filled, bytes.size));
  return bytes;
}

}  // namespace lowtide::import_internal
