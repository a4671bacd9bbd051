// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/bytes.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/descriptor.h"
#include "lowtide/plan/plans_json.h"

namespace lowtide::cli_internal {
namespace {

Error io_error(const std::string& path, const std::string& what) { return {ErrorCode::io, what, shown_path(path)}; }

Error too_large(const std::string& path, std::int64_t most_bytes) {
  return {ErrorCode::over_limit, "the file exceeds the limit of " + format_bytes(Bytes(most_bytes)), shown_path(path)};
}

Result<std::string> read_to_end(int file, const std::string& path, std::int64_t most_bytes) {
  static constexpr std::size_t kChunk = 1U << 16U;
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + kChunk);
    const ssize_t got = read(file, text.data() + before, kChunk);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, "cannot be read: " + reason_of(errno));
    if (got == 0) return text;
    if (static_cast<std::int64_t>(text.size()) > most_bytes) return too_large(path, most_bytes);
  }
}

// The text of a file of plans. Stops with what the file is if it is a prepared file.
std::string read_plan_text(const std::string& path) {
  if (path != "-" && is_prepared_file(path)) {
    throw Stop(
        ExitCode::bad_input,
        shown_path(path) +
            ": this is a prepared file, which has its plan inside; 'run' and 'bench' take it as the model, and a "
            "plan file is what 'lowtide plan MODEL -o PLAN' writes");
  }
  return take(read_text_file(path, limits::kMaxPlanFileBytes));
}

// "'batch=2'", "the sizes of the model"
std::string sizes_of(const PlanFile& file) {
  std::vector<std::string> sizes;
  for (const std::string& one : file.plan.provenance.dims) sizes.push_back(lowtide::quoted(one));
  return sizes.empty() ? "the sizes of the model" : listed(sizes, "and");
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::int64_t most_bytes) {
  if (path == "-") return read_to_end(STDIN_FILENO, "stdin", most_bytes);
  if (path.find('\0') != std::string::npos) return io_error(path, "a path cannot contain a zero byte");
  // Non-blocking, so that opening a pipe without a writer does not wait.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return io_error(path, "cannot be opened: " + reason_of(errno));
  struct stat facts {};
  if (fstat(file.number(), &facts) != 0) return io_error(path, "cannot be examined: " + reason_of(errno));
  if (S_ISDIR(facts.st_mode)) return io_error(path, "is a directory; name a file in it");
  if (!S_ISREG(facts.st_mode)) return io_error(path, "is not a regular file; use '-' for stdin");
  if (facts.st_size > most_bytes) return too_large(path, most_bytes);
  return read_to_end(file.number(), path, most_bytes);
}

std::string name_of_file(const std::string& path) { return path == "-" ? "stdin" : path; }

PlanFile read_plan_file(const std::string& path) {
  std::vector<PlanFile> plans = read_plans_file(path);
  if (plans.size() == 1) return std::move(plans.front());
  throw Stop(ExitCode::bad_input,
             name_of_file(path) + ": the file has " + std::to_string(plans.size()) +
                 " plans, and this command takes one; 'lowtide plan' with one value of each size writes one, such as "
                 "for " +
                 sizes_of(plans.front()));
}

std::vector<PlanFile> read_plans_file(const std::string& path) {
  return take(read_plans_json(read_plan_text(path), name_of_file(path)));
}

}  // namespace lowtide::cli_internal
