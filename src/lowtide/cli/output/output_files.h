// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/cli/output/console.h"
#include "lowtide/cli/output/write_file.h"

namespace lowtide::cli_internal {

// The paths FOLDER/NAME.npy of tensors. In NAME, _ stands for / and for each character that cannot be seen, such as a
// newline, or is not UTF-8. What is behind its first 200 bytes is left out. Names that stay as they are come first. If
// two names lead to one path, the later file is NAME_2.npy, or has the next number that is free. Requires: the names
// differ. O(n log n).
[[nodiscard]] std::vector<std::string> paths_of_tensors(const std::string& folder, std::span<const std::string> names);

// Makes the folder and those that contain it, where they are absent. Stops with exit code 3 if the system refuses.
void make_folder(const std::string& folder);

// The output files of a command. Destinations are checked before the work begins, so that a long search is not lost
// because a folder does not exist.
class OutputFiles {
 public:
  // Stops with exit code 2 if a destination is one of `inputs`, or if two outputs (including that of --json) have the
  // same destination. Stops with exit code 3 if a destination cannot be written.
  OutputFiles(const std::vector<std::string>& destinations, const std::vector<std::string>& inputs, bool prints_json);

  // Stops with exit code 2 if a destination is one of these files, which are known only after the model was read.
  void protect(const std::vector<std::string>& inputs) const;

  [[nodiscard]] bool uses_stdout() const { return uses_stdout_; }

  // Writes one of the destinations, completely or not at all, and prints a remark.
  void write(const std::string& destination, std::string_view bytes, Console& console) const {
    write(destination, std::span(&bytes, 1), console);
  }
  // The same for bytes in several places. `check` is that of write_file_atomically; stdout has the bytes by then.
  void write(const std::string& destination, std::span<const std::string_view> pieces, Console& console,
             const BeforeRename& check = {}) const;

 private:
  std::vector<std::string> destinations_;
  bool uses_stdout_ = false;
};

}  // namespace lowtide::cli_internal
