// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/problem/validate.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/allocate/problem/describe_buffer.h"
#include "lowtide/allocate/problem/groups.h"
#include "lowtide/allocate/problem/validate_fixed.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"

namespace lowtide::allocate_internal {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 28U;  // 2 GiB
constexpr std::size_t kMostSpans = std::numeric_limits<std::uint32_t>::max() / 4;

std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(TimeSpan span) { return "[" + text_of(span.begin) + ", " + text_of(span.end) + ")"; }
std::string above_total_bytes() { return "above kMaxTotalBytes = " + text_of(limits::kMaxTotalBytes); }

Error invalid(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), describe_buffer(problem, buffer)};
}

Error over_limit(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::over_limit, std::move(message), describe_buffer(problem, buffer)};
}

Result<void> validate_times(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  if (buffer.lifespan.empty()) {
    return invalid(problem, id,
                   "the lifespan " + text_of(buffer.lifespan) + " is empty; its end must be above its begin");
  }
  const TimeSpan* before = nullptr;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.end < gap.begin || !buffer.lifespan.contains(gap)) {
      return invalid(problem, id,
                     "the gap " + text_of(gap) + " is not inside the lifespan " + text_of(buffer.lifespan));
    }
    if (before != nullptr && gap.begin < before->end) {
      return invalid(problem, id,
                     "the gaps " + text_of(*before) + " and " + text_of(gap) + " are not sorted and disjoint");
    }
    before = &gap;
  }
  return {};
}

Result<void> validate_fixed_offset(const PackingProblem& problem, PackingId id, std::int64_t offset) {
  const std::int64_t size = problem.buffers[id].size.count();
  const std::int64_t alignment = problem.buffers[id].alignment.count();
  const std::string fixed = "the fixed offset " + text_of(offset);
  if (offset < 0) return invalid(problem, id, fixed + " is below 0");
  if (offset % alignment != 0) {
    return invalid(problem, id, fixed + " is not a multiple of the alignment " + text_of(alignment));
  }
  const std::optional<std::int64_t> end = checked_add(offset, size);
  if (!end || *end > limits::kMaxTotalBytes) {
    return over_limit(problem, id, fixed + " with size " + text_of(size) + " ends " + above_total_bytes());
  }
  return {};
}

Result<void> validate_bytes(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  const std::int64_t size = buffer.size.count();
  const std::int64_t alignment = buffer.alignment.count();
  if (size < 0) return invalid(problem, id, "the size " + text_of(size) + " is below 0");
  if (size > limits::kMaxTotalBytes) {
    return over_limit(problem, id, "the size " + text_of(size) + " is " + above_total_bytes());
  }
  if (!is_power_of_two(alignment)) {
    return invalid(problem, id, "the alignment " + text_of(alignment) + " is not a power of two");
  }
  if (alignment > limits::kMaxAlignment) {
    return over_limit(
        problem, id,
        "the alignment " + text_of(alignment) + " is above kMaxAlignment = " + text_of(limits::kMaxAlignment));
  }
  return buffer.fixed_offset ? validate_fixed_offset(problem, id, buffer.fixed_offset->position()) : Result<void>{};
}

Result<void> validate_buffers(const PackingProblem& problem) {
  std::int64_t total = 0;
  std::size_t spans = problem.buffers.size();
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    if (!problem.conflicts) LOWTIDE_RETURN_IF_ERROR(validate_times(problem, id));
    LOWTIDE_RETURN_IF_ERROR(validate_bytes(problem, id));
    const PackingBuffer& buffer = problem.buffers[id];
    spans += buffer.gaps.size();
    total += buffer.size.count() + (buffer.alignment.count() - 1);  // < 2^62 + 2^62 + 2^30: cannot overflow
    if (total > limits::kMaxTotalBytes) {
      return over_limit(problem, id,
                        "the sizes up to this buffer, with padding for alignment, add up to " + text_of(total) + ", " +
                            above_total_bytes());
    }
  }
  if (spans <= kMostSpans) return {};
  return Error{
      ErrorCode::over_limit,
      "there are " + std::to_string(spans) + " buffers and gaps, above the limit of " + std::to_string(kMostSpans), ""};
}

Result<void> validate_ids(const PackingProblem& problem, PackingId first, PackingId second, const std::string& pair) {
  for (PackingId id : {first, second}) {
    if (problem.buffers.contains(id)) continue;
    return Error{ErrorCode::invalid,
                 pair + " names buffer " + std::to_string(id.value()) + ", but the number of buffers is " +
                     std::to_string(problem.buffers.size()),
                 ""};
  }
  if (first != second) return {};
  return invalid(problem, first, pair + " names it twice; name two different buffers");
}

Result<void> validate_pairs(const PackingProblem& problem) {
  const std::size_t pairs = problem.colocations.size() + (problem.conflicts ? problem.conflicts->size() : 0);
  if (pairs > kMostPairs) {
    return Error{ErrorCode::over_limit,
                 "there are " + std::to_string(pairs) + " conflicts and colocations, above the limit of " +
                     std::to_string(kMostPairs),
                 ""};
  }
  if (problem.conflicts) {
    for (const PackingPair& pair : *problem.conflicts) {
      LOWTIDE_RETURN_IF_ERROR(validate_ids(problem, pair.first, pair.second, "a conflict"));
    }
  }
  for (const PackingColocation& pair : problem.colocations) {
    LOWTIDE_RETURN_IF_ERROR(validate_ids(problem, pair.first, pair.second, "a colocation"));
    if (pair.delta >= Bytes(0)) continue;
    return invalid(problem, pair.second,
                   "a colocation puts it " + text_of(pair.delta.count()) + " bytes above " +
                       describe_buffer(problem, pair.first) + "; name the lower buffer first");
  }
  return {};
}

// Checks two limits again, because groups become blocks and pieces (group_forms.h). Blocks change the sum of the sizes,
// and pieces change the number of pairs.
Result<void> validate_groups(const PackingProblem& problem, const BufferGroups& groups) {
  std::int64_t total = 0;
  for (const BufferGroups::Group& group : groups.groups) {
    total += group.size + 2 * (group.alignment - 1);  // < 2^62 + 2^62 + 2^31: cannot overflow
    if (total <= limits::kMaxTotalBytes) continue;
    return over_limit(problem, groups.members[group.first],
                      "the sizes of all groups up to that of this buffer, with padding for alignment, add up to " +
                          text_of(total) + ", " + above_total_bytes());
  }
  const IdVector<PackingId, std::uint32_t> pieces = count_pieces(problem, groups);
  std::size_t count = 0;
  for (std::uint32_t of_one : pieces) count += of_one;
  const auto add = [&](const PackingPair& pair) {
    count = std::min(count + std::size_t{pieces[pair.first]} * pieces[pair.second], kMostPairs + 1);
  };
  if (problem.conflicts) std::for_each(problem.conflicts->begin(), problem.conflicts->end(), add);
  if (count <= kMostPairs) return {};
  return Error{ErrorCode::over_limit,
               "members of groups overlap each other so often that there are more than " + std::to_string(kMostPairs) +
                   " pieces and pairs of pieces; use fewer colocations",
               ""};
}

}  // namespace

Result<void> validate_packing_problem(const PackingProblem& problem) {
  const std::size_t count = problem.buffers.size();
  if (count > static_cast<std::size_t>(limits::kMaxTensors)) {
    return Error{ErrorCode::over_limit,
                 "there are " + std::to_string(count) + " buffers, above kMaxTensors = " + text_of(limits::kMaxTensors),
                 ""};
  }
  if (!problem.names.empty() && problem.names.size() != count) {
    return Error{ErrorCode::invalid,
                 "there are " + std::to_string(problem.names.size()) + " names for " + std::to_string(count) +
                     " buffers; give one name per buffer, or none at all",
                 ""};
  }
  if (problem.capacity && *problem.capacity < Bytes(0)) {
    return Error{ErrorCode::invalid, "the capacity " + text_of(problem.capacity->count()) + " is below 0", ""};
  }
  LOWTIDE_RETURN_IF_ERROR(validate_buffers(problem));
  LOWTIDE_RETURN_IF_ERROR(validate_pairs(problem));
  const bool has_fixed = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                                     [](const PackingBuffer& buffer) { return buffer.fixed_offset.has_value(); });
  if (!has_fixed && problem.colocations.empty()) return {};
  LOWTIDE_TRY(const BufferGroups groups, group_buffers(problem));
  if (!problem.colocations.empty()) LOWTIDE_RETURN_IF_ERROR(validate_groups(problem, groups));
  return validate_fixed_buffers(problem, groups);
}

}  // namespace lowtide::allocate_internal
