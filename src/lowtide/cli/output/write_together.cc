// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/write_together.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/cli/output/descriptor.h"
#include "lowtide/cli/output/temporary_file.h"

namespace lowtide::cli_internal {
namespace {

Error together_error(const std::string& path, const std::string& what) {
  return {ErrorCode::io, "cannot write the file: " + what, quoted(path, 200)};
}

// The mode of the file that is replaced; nullptr if there is none.
Result<std::unique_ptr<mode_t>> replaced_mode(int folder, const std::string& path, const std::string& name) {
  struct stat facts {};
  if (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::unique_ptr<mode_t>();
    return together_error(path, reason_of(errno));
  }
  if (!S_ISREG(facts.st_mode)) return together_error(path, "it is there already, and it is not a regular file");
  if (faccessat(folder, name.c_str(), W_OK, 0) != 0) return together_error(path, reason_of(errno));
  return std::make_unique<mode_t>(facts.st_mode);
}

}  // namespace

Result<void> write_together(const std::string& folder, std::span<const FileInFolder> files) {
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return together_error(folder, reason_of(errno));
  std::vector<std::unique_ptr<TemporaryFile>> written;
  for (const FileInFolder& file : files) {
    const std::string path = folder + "/" + file.name;
    Result<std::unique_ptr<mode_t>> mode = replaced_mode(opened.number(), path, file.name);
    if (!mode) return mode.error();
    remove_abandoned_files(opened.number(), file.name);
    auto& temporary = *written.emplace_back(std::make_unique<TemporaryFile>(opened.number(), file.name));
    if (!temporary.create() || !temporary.write(std::span(&file.bytes, 1))) {
      return together_error(path, reason_of(errno));
    }
    if (*mode) temporary.set_mode(**mode);
    if (!temporary.sync()) return together_error(path, reason_of(errno));
  }
  for (std::size_t at = 0; at < files.size(); ++at) {
    if (!written[at]->rename_to_destination()) return together_error(folder + "/" + files[at].name, reason_of(errno));
  }
  if (fsync(opened.number()) != 0 && errno == EIO) return together_error(folder, reason_of(errno));
  return {};
}

}  // namespace lowtide::cli_internal
