// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/html/packing_sheet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/report/html/page_columns.h"
#include "lowtide/report/packing_summary.h"

namespace lowtide::report_internal {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;  // numbers of a script are exact up to here

const PackingBuffer& buffer_at(const PackingProblem& problem, std::size_t row) {
  return problem.buffers[PackingId(static_cast<std::uint32_t>(row))];
}

// The times at which buffers and gaps begin or end, in ascending order. The page draws them to scale, or
// at equal distances if their span is too large for a script's numbers.
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

  [[nodiscard]] std::int64_t first() const { return times_.empty() ? 0 : times_.front(); }
  [[nodiscard]] std::int64_t last() const { return times_.empty() ? 0 : times_.back(); }

  // Where the page draws a time. Requires: first() <= time <= last().
  [[nodiscard]] std::int64_t position_of(std::int64_t time) const {
    return is_to_scale() ? static_cast<std::int64_t>(since_first(time)) : index_of(time);
  }

  void write(JsonWriter& json) const {
    const bool is_exact = first() >= -kLargestExact && last() <= kLargestExact;
    const bool is_to_scale = this->is_to_scale();
    json.key("time");
    json.begin_object();
    json.member("epoch", std::to_string(is_exact || !is_to_scale ? 0 : first()));
    json.member("start", is_exact && is_to_scale ? first() : std::int64_t{0});
    add_column(json, "bounds", times_.size(), [&](std::size_t at) {
      return is_to_scale ? static_cast<std::int64_t>(since_first(times_[at])) : static_cast<std::int64_t>(at);
    });
    if (is_to_scale) {
      json.key("names");
      json.null();
    } else {
      std::vector<std::string> names;
      for (std::int64_t time : times_) names.push_back(std::to_string(time));
      add_strings(json, "names", names);
    }
    json.end_object();
  }

 private:
  // The difference of two 64-bit times may need all 64 bits.
  [[nodiscard]] std::uint64_t since_first(std::int64_t time) const {
    return static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(first());
  }
  [[nodiscard]] bool is_to_scale() const { return since_first(last()) <= static_cast<std::uint64_t>(kLargestExact); }

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

void add_facts(JsonWriter& json, const PackingProblem& problem, const Packing& packing,
               const PackingPageOptions& options, const Clock& clock) {
  Bytes sum;
  for (const PackingBuffer& buffer : problem.buffers) sum += buffer.size;
  json.key("facts");
  json.begin_object();
  add_name(json, "graph", options.name);
  add_name(json, "tool", options.tool);
  json.member("sum", sum);
  json.member("bound", packing.bound);
  json.member("bound_searched", packing.is_bound_searched);
  json.member("decisions", packing.decisions);
  add_name(json, "strategy", packing.strategy);
  json.key("figures");
  json.begin_array();
  for (const PageFigure& figure : options.figures) {
    json.begin_object();
    add_name(json, "label", figure.label);
    add_name(json, "value", figure.value);
    add_name(json, "detail", figure.detail);
    json.end_object();
  }
  json.end_array();
  json.member("optimal", packing.proven_optimal);
  json.key("witness");
  if (packing.witness_time) {
    json.value(clock.index_of(*packing.witness_time));
  } else {
    json.null();
  }
  json.end_object();
}

void add_bands(JsonWriter& json, const std::vector<PageBand>& bands, const Clock& clock) {
  SharedTexts names;
  std::vector<std::int64_t> name;
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  std::vector<std::int64_t> again;
  for (const PageBand& band : bands) {
    const std::int64_t from = std::max(band.begin, clock.first());
    const std::int64_t to = std::min(band.end, clock.last());
    if (from >= to) continue;
    name.push_back(names.index_of(name_in_page(band.name)));
    begin.push_back(clock.position_of(from));
    end.push_back(clock.position_of(to));
    again.push_back(band.is_again ? 1 : 0);
  }
  if (name.empty()) return;
  json.key("bands");
  json.begin_object();
  add_strings(json, "names", names.texts());
  add_column(json, "name", name.size(), [&](std::size_t row) { return name[row]; });
  add_column(json, "begin", begin.size(), [&](std::size_t row) { return begin[row]; });
  add_column(json, "end", end.size(), [&](std::size_t row) { return end[row]; });
  add_column(json, "again", again.size(), [&](std::size_t row) { return again[row]; });
  json.end_object();
}

void add_region(JsonWriter& json, const PackingProblem& problem, const Packing& packing) {
  json.key("regions");
  json.begin_array();
  json.begin_object();
  json.member("name", "");
  json.key("capacity");
  if (problem.capacity) {
    json.value(*problem.capacity);
  } else {
    json.null();
  }
  json.member("alignment", std::int64_t{1});
  json.member("arena", packing.height);
  json.end_object();
  json.end_array();
}

void add_wholes(JsonWriter& json, const PackingProblem& problem, const Packing& packing, const Clock& clock) {
  const std::size_t count = problem.buffers.size();
  const auto at = [&](std::size_t row) -> const PackingBuffer& { return buffer_at(problem, row); };
  json.key("whole");
  json.begin_object();
  add_names(json, "name", count,
            [&](std::size_t row) { return name_of(problem, PackingId(static_cast<std::uint32_t>(row))); });
  add_column(json, "size", count, [&](std::size_t row) { return at(row).size.count(); });
  add_column(json, "alignment", count, [&](std::size_t row) { return at(row).alignment.count(); });
  add_column(json, "offset", count,
             [&](std::size_t row) { return packing.offsets[PackingId(static_cast<std::uint32_t>(row))].position(); });
  add_column(json, "fixed", count, [&](std::size_t row) { return at(row).fixed_offset ? 1 : 0; });
  add_column(json, "begin", count, [&](std::size_t row) { return clock.index_of(at(row).lifespan.begin); });
  add_column(json, "end", count, [&](std::size_t row) { return clock.index_of(at(row).lifespan.end); });
  add_column(json, "pieces", count,
             [&](std::size_t row) { return static_cast<std::int64_t>(pieces_of(at(row)).size()); });
  json.end_object();
}

void add_pieces(JsonWriter& json, const PackingProblem& problem, const Clock& clock) {
  std::vector<TimeSpan> pieces;
  for (const PackingBuffer& buffer : problem.buffers) {
    for (const TimeSpan& piece : pieces_of(buffer)) pieces.push_back(piece);
  }
  json.key("piece");
  json.begin_object();
  add_column(json, "begin", pieces.size(), [&](std::size_t row) { return clock.index_of(pieces[row].begin); });
  add_column(json, "end", pieces.size(), [&](std::size_t row) { return clock.index_of(pieces[row].end); });
  json.end_object();
}

}  // namespace

void write_packing_sheet(JsonWriter& json, const PackingProblem& problem, const Packing& packing,
                         const PackingPageOptions& options) {
  LOWTIDE_CHECK(packing.offsets.size() == problem.buffers.size(), "a packing has one offset per buffer");
  LOWTIDE_CHECK(!problem.conflicts, "a drawn packing has lifespans, not named conflicts");
  const Clock clock(problem);
  json.begin_object();
  json.member("packing", true);
  json.key("parent");
  json.null();
  add_facts(json, problem, packing, options, clock);
  add_region(json, problem, packing);
  clock.write(json);
  add_bands(json, options.bands, clock);
  add_wholes(json, problem, packing, clock);
  add_pieces(json, problem, clock);
  json.end_object();
}

}  // namespace lowtide::report_internal
