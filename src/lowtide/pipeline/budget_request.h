// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/base/bytes.h"

namespace lowtide {

// How much RAM a run may use, as it is asked for. It travels whole to where graphs and plans are chosen, and only
// limit() becomes the budget of a plan (PlanOptions::budget). plan_purpose.h lists the plans that are made for it.
struct BudgetRequest {
  enum class Kind : std::uint8_t {
    none,       // no limit besides the regions of the target
    bytes,      // at most `most`
    automatic,  // the budget of the knee of the curve (plan_curve.h), which becomes one of kind `bytes`
    curve       // what each of `points` budgets costs; no plan is the answer
  };
  Kind kind = Kind::none;
  Bytes most = Bytes(0);     // of kind `bytes`
  std::int64_t points = 10;  // of the curve

  // The request for a limit of one plan; nullopt: no limit.
  [[nodiscard]] static BudgetRequest of(std::optional<Bytes> most) {
    return most ? BudgetRequest{.kind = Kind::bytes, .most = *most} : BudgetRequest{};
  }

  // The limit of one plan. nullopt if there is none, or if it is not known yet.
  [[nodiscard]] std::optional<Bytes> limit() const { return kind == Kind::bytes ? std::optional(most) : std::nullopt; }
  // Whether the answer needs the plans of a curve.
  [[nodiscard]] bool needs_curve() const { return kind == Kind::automatic || kind == Kind::curve; }

  friend bool operator==(const BudgetRequest&, const BudgetRequest&) = default;
};

}  // namespace lowtide
