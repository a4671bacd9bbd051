// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/output_files.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <system_error>

#include "lowtide/base/bytes.h"
#include "lowtide/base/utf8.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/write_file.h"
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

// A file system takes 255 bytes. Some stay for a number, for ".npy", and for the name of the temporary file.
constexpr std::size_t kMostStemBytes = 200;

// The name of a file for a tensor, without its ending. It is UTF-8, and no character is cut.
std::string stem_of(std::string_view name) {
  std::string stem;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    const std::string_view character = name.substr(0, std::max<std::size_t>(length, 1));
    const bool is_kept = length > 0 && character != "/" && !is_invisible_or_format_character(code_point_of(character));
    const std::string_view shown = is_kept ? character : "_";
    if (stem.size() + shown.size() > kMostStemBytes) break;
    stem += shown;
    name.remove_prefix(character.size());
  }
  return stem;
}

}  // namespace

std::vector<std::string> paths_of_tensors(const std::string& folder, std::span<const std::string> names) {
  std::vector<std::string> paths(names.size());
  std::set<std::string> taken;
  std::map<std::string, int> next;  // the number to try for the next tensor of this path
  for (const bool is_changed : {false, true}) {
    for (std::size_t at = 0; at < names.size(); ++at) {
      const std::string stem = stem_of(names[at]);
      if ((stem != names[at]) != is_changed) continue;
      std::string own = stem;
      int& number = next.emplace(stem, 2).first->second;
      for (; !taken.insert(own).second; ++number) own = stem + "_" + std::to_string(number);
      paths[at] = folder + "/" + own + ".npy";
    }
  }
  return paths;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw Stop(ExitCode::bad_input,
             "cannot make the folder " + shown_name(folder) + ": " + error.message() + "; name another one");
}

OutputFiles::OutputFiles(const std::vector<std::string>& destinations, const std::vector<std::string>& inputs,
                         bool prints_json)
    : destinations_(destinations), uses_stdout_(std::any_of(destinations.begin(), destinations.end(), is_stdout)) {
  if (std::ranges::count(destinations, "") > 0) stop_usage("the name of an output file is empty");
  check_names(destinations, inputs);
  if (uses_stdout_ && prints_json)
    stop_usage("'--json' and an output file cannot both go to stdout; name a file for the output");
  for (const std::string& name : destinations) take(check_destination(name));
}

void OutputFiles::protect(const std::vector<std::string>& inputs) const { check_names(destinations_, inputs); }

void OutputFiles::write(const std::string& destination, std::span<const std::string_view> pieces, Console& console,
                        const BeforeRename& check) const {
  if (destination == "-") {
    for (const std::string_view bytes : pieces) console.write_stdout(bytes);
    if (check) take(check());
    return;
  }
  take(write_file_atomically(destination, pieces, check));
  Bytes sum;
  for (const std::string_view bytes : pieces) sum += Bytes(static_cast<std::int64_t>(bytes.size()));
  console.remark(
      StyledText("wrote " + shown_name(destination) + ", " + format_bytes_short(sum), Style::dim).end_line());
}

}  // namespace lowtide::cli_internal
