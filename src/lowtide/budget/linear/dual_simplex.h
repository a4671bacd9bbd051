// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lowtide/budget/linear/blocked_rows.h"

namespace lowtide::budget_internal {

// A linear program: minimize the sum of cost * variable, where each variable is in [0, 1] and each row says that a sum
// of factor * variable is at least a number.
//
// It is solved by the dual simplex method with bounded variables and long steps (Lemke 1954; Kostina 2002 on the ratio
// test that flips bounds). With costs >= 0, all variables at 0 are a first dual feasible basis, and an added row keeps
// the basis dual feasible. So rows can be added when they are violated, and a solution after that takes few steps. A
// step touches only columns and rows of the tableau that are not 0.
//
// Arithmetic is in doubles, so no result is a proof. Multipliers are rounded to integers and judged exactly elsewhere.
class DualSimplex {
 public:
  enum class Outcome : std::uint8_t { solved, impossible, spent };
  using Terms = std::vector<std::pair<std::size_t, double>>;  // variable and factor, each variable once

  // Requires: all costs are >= 0.
  explicit DualSimplex(std::vector<double> costs);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  // The sum of the terms is at least `least`. Returns the number of the row.
  std::size_t add_row(const Terms& terms, double least);
  // Subtracts what it does from `work`, about 1 ns per unit, and stops if that becomes negative.
  Outcome solve(std::int64_t& work);

  [[nodiscard]] double value(std::size_t variable) const;
  [[nodiscard]] double objective() const;
  // By row, >= 0: the multipliers that prove the objective. If the outcome was `impossible`, a sum of rows that no
  // values satisfy is added to them, in any amount.
  [[nodiscard]] std::vector<double> multipliers() const;

 private:
  struct Column {
    std::size_t label;  // a variable, or variables_ + the slack of a row
    double reduced = 0;
    bool is_at_upper = false;
  };
  struct Row {
    std::size_t label;
    double value = 0;
  };
  struct Violation {
    std::size_t row;
    double target;  // the bound that its value must reach
  };

  [[nodiscard]] bool is_slack(std::size_t label) const { return label >= variables_; }
  [[nodiscard]] bool find_violation(Violation& found) const;
  // Returns the column that enters the basis, after those before it have flipped to their other bound; none if the
  // row is impossible.
  [[nodiscard]] bool choose_column(const Violation& violation, std::size_t& entering, std::int64_t& work);
  void flip(std::size_t column);
  void pivot(const Violation& violation, std::size_t entering, std::int64_t& work);

  std::size_t variables_;
  std::size_t rows_ = 0;
  std::vector<double> costs_;
  std::vector<Column> columns_;
  std::vector<Row> basis_;
  BlockedRows factors_;               // by row and column: label = constant + sum of factors * (labels of columns)
  std::vector<std::size_t> place_;    // by label: its column, or its row
  std::vector<char> is_basic_;        // by label
  std::vector<std::size_t> pattern_;  // columns of the pivot row that are not 0, except the entering one
  std::vector<double> impossible_;    // by row: the multipliers of an impossible sum
};

}  // namespace lowtide::budget_internal
