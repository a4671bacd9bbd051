// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/packing_sheet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/report/page_columns.h"

namespace lowtide::report_internal {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;  // beyond, a script's numbers have holes

const PackingBuffer& buffer_at(const PackingProblem& problem, std::size_t row) {
  return problem.buffers[PackingId(static_cast<std::uint32_t>(row))];
}

// Times at which something begins or ends, and where each stands among them.
class Clock {
 public:
  explicit Clock(const PackingProblem& problem) {
    for (const PackingBuffer& buffer : problem.buffers) {
      add(buffer.lifespan);
      for (const TimeSpan& gap : buffer.gaps) add(gap);
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }

  [[nodiscard]] std::int64_t index_of(std::int64_t time) const {
    return std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
  }

  void append_json(std::string& out) const {
    const std::int64_t first = times_.empty() ? 0 : times_.front();
    const std::int64_t last = times_.empty() ? 0 : times_.back();
    const bool is_exact = first >= -kLargestExact && last <= kLargestExact;
    // The span of two 64-bit times may need all 64 bits.
    const auto since_first = [&](std::int64_t time) {
      return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(first);
    };
    const bool is_to_scale = since_first(last) <= static_cast<std::uint64_t>(kLargestExact);
    append_json_key(out, "time");
    out += '{';
    append_text_member(out, "origin", std::to_string(is_exact || !is_to_scale ? 0 : first));
    append_integer_member(out, "start", is_exact && is_to_scale ? first : 0);
    append_column(out, "bounds", times_.size(), [&](std::size_t at) {
      return static_cast<std::int64_t>(is_to_scale ? since_first(times_[at]) : at);
    });
    append_json_key(out, "names");
    if (is_to_scale) {
      out += "null}";
      return;
    }
    std::vector<std::string> names;
    for (std::int64_t time : times_) names.push_back(std::to_string(time));
    append_json_strings(out, names);
    out += '}';
  }

 private:
  void add(const TimeSpan& span) {
    times_.push_back(span.begin);
    times_.push_back(span.end);
  }

  std::vector<std::int64_t> times_;
};

std::vector<TimeSpan> pieces_of(const PackingBuffer& buffer) {
  std::vector<TimeSpan> pieces;
  std::int64_t from = buffer.lifespan.begin;
  for (const TimeSpan& gap : buffer.gaps) {
    if (gap.empty()) continue;
    if (from < gap.begin) pieces.push_back({from, gap.begin});
    from = gap.end;
  }
  if (from < buffer.lifespan.end) pieces.push_back({from, buffer.lifespan.end});
  if (pieces.empty()) pieces.push_back({buffer.lifespan.begin, buffer.lifespan.begin});
  return pieces;
}

void append_facts(std::string& out, const PackingProblem& problem, const Packing& packing,
                  const PackingPageOptions& options, const Clock& clock) {
  Bytes sum;
  for (const PackingBuffer& buffer : problem.buffers) sum += buffer.size;
  append_json_key(out, "facts");
  out += '{';
  append_text_member(out, "graph", options.name);
  append_text_member(out, "tool", options.tool);
  append_integer_member(out, "sum", sum.count());
  append_integer_member(out, "bound", packing.bound.count());
  append_flag_member(out, "bound_searched", packing.is_bound_searched);
  append_integer_member(out, "decisions", packing.decisions);
  append_text_member(out, "strategy", packing.strategy);
  append_flag_member(out, "optimal", packing.proven_optimal);
  append_json_key(out, "witness");
  out += packing.witness_time ? std::to_string(clock.index_of(*packing.witness_time)) : "null";
  out += '}';
  append_json_key(out, "regions");
  out += "[{";
  append_text_member(out, "name", "");
  append_json_key(out, "capacity");
  out += problem.capacity ? std::to_string(problem.capacity->count()) : "null";
  append_integer_member(out, "alignment", 1);
  append_integer_member(out, "arena", packing.height.count());
  out += "}]";
}

void append_wholes(std::string& out, const PackingProblem& problem, const Packing& packing, const Clock& clock) {
  const std::size_t count = problem.buffers.size();
  const auto at = [&](std::size_t row) -> const PackingBuffer& { return buffer_at(problem, row); };
  append_json_key(out, "whole");
  out += '{';
  append_names(out, "name", count, [&](std::size_t row) {
    return problem.names.empty() ? std::to_string(row) : problem.names[PackingId(static_cast<std::uint32_t>(row))];
  });
  append_column(out, "size", count, [&](std::size_t row) { return at(row).size.count(); });
  append_column(out, "alignment", count, [&](std::size_t row) { return at(row).alignment.count(); });
  append_column(out, "offset", count, [&](std::size_t row) {
    return packing.offsets[PackingId(static_cast<std::uint32_t>(row))].position();
  });
  append_column(out, "fixed", count, [&](std::size_t row) { return at(row).fixed_offset ? 1 : 0; });
  append_column(out, "begin", count, [&](std::size_t row) { return clock.index_of(at(row).lifespan.begin); });
  append_column(out, "end", count, [&](std::size_t row) { return clock.index_of(at(row).lifespan.end); });
  append_column(out, "pieces", count,
                [&](std::size_t row) { return static_cast<std::int64_t>(pieces_of(at(row)).size()); });
  out += '}';
}

void append_pieces(std::string& out, const PackingProblem& problem, const Clock& clock) {
  std::vector<TimeSpan> pieces;
  for (const PackingBuffer& buffer : problem.buffers) {
    for (const TimeSpan& piece : pieces_of(buffer)) pieces.push_back(piece);
  }
  append_json_key(out, "piece");
  out += '{';
  append_column(out, "begin", pieces.size(), [&](std::size_t row) { return clock.index_of(pieces[row].begin); });
  append_column(out, "end", pieces.size(), [&](std::size_t row) { return clock.index_of(pieces[row].end); });
  out += '}';
}

}  // namespace

void append_packing_sheet_json(std::string& out, const PackingProblem& problem, const Packing& packing,
                               const PackingPageOptions& options) {
  LOWTIDE_CHECK(packing.offsets.size() == problem.buffers.size(), "a packing has one offset per buffer");
  LOWTIDE_CHECK(!problem.conflicts, "a drawn packing has lifespans, not named conflicts");
  const Clock clock(problem);
  out += '{';
  append_flag_member(out, "packing", true);
  append_json_key(out, "parent");
  out += "null";
  append_facts(out, problem, packing, options, clock);
  clock.append_json(out);
  append_wholes(out, problem, packing, clock);
  append_pieces(out, problem, clock);
  out += '}';
}

}  // namespace lowtide::report_internal
