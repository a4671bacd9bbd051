// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/blob_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/earlier/netdef/net_walk.h"
#include "lowtide/graph/shape.h"

namespace lowtide {
namespace {

Error on_line(std::size_t line, std::string message, ErrorCode code = ErrorCode::malformed) {
  return Error{code, std::move(message), "line " + std::to_string(line)};
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// "1x3x224" or, for a scalar, "".
std::optional<std::vector<std::int64_t>> extents_of(std::string_view text) {
  std::vector<std::int64_t> extents;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const std::optional<std::int64_t> extent = parse_number(text.substr(0, end));
    if (!extent || extents.size() == static_cast<std::size_t>(limits::kMaxRank)) return std::nullopt;
    extents.push_back(*extent);
    if (end + 1 == text.size()) return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return extents;
}

}  // namespace

std::string shown_type(const BlobType& type) {
  return std::string(to_string(type.dtype)) + to_string(Shape(type.extents));
}

Result<BlobTypes> parse_blob_types(std::string_view csv) {
  BlobTypes types;
  bool has_header = false;
  for (std::size_t line = 1; !csv.empty(); ++line) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    const std::string_view text = trimmed(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (!std::exchange(has_header, true)) {
      if (text != "name,shape,dtype")
        return on_line(line, "the header must be 'name,shape,dtype', not " + quoted(text, 60));
      continue;
    }
    if (text.empty()) continue;
    // A name may have commas, so the last two separate the columns.
    const std::size_t last = text.rfind(',');
    const std::size_t middle = last == 0 || last == std::string_view::npos ? last : text.rfind(',', last - 1);
    if (last == std::string_view::npos || middle == std::string_view::npos || middle == last) {
      return on_line(line, "expected three columns, name, shape and dtype, found " + quoted(text, 60));
    }
    const std::string_view name = trimmed(text.substr(0, middle));
    const std::string_view shape = trimmed(text.substr(middle + 1, last - middle - 1));
    const std::string_view dtype = trimmed(text.substr(last + 1));
    const std::optional<std::vector<std::int64_t>> extents = extents_of(shape);
    if (!extents) return on_line(line, quoted(shape, 60) + " is not a shape; give one such as 1x3x224x224");
    const std::optional<DType> type = dtype.empty() ? std::optional(DType::f32) : from_string<DType>(dtype);
    if (!type) return on_line(line, quoted(dtype, 60) + " is not an element type; give one such as f32 or i64");
    if (!types.emplace(std::string(name), BlobType{*type, *extents}).second) {
      return on_line(line, "the name " + quoted(name, 60) + " is there twice", ErrorCode::invalid);
    }
  }
  if (!has_header) return on_line(1, "the text is empty; the header must be 'name,shape,dtype'");
  return types;
}

Result<BlobTypes> types_written_by(const ProtoMessage& net) {
  const NetGraphOptions options;
  netdef_internal::NetWalk walk(net, options);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  BlobTypes types;
  for (const netdef_internal::NetBlob& blob : walk.blobs()) {
    const netdef_internal::NetVersion& last = walk.versions()[blob.versions.back()];
    if (last.writer && last.type) types.emplace(std::string(blob.name), *last.type);
  }
  return types;
}

Result<BlobContents> contents_written_by(const ProtoMessage& net) {
  const NetGraphOptions options;
  netdef_internal::NetWalk walk(net, options);
  LOWTIDE_RETURN_IF_ERROR(walk.walk());
  BlobContents contents;
  for (const netdef_internal::NetBlob& blob : walk.blobs()) {
    const netdef_internal::NetVersion& last = walk.versions()[blob.versions.back()];
    if (last.writer && last.content) contents.emplace(std::string(blob.name), *last.content);
  }
  return contents;
}

}  // namespace lowtide
