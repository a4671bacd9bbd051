// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/packing_csv.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "lowtide/base/check.h"

namespace lowtide {
namespace {

// The optional columns that the text has.
struct Columns {
  bool alignment = false;
  bool gaps = false;
  bool offset = false;
  bool slot = false;
};

Columns columns_of(const PackingProblem& problem) {
  Columns columns;
  for (const PackingBuffer& buffer : problem.buffers) {
    columns.alignment |= buffer.alignment != Bytes(1);
    columns.gaps |= std::any_of(buffer.gaps.begin(), buffer.gaps.end(), [](TimeSpan gap) { return !gap.empty(); });
    columns.offset |= buffer.fixed_offset.has_value();
  }
  return columns;
}

std::string id_of(const PackingProblem& problem, PackingId buffer) {
  if (problem.names.empty()) return std::to_string(buffer.value());
  const std::string_view name = problem.names[buffer];
  LOWTIDE_CHECK(!name.empty() && name.find_first_of(std::string_view(",\r\n\0", 4)) == std::string_view::npos,
                "an id in CSV is not empty and has no comma, line break or zero byte");
  return std::string(name);
}

// Omits empty gaps.
std::string text_of(std::span<const TimeSpan> gaps) {
  std::string text;
  for (const TimeSpan& gap : gaps) {
    if (gap.empty()) continue;
    if (!text.empty()) text += ' ';
    text += std::to_string(gap.begin) + "-" + std::to_string(gap.end);
  }
  return text;
}

template <typename OffsetOf>
std::string write(const PackingProblem& problem, Columns columns, const OffsetOf& offset_of,
                  const IdVector<PackingId, std::uint32_t>& slots = {}) {
  std::string text = "id,lower,upper,size";
  if (columns.alignment) text += ",alignment";
  if (columns.gaps) text += ",gaps";
  if (columns.offset) text += ",offset";
  if (columns.slot) text += ",slot";
  text += '\n';
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const PackingBuffer& buffer = problem.buffers[id];
    LOWTIDE_CHECK(buffer.lifespan.begin >= 0, "times in CSV are not negative");
    text += id_of(problem, id);
    text += "," + std::to_string(buffer.lifespan.begin) + "," + std::to_string(buffer.lifespan.end);
    text += "," + std::to_string(buffer.size.count());
    if (columns.alignment) text += "," + std::to_string(buffer.alignment.count());
    if (columns.gaps) text += "," + text_of(buffer.gaps);
    if (columns.offset) {
      text += ',';
      if (const std::optional<Offset> offset = offset_of(id)) text += std::to_string(offset->position());
    }
    if (columns.slot) text += "," + std::to_string(slots[id]);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string write_packing_csv(const PackingProblem& problem) {
  return write(problem, columns_of(problem), [&](PackingId id) { return problem.buffers[id].fixed_offset; });
}

std::string write_slots_csv(const PackingProblem& problem, const IdVector<PackingId, std::uint32_t>& slots) {
  LOWTIDE_CHECK(slots.size() == problem.buffers.size(), "every buffer has a slot");
  Columns columns = columns_of(problem);
  columns.slot = true;
  return write(
      problem, columns, [&](PackingId id) { return problem.buffers[id].fixed_offset; }, slots);
}

std::string write_packing_csv(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets) {
  LOWTIDE_CHECK(offsets.size() == problem.buffers.size(), "a packing has one offset per buffer");
  Columns columns = columns_of(problem);
  columns.offset = true;
  return write(problem, columns, [&](PackingId id) { return std::optional<Offset>(offsets[id]); });
}

}  // namespace lowtide
