// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "lowtide/allocate/strategies/context.h"

namespace lowtide::allocate_internal {

// A way to lower the best answer. It lives through all phases of one problem, and continues where its last run ended.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  // Spends about `limit` of the context's effort. Offers what it finds to the context's best.
  virtual void run(std::int64_t limit) = 0;
};

struct Phase {
  std::int64_t limit = 0;  // its effort; the shares of the strategies may add up to more
  bool is_first = false;
};

// One row of the table of strategies (table.cc).
struct StrategyRow {
  std::string_view name;
  std::string_view does;
  bool (*is_tried)(const StrategyContext& context, const Phase& phase);
  std::int64_t (*effort)(const StrategyContext& context, const Phase& phase);
  // `rows` is the table with this row. A strategy may solve a smaller problem with the other strategies.
  std::unique_ptr<Strategy> (*make)(StrategyContext& context, std::span<const StrategyRow> rows);
};

}  // namespace lowtide::allocate_internal
