// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output_files.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "lowtide/base/bytes.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/write_file.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {
namespace {

// Refuses an output that would replace an input or another output. A device may have several uses.
void check_names(std::span<const std::string> outputs, const std::vector<std::string>& inputs) {
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    const std::string& name = outputs[at];
    const std::span<const std::string> before = outputs.first(at);
    if (is_stdout(name) && std::any_of(before.begin(), before.end(), is_stdout)) {
      stop_usage("two outputs go to stdout; name a file for one of them");
    }
    if (is_device(name)) continue;
    for (const std::string& other : before) {
      if (is_same_file(name, other)) stop_usage("two outputs have the same destination, " + shown_name(name));
    }
    if (name == "-") continue;
    for (const std::string& input : inputs) {
      if (!is_same_file(name, input)) continue;
      stop_usage("the output " + shown_name(name) + " is the input " + shown_name(input) +
                 " itself; choose another name for the output");
    }
  }
}

}  // namespace

OutputFiles::OutputFiles(const std::vector<std::string>& destinations, const std::vector<std::string>& inputs,
                         bool prints_json)
    : destinations_(destinations), uses_stdout_(std::any_of(destinations.begin(), destinations.end(), is_stdout)) {
  check_names(destinations, inputs);
  if (uses_stdout_ && prints_json)
    stop_usage("'--json' and an output file cannot both go to stdout; name a file for the output");
  for (const std::string& name : destinations) take(check_destination(name));
}

void OutputFiles::protect(const std::vector<std::string>& inputs) const { check_names(destinations_, inputs); }

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
