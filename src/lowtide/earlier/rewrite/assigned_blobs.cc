// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/rewrite/assigned_blobs.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/base/quote.h"

namespace lowtide {
namespace rewrite_internal {
namespace {

constexpr std::string_view kHeader = "slot,blob";

Error malformed_line(const std::string& place, std::string message) {
  return Error{ErrorCode::malformed, std::move(message), place};
}

std::string_view without_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

Result<std::vector<AssignedBlob>> rows_of_csv(std::string_view csv) {
  std::vector<AssignedBlob> rows;
  bool has_header = false;
  for (std::size_t line = 1; !csv.empty(); ++line) {
    const std::string place = "line " + std::to_string(line);
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view text = without_spaces(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (!std::exchange(has_header, true)) {
      if (text == kHeader) continue;
      return malformed_line(place, "the header must be 'slot,blob', not " + quoted(text, 60));
    }
    if (text.empty()) continue;
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view slot = without_spaces(text.substr(0, comma));
    const std::string_view blob = without_spaces(text.substr(std::min(comma + 1, text.size())));
    if (slot.empty() || blob.empty()) {
      return malformed_line(place, "expected two columns, slot and blob, found " + quoted(text, 60));
    }
    rows.push_back({std::string(slot), std::string(blob), place});
  }
  if (!has_header) return malformed_line("line 1", "the text is empty; the header must be 'slot,blob'");
  return rows;
}

}  // namespace
}  // namespace rewrite_internal

Result<std::vector<AssignedBlob>> parse_assigned_blobs(std::string_view csv) {
  return rewrite_internal::rows_of_csv(csv);
}

}  // namespace lowtide
