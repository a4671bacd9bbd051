// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lowtide/allocate/exact/search_buffer.h"
#include "lowtide/base/id.h"
#include "lowtide/plan/packing.h"

namespace lowtide::allocate_internal {

// Which clique is decided next.
enum class CliqueRule : std::uint8_t {
  fewest_options,  // fail first: the clique with the fewest candidates
  most_failures,   // the fewest options per dead end that was met there (Boussemart, Hemery, Lecoutre and Sais,
                   // "Boosting systematic search by weighting constraints", ECAI 2004)
  least_slack,     // the clique with the fewest bytes to spare
};

// Which buffer is tried first.
enum class BufferRule : std::uint8_t { longest, largest, most_area, highest_load };

enum class SearchOutcome : std::uint8_t {
  fits,          // every buffer has an offset
  does_not_fit,  // all possibilities were tried
  undecided,     // a limit was reached first
};

// A complete search for offsets below a capacity: without a limit it ends with `fits` or `does_not_fit`.
//   skyline_search.h            plain lifespans (ValleyState); gaps, fixed buffers and relations (CoverState)
//   groups/pair_order_search.h  groups of any shape
class FitSearch {
 public:
  FitSearch() = default;
  FitSearch(const FitSearch&) = delete;
  FitSearch& operator=(const FitSearch&) = delete;
  virtual ~FitSearch() = default;

  // What does not fit a capacity does not fit a lower one either. So a search forgets its nogoods only if the capacity
  // rises. Requires: no fixed buffer ends above the capacity.
  virtual void set_capacity(std::int64_t capacity) = 0;

  // One rank per buffer. A buffer with a lower rank is tried first.
  virtual void set_ranks(IdVector<SearchBuffer, std::uint32_t> ranks) = 0;
  virtual void set_rule(CliqueRule rule) = 0;

  // Starts from the beginning, but keeps its nogoods from one run to the next. Ends after `node_limit` decisions, after
  // `work_limit` units of work, or soon after `is_stopped`, which may be empty, returns true.
  virtual SearchOutcome run(std::int64_t node_limit, std::int64_t work_limit,
                            const std::function<bool()>& is_stopped = {}) = 0;

  // Requires: the last run ended with `fits`.
  [[nodiscard]] virtual std::int64_t offset(SearchBuffer buffer) const = 0;

  // The buffers and cliques looked at so far, and the decisions made so far.
  [[nodiscard]] virtual std::int64_t work() const = 0;
  [[nodiscard]] virtual std::int64_t nodes() const = 0;
};

// What a caller has to know to run a search: its buffers, what to try in which order, and how to make it.
struct SearchTask {
  struct Buffer {
    PackingId id;
    std::int64_t size = 0;
    std::int64_t length = 0;        // the number of its cliques, or of its conflicts
    std::int64_t highest_load = 0;  // of its cliques
  };
  // Configurations take slices of the effort in turn (capacity_search.h).
  struct Configuration {
    CliqueRule clique_rule;
    BufferRule buffer_rule;
  };
  IdVector<SearchBuffer, Buffer> buffers;
  std::vector<Configuration> configurations = {
      {CliqueRule::fewest_options, BufferRule::longest},  {CliqueRule::most_failures, BufferRule::largest},
      {CliqueRule::fewest_options, BufferRule::largest},  {CliqueRule::most_failures, BufferRule::longest},
      {CliqueRule::least_slack, BufferRule::largest},     {CliqueRule::fewest_options, BufferRule::most_area},
      {CliqueRule::most_failures, BufferRule::most_area}, {CliqueRule::fewest_options, BufferRule::highest_load},
  };
  std::int64_t slice = 2;                            // decisions of the shortest slice, per buffer
  std::int64_t grain = 1;                            // a divisor of the height of every packing in which each buffer
                                                     // rests on the ground or on another buffer
  std::function<std::unique_ptr<FitSearch>()> make;  // what it refers to must outlive the task
};

}  // namespace lowtide::allocate_internal
