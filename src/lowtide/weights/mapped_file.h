// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/weights/mapped_ranges.h"

namespace lowtide::weights_internal {

// A file that is mapped read-only. The map is of the file that was opened, so the path may be deleted or given to
// another file. Move-only; the address stays the same.
class MappedFile {
 public:
  // `keeps_open`: the file stays open, so that check_unchanged() finds it without its path. A process can have few
  // files open. Errors: (io) the file cannot be opened or mapped, or is not a regular file.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path, bool keeps_open = true);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

  // Returns the whole pages inside [begin, end) to the system. Requires: 0 <= begin and end <= the size of the file.
  void drop(std::int64_t begin, std::int64_t end) const;

  // Errors: (mismatch) the file was written, or bytes of it were gone; (io). If it is not kept open and its path names
  // another file, or none, then it counts as unchanged.
  [[nodiscard]] Result<void> check_unchanged() const;
  // Whether bytes of the file were gone when they were read (catch_file_faults).
  [[nodiscard]] bool has_lost_bytes() const noexcept { return range_ && weights_internal::has_lost_bytes(*range_); }

 private:
  MappedFile() = default;

  std::string path_;
  std::byte* data_ = nullptr;  // nullptr for an empty file
  std::size_t size_ = 0;
  int descriptor_ = -1;  // -1: not kept open
  dev_t device_ = 0;
  ino_t inode_ = 0;
  timespec modified_ = {};
  std::optional<RangeId> range_;
};

}  // namespace lowtide::weights_internal
