// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output_files.h"

#include <filesystem>
#include <system_error>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/write_file.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {
namespace {

// Whether two names denote the same file, which need not exist yet.
bool are_same(const std::string& a, const std::string& b) {
  std::error_code error;
  const std::filesystem::path first = std::filesystem::weakly_canonical(std::filesystem::absolute(a), error);
  if (error) return a == b;
  const std::filesystem::path second = std::filesystem::weakly_canonical(std::filesystem::absolute(b), error);
  return error ? a == b : first == second;
}

}  // namespace

OutputFiles::OutputFiles(std::vector<std::string> destinations, const std::vector<std::string>& inputs,
                         bool prints_json) {
  for (std::size_t at = 0; at < destinations.size(); ++at) {
    take(check_destination(destinations[at], inputs));
    for (std::size_t other = 0; other < at; ++other) {
      if (are_same(destinations[at], destinations[other]) && !is_device(destinations[at])) {
        stop_usage("two outputs have the same destination, " + shown_name(destinations[at]));
      }
    }
    if (destinations[at] == "-") uses_stdout_ = true;
  }
  if (uses_stdout_ && prints_json)
    stop_usage("'--json' and an output file cannot both go to stdout; name a file instead of -");
}

void OutputFiles::write(const std::string& destination, std::string_view bytes, Console& console) const {
  if (destination == "-") {
    console.write_stdout(bytes);
    return;
  }
  take(write_file_atomically(destination, bytes));
  console.remark(StyledText("wrote " + shown_name(destination) + ", " +
                                format_bytes_short(Bytes(static_cast<std::int64_t>(bytes.size()))),
                            Style::dim)
                     .end_line());
}

}  // namespace lowtide::cli_internal
