// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/byte_source.h"

namespace lowtide::import_internal {

// The bytes of a text, which must outlive the object.
class TextBytes final : public ByteSource {
 public:
  explicit TextBytes(std::string_view text) : text_(text) {}
  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(text_.size()); }
  [[nodiscard]] Result<void> read(std::int64_t offset, std::span<char> to) const override;

 private:
  std::string_view text_;
};

// A regular file that is open for reading. A later change of the path has no effect.
class File final : public ByteSource {
 public:
  // Opens a file of at most `most_bytes`. A pipe, a device or a folder is refused at once. Errors: io; over_limit,
  // whose message names the limit `limit`. The place is the path.
  [[nodiscard]] static Result<std::unique_ptr<File>> open(const std::string& path, std::int64_t most_bytes,
                                                          std::string_view limit);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override;

  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] Result<void> read(std::int64_t offset, std::span<char> to) const override;

  // Checks that nothing has been written to the file since it was opened. Errors: io, without a place.
  [[nodiscard]] Result<void> check_unchanged() const;

 private:
  explicit File(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::int64_t size_ = 0;
  timespec modified_ = {};
};

// Bytes in memory.
struct FileBytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::string_view view() const { return {data.get(), size}; }
};

// Returns `size` bytes without content. The system gives memory only to those that are written. Errors: no_memory,
// without a place.
[[nodiscard]] Result<FileBytes> allocate_bytes(std::int64_t size);

// Reads a whole file. Errors: those of File::open and File::read, with the path as their place.
[[nodiscard]] Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit);

}  // namespace lowtide::import_internal
