// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/allocate/validate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

std::string text_of(TimeSpan span) { return "[" + std::to_string(span.begin) + ", " + std::to_string(span.end) + ")"; }

Error invalid(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), describe_buffer(problem, buffer)};
}

Error over_limit(const PackingProblem& problem, PackingId buffer, std::string message) {
  return Error{ErrorCode::over_limit, std::move(message), describe_buffer(problem, buffer)};
}

Result<void> validate_times(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  if (buffer.lifespan.empty()) {
    return invalid(
        problem, id,
        "the lifespan " + text_of(buffer.lifespan) + " is empty; lower must be below upper (spans are half-open)");
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

Result<void> validate_bytes(const PackingProblem& problem, PackingId id) {
  const PackingBuffer& buffer = problem.buffers[id];
  const std::int64_t size = buffer.size.count();
  const std::int64_t alignment = buffer.alignment.count();
  if (size < 0) return invalid(problem, id, "the size " + std::to_string(size) + " is below 0");
  if (size > limits::kMaxTotalBytes) {
    return over_limit(
        problem, id,
        "the size " + std::to_string(size) + " is above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
  }
  if (!is_power_of_two(alignment)) {
    return invalid(problem, id, "the alignment " + std::to_string(alignment) + " is not a power of two");
  }
  if (alignment > limits::kMaxAlignment) {
    return over_limit(problem, id,
                      "the alignment " + std::to_string(alignment) +
                          " is above kMaxAlignment = " + std::to_string(limits::kMaxAlignment));
  }
  if (!buffer.fixed_offset) return {};
  const std::int64_t offset = buffer.fixed_offset->position();
  if (offset < 0) return invalid(problem, id, "the fixed offset " + std::to_string(offset) + " is below 0");
  if (offset % alignment != 0) {
    return invalid(problem, id,
                   "the fixed offset " + std::to_string(offset) + " is not a multiple of the alignment " +
                       std::to_string(alignment));
  }
  const std::optional<std::int64_t> end = checked_add(offset, size);
  if (!end || *end > limits::kMaxTotalBytes) {
    return over_limit(problem, id,
                      "the fixed offset " + std::to_string(offset) + " with size " + std::to_string(size) +
                          " ends above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
  }
  return {};
}

// One end of an active part of a fixed buffer.
struct FixedEvent {
  std::int64_t time;
  bool begins;  // ends come first at the same time: spans are half-open
  PackingId buffer;
  friend auto operator<=>(const FixedEvent&, const FixedEvent&) = default;
};

std::vector<FixedEvent> fixed_events(const PackingProblem& problem) {
  std::vector<FixedEvent> events;
  for (PackingId id : all_ids<PackingId>(problem.buffers.size())) {
    const PackingBuffer& buffer = problem.buffers[id];
    if (!buffer.fixed_offset || buffer.size == Bytes(0)) continue;
    std::int64_t from = buffer.lifespan.begin;
    const auto add_part = [&](std::int64_t until) {
      if (from >= until) return;
      events.push_back({from, true, id});
      events.push_back({until, false, id});
    };
    for (const TimeSpan& gap : buffer.gaps) {
      if (gap.empty()) continue;
      add_part(gap.begin);
      from = gap.end;
    }
    add_part(buffer.lifespan.end);
  }
  std::sort(events.begin(), events.end());
  return events;
}

// Sweeps over time with the active fixed buffers by address: only neighbours can collide.
Result<void> validate_fixed(const PackingProblem& problem) {
  std::map<std::int64_t, PackingId> active;  // offset -> buffer
  const auto end_of = [&](PackingId id) {
    return problem.buffers[id].fixed_offset->position() + problem.buffers[id].size.count();
  };
  for (const FixedEvent& event : fixed_events(problem)) {
    const std::int64_t offset = problem.buffers[event.buffer].fixed_offset->position();
    if (!event.begins) {
      active.erase(offset);
      continue;
    }
    std::optional<PackingId> other;
    const auto above = active.lower_bound(offset);
    if (above != active.end() && above->first < end_of(event.buffer)) other = above->second;
    if (!other && above != active.begin() && end_of(std::prev(above)->second) > offset) {
      other = std::prev(above)->second;
    }
    if (other) {
      return invalid(problem, event.buffer,
                     "fixed at bytes [" + std::to_string(offset) + ", " + std::to_string(end_of(event.buffer)) +
                         ") it collides with " + describe_buffer(problem, *other) + ", fixed at bytes [" +
                         std::to_string(problem.buffers[*other].fixed_offset->position()) + ", " +
                         std::to_string(end_of(*other)) + "), at time " + std::to_string(event.time));
    }
    active.emplace(offset, event.buffer);
  }
  return {};
}

}  // namespace

std::string describe_buffer(const PackingProblem& problem, PackingId buffer) {
  if (problem.names.contains(buffer)) return "buffer " + quoted(problem.names[buffer]);
  return "buffer " + std::to_string(buffer.value());
}

Result<void> validate_packing_problem(const PackingProblem& problem) {
  const std::size_t count = problem.buffers.size();
  if (count > static_cast<std::size_t>(limits::kMaxTensors)) {
    return Error{ErrorCode::over_limit,
                 std::to_string(count) + " buffers are above kMaxTensors = " + std::to_string(limits::kMaxTensors), ""};
  }
  if (!problem.names.empty() && problem.names.size() != count) {
    return Error{ErrorCode::invalid,
                 std::to_string(problem.names.size()) + " names for " + std::to_string(count) +
                     " buffers; give none, or one for each",
                 ""};
  }
  if (problem.capacity && *problem.capacity < Bytes(0)) {
    return Error{ErrorCode::invalid, "the capacity " + std::to_string(problem.capacity->count()) + " is below 0", ""};
  }
  std::int64_t total = 0;
  std::size_t spans = count;
  for (PackingId id : all_ids<PackingId>(count)) {
    LOWTIDE_RETURN_IF_ERROR(validate_times(problem, id));
    LOWTIDE_RETURN_IF_ERROR(validate_bytes(problem, id));
    const PackingBuffer& buffer = problem.buffers[id];
    spans += buffer.gaps.size();
    total += buffer.size.count() + (buffer.alignment.count() - 1);  // < 2^62 + 2^62 + 2^30: cannot wrap
    if (total > limits::kMaxTotalBytes) {
      return over_limit(problem, id,
                        "with this one the sizes and the padding for alignment add up to " + std::to_string(total) +
                            ", above kMaxTotalBytes = " + std::to_string(limits::kMaxTotalBytes));
    }
  }
  constexpr std::size_t kMostSpans = std::numeric_limits<std::uint32_t>::max() / 4;
  if (spans > kMostSpans) {
    return Error{ErrorCode::over_limit,
                 "buffers and gaps together are " + std::to_string(spans) + ", above " + std::to_string(kMostSpans),
                 ""};
  }
  return validate_fixed(problem);
}

}  // namespace lowtide
