// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/prepared_tables.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "lowtide/engine/load_time.h"

namespace lowtide::engine_internal {
namespace {

bool is_in_file(const ConstantSource& source) { return std::holds_alternative<ConstantSource::InFile>(source.where); }

// The lowest id of a constant of the graph that is not in the table.
std::size_t first_absent(const PreparedHead& head) {
  for (ConstantId id : constants_of(head.graph)) {  // ascending
    if (!head.constants.sources.contains(id)) return id.value();
  }
  return std::numeric_limits<std::size_t>::max();
}

// Whether no id means different constants in the two tables.
bool agree(const ConstantTable& one, const ConstantTable& other) {
  for (ConstantId id : all_ids<ConstantId>(std::min(one.sources.size(), other.sources.size()))) {
    const ConstantSource& source = one.sources[id];
    const ConstantSource& own = other.sources[id];
    if (is_in_file(source) && is_in_file(own) && source != own) return false;
  }
  return true;
}

}  // namespace

std::size_t PreparedTables::add(PreparedHead& head) {
  const std::size_t absent = first_absent(head);
  ConstantTable table = std::exchange(head.constants, {});
  const auto shared = std::ranges::find_if(shared_, [&](const Shared& one) {
    const std::size_t size = std::max(one.table.sources.size(), table.sources.size());
    return size <= std::min(one.first_absent, absent) && agree(one.table, table);
  });
  if (shared == shared_.end()) {
    shared_.push_back({std::move(table), absent});
    return shared_.size() - 1;
  }
  for (ConstantId id : all_ids<ConstantId>(table.sources.size())) {
    ConstantSource& source = table.sources[id];
    if (is_in_file(source)) set_constant(shared->table, id, std::move(source));
  }
  shared->first_absent = std::min(shared->first_absent, absent);
  return static_cast<std::size_t>(shared - shared_.begin());
}

std::vector<ConstantTable> PreparedTables::take() && {
  std::vector<ConstantTable> tables;
  for (Shared& one : shared_) tables.push_back(std::move(one.table));
  return tables;
}

}  // namespace lowtide::engine_internal
