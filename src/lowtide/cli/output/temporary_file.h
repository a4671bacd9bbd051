// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>

#include "lowtide/cli/output/descriptor.h"

namespace lowtide::cli_internal {

// A temporary file that becomes the destination file by a rename. Its name is
//
//   .NAME.0123456789abcdef.lowtide-tmp        NAME: the destination's, cut to 200 bytes; then 16 random hex digits
//
// Several processes may write the same destination at once, also from containers that share a folder and have equal
// process ids. So nothing depends on process ids. The protocol:
//
//   1. A writer creates the file with O_EXCL under a random name, and takes another name if that one exists.
//   2. It locks the file (flock). If the lock is taken, or the name no longer leads to this file, a sweeper came
//      between 1 and 2. Then the writer gives the name up and begins again at 1.
//   3. Only then does it write. It holds the lock until the file is renamed or removed. The system drops the lock when
//      the process dies, so a file that can be locked has no living writer in step 3.
//   4. Every writer sweeps before step 1. It removes the files that it can lock and whose names have exactly this form
//      for its own destination. It holds the lock while it removes a file, and removes it only if the name still leads
//      to the file that it locked.
//
// Between 1 and 2, the file of a running writer looks like that of a writer that was killed there: it is empty and not
// locked. A sweeper may remove it. The writer loses nothing, because it has not written yet and notices this in step 2.
// If sweepers kept empty files, those of killed writers would stay forever.
// If a file system has no locks, writers do not lock, and sweepers remove nothing.
class TemporaryFile {
 public:
  // `folder` is an open folder that stays open; `destination` a name in it.
  TemporaryFile(int folder, std::string destination) : folder_(folder), destination_(std::move(destination)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  // Removes the file unless it was renamed.
  ~TemporaryFile();

  // All of these return false with errno set if the system refuses. The umask limits the mode of the file.
  [[nodiscard]] bool create();
  [[nodiscard]] bool write(std::span<const std::string_view> pieces);
  [[nodiscard]] bool sync();
  [[nodiscard]] bool rename_to_destination();
  // If the system refuses, the mode stays as it is.
  void set_mode(mode_t mode);

 private:
  enum class Attempt { made, again, failed };
  Attempt try_create();

  int folder_;
  std::string destination_;
  std::string name_;
  Descriptor file_;
  bool is_there_ = false;
};

// Removes what writers of the same destination left behind when they were killed: step 4 above.
void remove_abandoned_files(int folder, std::string_view destination);

// Writes all the bytes of all pieces to an open file. Returns false with errno set if that fails.
[[nodiscard]] bool write_all(int file, std::span<const std::string_view> pieces);

}  // namespace lowtide::cli_internal
