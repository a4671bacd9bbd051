// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/constant_table.h"

#include <limits>

#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

// Returns "" if the source follows the rules, otherwise what is wrong.
std::string fault_of(const ConstantTable& table, const ConstantSource& source) {
  if (source.shape.has_upper_bounds()) return "the shape " + to_string(source.shape) + " has an upper bound";
  Result<Bytes> size = dense_size(source.dtype, source.shape);
  if (!size) return size.error().message;
  if (*size != source.size) {
    return "the size is " + std::to_string(source.size.count()) + " bytes, but " +
           std::string(to_string(source.dtype)) + to_string(source.shape) + " has " + std::to_string(size->count());
  }
  if (const auto* here = std::get_if<ConstantSource::Inline>(&source.where)) {
    if (static_cast<std::int64_t>(here->bytes.size()) == source.size.count()) return "";
    return std::to_string(here->bytes.size()) + " bytes are given, but the size is " +
           std::to_string(source.size.count());
  }
  const auto* in_file = std::get_if<ConstantSource::InFile>(&source.where);
  if (in_file == nullptr) return "";
  if (!table.files.contains(in_file->file)) {
    return "the data are in file " + std::to_string(in_file->file.value()) + ", but there are " +
           std::to_string(table.files.size()) + " files";
  }
  if (in_file->offset < 0 || in_file->offset > std::numeric_limits<std::int64_t>::max() - source.size.count()) {
    return "the offset " + std::to_string(in_file->offset) + " is out of range";
  }
  return "";
}

}  // namespace

Result<void> check_constants(const ConstantTable& table) {
  for (ConstantId id : all_ids<ConstantId>(table.sources.size())) {
    const std::string fault = fault_of(table, table.sources[id]);
    if (fault.empty()) continue;
    return Error{ErrorCode::invalid, fault,
                 "constant " + std::to_string(id.value()) + " " + quoted(table.sources[id].name)};
  }
  return {};
}

}  // namespace lowtide
