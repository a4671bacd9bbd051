// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/external_data.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"

namespace lowtide::import_internal {
namespace {

// A backslash separates folders on some systems, and "%2e" is a dot for programs that decode it.
bool may_be_parent_folder(std::string_view part) {
  std::string plain;
  for (std::size_t at = 0; at < part.size(); ++at) {
    const bool is_dot =
        part.size() - at >= 3 && part[at] == '%' && part[at + 1] == '2' && (part[at + 2] == 'e' || part[at + 2] == 'E');
    plain += is_dot ? '.' : part[at];
    if (is_dot) at += 2;
  }
  return plain == "..";
}

std::string_view fault_of_location(std::string_view location) {
  if (location.empty()) return "is empty";
  if (static_cast<std::int64_t>(location.size()) > limits::kMaxPathBytes)
    return "is longer than the limit of 4096 bytes (kMaxPathBytes)";
  static_assert(limits::kMaxPathBytes == 4096, "the message above names the limit");
  if (location.find('\0') != std::string_view::npos) return "contains a zero byte";
  if (location.front() == '/' || location.front() == '\\') return "is an absolute path";
  if (location.size() >= 2 && location[1] == ':' && std::isalpha(static_cast<unsigned char>(location[0])) != 0) {
    return "is an absolute path";
  }
  if (location.substr(0, 2) == "*/") return "is an address in the memory of another program";
  std::string_view rest = location;
  while (true) {
    const std::size_t end = rest.find_first_of("/\\");
    const std::string_view part = rest.substr(0, end);
    const bool is_plain = part == ".." && location.find('\\') == std::string_view::npos;
    if (may_be_parent_folder(part) && !is_plain) return "may leave the folder of the model";
    if (end == std::string_view::npos)
      return part.empty() || part == "." || part == ".." ? "names a folder, not a file" : "";
    rest.remove_prefix(end + 1);
  }
}

// The same place without "..", such as "w.bin" for "sub/../w.bin", whatever folders and links are there. nullopt if it
// is not below the folder of the model. A place without ".." stays as it is.
std::optional<std::string> without_parents(const std::string& location) {
  std::vector<std::string_view> parts;
  bool has_parents = false;
  for (std::string_view rest = location; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
      continue;
    }
    if (parts.empty()) return std::nullopt;
    parts.pop_back();
    has_parents = true;
  }
  if (!has_parents) return location;
  std::string plain;
  for (std::string_view part : parts) plain.append(plain.empty() ? "" : "/").append(part);
  return plain;
}

Error invalid(const std::string& message) { return Error{ErrorCode::invalid, "external data: " + message, ""}; }

}  // namespace

Result<ExternalPlace> external_place_of(const onnx::TensorProto& tensor, std::int64_t expected_bytes) {
  const std::string* location = nullptr;
  const std::string* offset = nullptr;
  const std::string* length = nullptr;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    const std::string** slot = entry.key() == "location" ? &location
                               : entry.key() == "offset" ? &offset
                               : entry.key() == "length" ? &length
                                                         : nullptr;
    if (slot == nullptr) continue;
    if (*slot != nullptr) return invalid("the key " + quoted(entry.key()) + " appears twice");
    *slot = &entry.value();
  }
  if (location == nullptr) return invalid("the key 'location' is missing");
  if (const std::string_view fault = fault_of_location(*location); !fault.empty()) {
    return invalid("location " + quoted(*location) + " " + std::string(fault));
  }
  std::optional<std::string> place = without_parents(*location);
  if (!place) return invalid("location " + quoted(*location) + " leaves the folder of the model");
  const std::optional<std::int64_t> begin = offset == nullptr ? 0 : parse_number(*offset);
  if (!begin) return invalid("offset " + quoted(*offset) + " is not a number from 0 to 2^63 - 1");
  if (length != nullptr) {
    const std::optional<std::int64_t> bytes = parse_number(*length);
    if (!bytes) return invalid("length " + quoted(*length) + " is not a number from 0 to 2^63 - 1");
    if (*bytes != expected_bytes) {
      return invalid("the length is " + std::to_string(*bytes) + " bytes, but type and dims need " +
                     std::to_string(expected_bytes));
    }
  }
  if (!checked_add(*begin, expected_bytes)) {
    return invalid("offset " + std::to_string(*begin) + " plus " + std::to_string(expected_bytes) +
                   " bytes exceeds 2^63 - 1");
  }
  return ExternalPlace{*std::move(place), *begin};
}

}  // namespace lowtide::import_internal
