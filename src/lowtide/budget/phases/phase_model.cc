// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/phase_model.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lowtide/base/check.h"

namespace lowtide::budget_internal {
namespace {

// More bits would not fit multipliers of costs into 62 bits, or multipliers of
// sizes into 55.
constexpr int kMostShift = 45;
constexpr int kMultiplierBits = 61;
constexpr std::int64_t kImpossible = std::int64_t{1} << 61;

NodeId id_of(RunProblem::Index node) { return NodeId(node); }

}  // namespace

PhaseModel::PhaseModel(const RunProblem& problem, std::vector<Index> milestones, const std::vector<Index>* order,
                       bool with_aside, std::vector<std::int64_t> reserved)
    : problem_(problem), milestones_(std::move(milestones)), with_aside_(with_aside), reserved_(std::move(reserved)) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(problem.base_cost)));
  shift_ = std::clamp(kMultiplierBits - bits, 0, kMostShift);
  for (std::int64_t cost : problem.cost) unit_ = std::gcd(unit_, cost);
  unit_ = std::max<std::int64_t>(unit_, 1);
  for (std::uint32_t phase = 0; phase < milestones_.size(); ++phase) {
    find_sides(phase, order);
    find_variables(phase);
  }
  for (std::uint32_t phase = 0; phase < milestones_.size(); ++phase) find_rows(phase);
}

void PhaseModel::find_sides(std::size_t phase, const std::vector<Index>* order) {
  const Index milestone = milestones_[phase];
  std::vector<Side>& side = side_.emplace_back(problem_.count(), Side::aside);
  side[milestone] = Side::at;
  if (order != nullptr) {
    bool is_past = false;
    for (Index node : *order) {
      if (node != milestone) side[node] = is_past ? Side::after : Side::before;
      is_past = is_past || node == milestone;
    }
    return;
  }
  for (Side reached : {Side::before, Side::after}) {
    std::vector<Index> open = {milestone};
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      const auto reach = [&](Index next) {
        if (std::exchange(side[next], reached) != reached) open.push_back(next);
      };
      if (reached == Side::before) {
        for (Index input : problem_.inputs(node)) reach(problem_.owner(input));
      } else {
        problem_.for_each_entry(node, [&](Index entry) {
          for (Index reader : problem_.readers(entry)) reach(reader);
        });
      }
    }
  }
}

void PhaseModel::find_variables(std::uint32_t phase) {
  std::vector<std::size_t>& numbers = number_.emplace_back(problem_.count(), kNone);
  for (Index node = 0; node < problem_.count(); ++node) {
    const Index run = problem_.owner(node);
    if (run == RunProblem::kNone) continue;
    const bool is_aside = side_[phase][run] == Side::aside;
    if (!is_before(phase, run) && !(is_aside && with_aside_)) continue;
    numbers[node] = variables_.size();
    variables_.push_back({.phase = phase, .kind = PhaseKind::keep, .node = id_of(node)});
    if (run != node) continue;
    variables_.push_back({.phase = phase, .kind = PhaseKind::rerun, .node = id_of(node)});
    if (!is_aside) continue;
    variables_.push_back({.phase = phase, .kind = PhaseKind::ran, .node = id_of(node)});
    has_aside_ = true;
  }
}

void PhaseModel::find_rows(std::uint32_t phase) {
  rows_.push_back({.rule = PhaseRule::memory, .phase = phase, .node = {}, .reader = {}});
  const bool is_last = phase + 1 == milestones_.size();
  for (Index node = 0; node < problem_.count(); ++node) {
    if (!has_variables(phase, node)) continue;
    for (Index reader : problem_.readers(node)) find_read_rows(phase, node, reader);
    const Index run = problem_.owner(node);
    const auto add = [&](PhaseRule rule) {
      rows_.push_back({.rule = rule, .phase = phase, .node = id_of(node), .reader = id_of(0)});
    };
    if (!is_last && has_variables(phase + 1, node)) add(PhaseRule::carry);
    if (run == node && !is_last && has_ran(phase, run) && has_ran(phase + 1, run)) add(PhaseRule::stay_run);
    if ((is_last || has_ran(phase, run)) && problem_.is_output[node] != 0) add(PhaseRule::result);
    if (run == node && never_again(phase, run)) add(PhaseRule::once);
  }
}

bool PhaseModel::never_again(std::uint32_t phase, Index run) const {
  if (problem_.runs_once[run] != 0) return true;
  const auto writers = problem_.writers_after(run);
  return std::any_of(writers.begin(), writers.end(), [&](Index writer) {
    return side_[phase][writer] == Side::at || side_[phase][writer] == Side::before;
  });
}

void PhaseModel::find_read_rows(std::uint32_t phase, Index entry, Index reader) {
  const auto add = [&](PhaseRule rule) {
    rows_.push_back({.rule = rule, .phase = phase, .node = id_of(entry), .reader = id_of(reader)});
  };
  const Index run = problem_.owner(entry);
  const Side side = side_[phase][reader];
  if (side == Side::at) return add(PhaseRule::read);
  if (has_variables(phase, reader)) add(PhaseRule::rerun_input);
  if (has_ran(phase, run) && has_ran(phase, reader)) add(PhaseRule::first_read);
  // A later milestone before the reader says the same, and more.
  const bool is_later =
      is_before(phase, run) && phase + 1 < milestones_.size() && side_[phase + 1][reader] == Side::after;
  if ((side == Side::after && !is_later) || has_ran(phase, reader)) add(PhaseRule::need);
}

std::int64_t PhaseModel::cost(std::size_t variable) const {
  const PhaseVariable& described = variables_[variable];
  return described.kind == PhaseKind::rerun ? problem_.cost[described.node.index()] : 0;
}

std::size_t PhaseModel::last_phase_of(Index node, std::size_t phase) const {
  for (std::size_t next = phase + 1; next < milestones_.size(); ++next) {
    if (milestones_[next] == node || is_before(next, node)) return next - 1;
  }
  return milestones_.size() - 1;
}

void PhaseModel::add_ran(Inequality& inequality, std::uint32_t phase, NodeId node, std::int64_t factor) const {
  if (has_ran(phase, node.value())) {
    inequality.terms.emplace_back(number({.phase = phase, .kind = PhaseKind::ran, .node = node}), factor);
  } else if (is_before(phase, node.value())) {
    inequality.least -= factor;
  }
}

// keep + rerun in the phases up to `last` >= 0.
PhaseModel::Inequality PhaseModel::kept_or_rerun(const PhaseRow& row, std::size_t last) const {
  Inequality result{.terms = {{number({.phase = row.phase, .kind = PhaseKind::keep, .node = row.node}), 1}}};
  for (auto phase = row.phase; phase <= last; ++phase) {
    if (!has_variables(phase, row.node.value())) continue;
    result.terms.emplace_back(number({.phase = phase, .kind = PhaseKind::rerun, .node = owner(row.node)}), 1);
  }
  return result;
}

PhaseModel::Inequality PhaseModel::memory(std::uint32_t phase) const {
  const std::int64_t reserved = reserved_.empty() ? 0 : reserved_[phase];
  Inequality result{.terms = {}, .least = problem_.own_load[milestones_[phase]] - problem_.budget + reserved};
  for (Index node = 0; node < problem_.count(); ++node) {
    if (!has_variables(phase, node) || problem_.size[node] == 0) continue;
    const PhaseVariable keep{.phase = phase, .kind = PhaseKind::keep, .node = id_of(node)};
    result.terms.emplace_back(number(keep), -problem_.size[node]);
  }
  return result;
}

PhaseModel::Inequality PhaseModel::between_ran(const PhaseRow& row) const {
  const bool is_read = row.rule == PhaseRule::first_read;
  const PhaseVariable from{.phase = row.phase, .kind = PhaseKind::ran, .node = is_read ? row.reader : row.node};
  const PhaseVariable to{.phase = is_read ? row.phase : row.phase + 1, .kind = PhaseKind::ran, .node = owner(row.node)};
  return {.terms = {{number(to), 1}, {number(from), -1}}};
}

PhaseModel::Inequality PhaseModel::inequality(const PhaseRow& row) const {
  const PhaseVariable keep{.phase = row.phase, .kind = PhaseKind::keep, .node = row.node};
  switch (row.rule) {
    case PhaseRule::memory: return memory(row.phase);
    case PhaseRule::read: return {.terms = {{number(keep), 1}}, .least = 1};
    case PhaseRule::need: {
      Inequality result = kept_or_rerun(row, last_phase_of(row.reader.value(), row.phase));
      add_ran(result, row.phase, row.reader, 1);
      add_ran(result, row.phase, owner(row.node), -1);
      return result;
    }
    case PhaseRule::result: {
      Inequality result = kept_or_rerun(row, milestones_.size() - 1);
      add_ran(result, row.phase, owner(row.node), -1);
      return result;
    }
    case PhaseRule::rerun_input: {
      Inequality result = kept_or_rerun(row, row.phase);
      result.terms.emplace_back(number({.phase = row.phase, .kind = PhaseKind::rerun, .node = row.reader}), -1);
      return result;
    }
    case PhaseRule::carry: {
      Inequality result = kept_or_rerun(row, row.phase);
      result.terms.emplace_back(number({.phase = row.phase + 1, .kind = PhaseKind::keep, .node = row.node}), -1);
      result.least = -1;
      add_ran(result, row.phase, owner(row.node), -1);
      return result;
    }
    case PhaseRule::once: return {.terms = {{number({row.phase, PhaseKind::rerun, row.node}), -1}}, .least = 0};
    case PhaseRule::first_read:
    case PhaseRule::stay_run: return between_ran(row);
  }
  LOWTIDE_CHECK(false, "each rule has an inequality");
  return {};
}

std::int64_t PhaseModel::bound_of(const ProofCase& leaf,
                                  const std::vector<std::pair<Inequality, std::int64_t>>& extra) const {
  std::vector<Int128> sums(variables_.size());
  Int128 least = 0;
  const auto add = [&](const Inequality& inequality, std::int64_t times) {
    for (const auto& [variable, factor] : inequality.terms) sums[variable] += Int128{factor} * times;
    least += Int128{inequality.least} * times;
  };
  for (const auto& [row, times] : leaf.rows) add(inequality(row), times);
  for (const auto& [decision, times] : extra) add(decision, times);
  for (std::size_t variable = 0; variable < variables_.size(); ++variable) {
    least += std::min<Int128>(0, (Int128{cost(variable)} << shift_) - sums[variable]);
  }
  if (least <= 0) return 0;
  const Int128 unit = Int128{unit_} << shift_;
  return static_cast<std::int64_t>(std::min<Int128>((least + unit - 1) / unit * unit_, kImpossible));
}

}  // namespace lowtide::budget_internal
