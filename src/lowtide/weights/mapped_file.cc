// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/weights/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lowtide/base/change_of_size.h"
#include "lowtide/base/quote.h"

namespace lowtide::weights_internal {
namespace {

Error io_error(const std::string& path, int cause) {
  return Error{ErrorCode::io, "cannot be read: " + std::generic_category().message(cause), shown_path(path)};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, bool keeps_open) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return io_error(path, errno);
  MappedFile file;
  file.path_ = path;
  struct stat status = {};
  int cause = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (cause == 0 && !S_ISREG(status.st_mode)) cause = EINVAL;
  if (cause == 0 && status.st_size > 0) {
    void* data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      cause = errno;
    } else {
      file.data_ = static_cast<std::byte*>(data);
      file.size_ = static_cast<std::size_t>(status.st_size);
      file.range_ = add_range(file.bytes());
    }
  }
  if (keeps_open && file.data_ != nullptr) {
    file.descriptor_ = descriptor;
  } else {
    ::close(descriptor);
  }
  if (cause != 0) return io_error(path, cause);
  file.device_ = status.st_dev;
  file.inode_ = status.st_ino;
  file.modified_ = status.st_mtim;
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(modified_, other.modified_);
  std::swap(range_, other.range_);
  return *this;
}

MappedFile::~MappedFile() {
  if (range_) remove_range(*range_);
  if (data_ != nullptr) munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MappedFile::drop(std::int64_t begin, std::int64_t end) const {
  const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  // The last page belongs to this file alone.
  end = end == static_cast<std::int64_t>(size_) ? (end + page - 1) / page * page : end / page * page;
  if (begin < end) madvise(data_ + begin, static_cast<std::size_t>(end - begin), MADV_DONTNEED);
}

Result<void> MappedFile::check_unchanged() const {
  struct stat status = {};
  const bool is_open = descriptor_ >= 0;
  const int failed = is_open ? fstat(descriptor_, &status) : stat(path_.c_str(), &status);
  if (failed != 0 && (is_open || errno != ENOENT)) return io_error(path_, errno);
  const bool is_other = failed != 0 || status.st_dev != device_ || status.st_ino != inode_;
  const bool is_equal =
      is_other || (static_cast<std::size_t>(status.st_size) == size_ && status.st_mtim.tv_sec == modified_.tv_sec &&
                   status.st_mtim.tv_nsec == modified_.tv_nsec);
  if (is_equal && !has_lost_bytes()) return {};
  return Error{ErrorCode::mismatch,
               "changed after it was loaded" +
                   (is_other ? "" : change_of_size(static_cast<std::int64_t>(size_), status.st_size)) +
                   "; load the model again",
               shown_path(path_)};
}

}  // namespace lowtide::weights_internal
