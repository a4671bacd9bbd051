// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/linear/dual_simplex.h"

#include <algorithm>
#include <cmath>

namespace lowtide::budget_internal {
namespace {

constexpr double kTolerance = 1e-9;   // of a value that should be within its bounds
constexpr double kLeastPivot = 1e-7;  // smaller factors would make the tableau inexact
constexpr double kNothing = 1e-13;    // a factor that is taken for 0

}  // namespace

DualSimplex::DualSimplex(std::vector<double> costs)
    : variables_(costs.size()),
      costs_(std::move(costs)),
      factors_(variables_),
      place_(variables_),
      is_basic_(variables_, 0) {
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    columns_.push_back({.label = variable, .reduced = costs_[variable]});
    place_[variable] = variable;
  }
}

std::size_t DualSimplex::add_row(const Terms& terms, double least) {
  Row row{.label = variables_ + rows_, .value = -least};
  factors_.add_row();
  for (const auto& [variable, factor] : terms) {
    row.value += factor * value(variable);
    if (is_basic_[variable] == 0) {
      factors_.add(basis_.size(), place_[variable], factor);
    } else {
      factors_.add_multiple(basis_.size(), place_[variable], factor);
    }
  }
  is_basic_.push_back(1);
  place_.push_back(basis_.size());
  basis_.push_back(row);
  return rows_++;
}

double DualSimplex::value(std::size_t variable) const {
  if (is_basic_[variable] != 0) return basis_[place_[variable]].value;
  return columns_[place_[variable]].is_at_upper ? 1 : 0;
}

double DualSimplex::objective() const {
  double sum = 0;
  for (std::size_t variable = 0; variable < variables_; ++variable) sum += costs_[variable] * value(variable);
  return sum;
}

std::vector<double> DualSimplex::multipliers() const {
  std::vector<double> result(rows_);
  for (const Column& column : columns_) {
    if (is_slack(column.label)) result[column.label - variables_] = std::max(column.reduced, 0.0);
  }
  if (impossible_.empty()) return result;
  double most = 0;
  for (std::size_t variable = 0; variable < variables_; ++variable) most += costs_[variable];
  for (std::size_t row = 0; row < impossible_.size(); ++row) result[row] += impossible_[row] * most;
  return result;
}

bool DualSimplex::find_violation(Violation& found) const {
  double worst = kTolerance;
  bool is_found = false;
  for (std::size_t at = 0; at < basis_.size(); ++at) {
    const Row& row = basis_[at];
    const double below = -row.value;
    const double above = is_slack(row.label) ? 0 : row.value - 1;
    if (std::max(below, above) <= worst) continue;
    worst = std::max(below, above);
    found = {.row = at, .target = below > above ? 0.0 : 1.0};
    is_found = true;
  }
  return is_found;
}

void DualSimplex::flip(std::size_t column) {
  const double change = columns_[column].is_at_upper ? -1 : 1;
  columns_[column].is_at_upper = !columns_[column].is_at_upper;
  for (std::size_t row = 0; row < basis_.size(); ++row) basis_[row].value += change * factors_.at(row, column);
}

bool DualSimplex::choose_column(const Violation& violation, std::size_t& entering, std::int64_t& work) {
  const Row& row = basis_[violation.row];
  const double sign = row.value < violation.target ? 1 : -1;  // the direction in which the value must go
  std::vector<std::pair<double, std::size_t>> candidates;     // ratio and column
  factors_.for_each(violation.row, [&](std::size_t at, double number) {
    const double factor = sign * number;
    if (std::abs(factor) < kLeastPivot || (factor > 0) == columns_[at].is_at_upper) return;
    candidates.emplace_back(std::max(0.0, columns_[at].reduced / factor), at);
  });
  work -= static_cast<std::int64_t>(columns_.size() + 8 * candidates.size());
  std::sort(candidates.begin(), candidates.end());
  double missing = std::abs(violation.target - row.value);
  std::vector<std::size_t> flips;
  for (const auto& [ratio, at] : candidates) {
    const double step = std::abs(factors_.at(violation.row, at));
    if (is_slack(columns_[at].label) || missing - step <= kTolerance) {
      for (std::size_t column : flips) flip(column);
      work -= static_cast<std::int64_t>(flips.size() * basis_.size());
      entering = at;
      return true;
    }
    missing -= step;
    flips.push_back(at);
  }
  // Even with all of these at their other bounds, the row is not satisfied.
  impossible_.assign(rows_, 0);
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (is_slack(columns_[at].label)) {
      impossible_[columns_[at].label - variables_] = std::max(0.0, -sign * factors_.at(violation.row, at));
    }
  }
  if (is_slack(row.label)) impossible_[row.label - variables_] = 1;
  double least_gap = std::max(missing, kTolerance);
  for (double& multiplier : impossible_) multiplier /= least_gap;
  return false;
}

void DualSimplex::pivot(const Violation& violation, std::size_t entering, std::int64_t& work) {
  Row& pivot_row = basis_[violation.row];
  const double pivot_factor = factors_.at(violation.row, entering);
  const double inverse = 1 / pivot_factor;
  const double change = (violation.target - pivot_row.value) / pivot_factor;
  const double entering_value = (columns_[entering].is_at_upper ? 1 : 0) + change;
  for (std::size_t row = 0; row < basis_.size(); ++row) basis_[row].value += change * factors_.at(row, entering);

  pattern_.clear();
  factors_.for_each(violation.row, [&](std::size_t column, double& factor) {
    if (column == entering || std::abs(factor) < kNothing) {
      factor = 0;
      return;
    }
    factor = -factor / pivot_factor;
    pattern_.push_back(column);
  });
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    const double factor = row == violation.row ? 0 : factors_.at(row, entering);
    if (factor == 0) continue;
    factors_.add_multiple(row, violation.row, factor);
    factors_.set(row, entering, factor * inverse);
    work -= static_cast<std::int64_t>(2 * pattern_.size());  // scattered over memory
  }
  factors_.set(violation.row, entering, inverse);
  const double reduced = columns_[entering].reduced;
  for (std::size_t column : pattern_) columns_[column].reduced += reduced * factors_.at(violation.row, column);
  work -= static_cast<std::int64_t>(columns_.size() + basis_.size());

  std::swap(columns_[entering].label, pivot_row.label);
  columns_[entering].reduced = reduced * inverse;
  columns_[entering].is_at_upper = violation.target > 0;
  pivot_row.value = entering_value;
  place_[pivot_row.label] = violation.row;
  is_basic_[pivot_row.label] = 1;
  place_[columns_[entering].label] = entering;
  is_basic_[columns_[entering].label] = 0;
}

DualSimplex::Outcome DualSimplex::solve(std::int64_t& work) {
  impossible_.clear();
  for (Violation violation{}; find_violation(violation);) {
    std::size_t entering = 0;
    if (!choose_column(violation, entering, work)) return Outcome::impossible;
    pivot(violation, entering, work);
    if (work < 0) return Outcome::spent;
  }
  return Outcome::solved;
}

}  // namespace lowtide::budget_internal
