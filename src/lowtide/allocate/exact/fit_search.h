// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// What is decided next.
enum class CliqueRule : std::uint8_t {
  fewest_options,  // fail first: where there are the fewest candidates
  most_failures,   // the fewest options for each dead end that was met there (Boussemart, Hemery, Lecoutre and Sais,
                   // "Boosting systematic search by weighting constraints", ECAI 2004)
  least_slack,     // where the fewest bytes can be spared
};

// Which buffer is tried first.
enum class BufferRule : std::uint8_t { longest, largest, most_area, most_crowded };

enum class SearchOutcome : std::uint8_t {
  fits,          // every buffer has an offset
  does_not_fit,  // all possibilities were tried
  undecided,     // the limit came first
};

// A complete search for offsets below a capacity: without a limit it ends with `fits` or `does_not_fit`. Which buffers
// it speaks of, by which index, is a matter of its SearchTask.
//   valley_search.h  plain intervals
//   cover_search.h   sets of cliques: gaps, fixed buffers, relations
//   pair_order_search.h   groups of any shape
class FitSearch {
 public:
  FitSearch() = default;
  FitSearch(const FitSearch&) = delete;
  FitSearch& operator=(const FitSearch&) = delete;
  virtual ~FitSearch() = default;

  // What failed under a capacity also fails under a lower one: only a higher one makes a search forget.
  // Require: no fixed buffer ends above it.
  virtual void set_capacity(std::int64_t capacity) = 0;

  // Lower rank, tried first. One a buffer.
  virtual void set_ranks(std::vector<std::uint32_t> ranks) = 0;
  virtual void set_rule(CliqueRule rule) = 0;

  // From the start; ends after `node_limit` decisions or `work_limit` things looked at, or soon after `is_stopped` (may
  // be empty) says so. What dead ends taught stays from one run to the next.
  virtual SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                            const std::function<bool()>& is_stopped = {}) = 0;

  // Require: the last run ended with `fits`.
  [[nodiscard]] virtual std::int64_t offset(std::uint32_t buffer) const = 0;

  // Things looked at so far, and decisions taken.
  [[nodiscard]] virtual std::int64_t work() const = 0;
  [[nodiscard]] virtual std::int64_t nodes() const = 0;
};

// What there is to know about a search before it begins.
struct SearchTask {
  struct Buffer {
    PackingId id;
    std::int64_t size = 0;
    std::int64_t length = 0;  // cliques, or others that it meets
    std::int64_t crowd = 0;   // the largest load that it is part of
  };
  // Rules for choices, which take slices in turn (capacity_search.h).
  struct Configuration {
    CliqueRule clique_rule;
    BufferRule buffer_rule;
  };
  std::vector<Buffer> buffers;  // by the index that the search uses
  std::vector<Configuration> configurations = {
      {CliqueRule::fewest_options, BufferRule::longest},  {CliqueRule::most_failures, BufferRule::largest},
      {CliqueRule::fewest_options, BufferRule::largest},  {CliqueRule::most_failures, BufferRule::longest},
      {CliqueRule::least_slack, BufferRule::largest},     {CliqueRule::fewest_options, BufferRule::most_area},
      {CliqueRule::most_failures, BufferRule::most_area}, {CliqueRule::fewest_options, BufferRule::most_crowded},
  };
  std::int64_t slice = 2;                            // decisions of the shortest slice, per buffer
  std::int64_t grain = 1;                            // every height of a packing that rests is a multiple
  std::function<std::unique_ptr<FitSearch>()> make;  // what it refers to must outlive the task
};

}  // namespace lowtide::allocate_internal
