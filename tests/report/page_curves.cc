// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/report/page_curves.h"

namespace lowtide {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMillisecond = 1'000'000'000;

BudgetPoint found(std::int64_t budget, std::int64_t ram, std::int64_t milliseconds, std::int64_t bound) {
  return {.budget = Bytes(budget * kMiB),
          .outcome = BudgetOutcome::found,
          .planned_for = Bytes(budget * kMiB),
          .ram = Bytes(ram * kMiB),
          .picoseconds = milliseconds * kMillisecond,
          .reruns = milliseconds - 100,
          .plan = nullptr,
          .bound_picoseconds = bound * kMillisecond};
}

}  // namespace

PlanCurve small_curve() {
  return {.points = {found(20, 20, 100, 100),
                     found(18, 18, 100, 100),
                     found(16, 15, 104, 104),
                     found(14, 14, 130, 120),
                     {.budget = Bytes(12 * kMiB),
                      .outcome = BudgetOutcome::infeasible,
                      .bound_picoseconds = 120 * kMillisecond}},
          .estimate = {.picoseconds = 100 * kMillisecond, .kernels = 10},
          .floor = Bytes(12 * kMiB),
          .knee = 2};
}

}  // namespace lowtide
