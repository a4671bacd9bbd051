// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/rematerialize/phases/phase_model.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lowtide/base/check.h"

namespace lowtide::rematerialize_internal {
namespace {

// More bits would not fit multipliers of costs into 62 bits, or multipliers of
// sizes into 55.
constexpr int kMostShift = 45;
constexpr int kMultiplierBits = 61;
constexpr std::int64_t kImpossible = std::int64_t{1} << 61;

NodeId id_of(RunProblem::Index node) { return NodeId(node); }

}  // namespace

PhaseModel::PhaseModel(const RunProblem& problem, std::vector<Index> milestones, const std::vector<Index>* order)
    : problem_(problem), milestones_(std::move(milestones)) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(problem.base_cost)));
  shift_ = std::clamp(kMultiplierBits - bits, 0, kMostShift);
  for (std::int64_t cost : problem.cost) unit_ = std::gcd(unit_, cost);
  unit_ = std::max<std::int64_t>(unit_, 1);
  for (std::size_t phase = 0; phase < milestones_.size(); ++phase) find_nodes(phase, order);
  for (std::uint32_t phase = 0; phase < milestones_.size(); ++phase) find_rows(phase);
}

void PhaseModel::find_nodes(std::size_t phase, const std::vector<Index>* order) {
  const Index milestone = milestones_[phase];
  std::vector<char> is_before(problem_.count(), 0);
  std::vector<char>& is_after = is_after_.emplace_back(problem_.count(), 0);
  if (order != nullptr) {
    bool is_past = false;
    for (Index node : *order) {
      if (node == milestone) {
        is_past = true;
      } else {
        (is_past ? is_after : is_before)[node] = 1;
      }
    }
  } else {
    std::vector<Index> open = {milestone};
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      for (Index input : problem_.inputs(node)) {
        if (std::exchange(is_before[input], char{1}) == 0) open.push_back(input);
      }
    }
    open = {milestone};
    while (!open.empty()) {
      const Index node = open.back();
      open.pop_back();
      for (Index reader : problem_.readers(node)) {
        if (std::exchange(is_after[reader], char{1}) == 0) open.push_back(reader);
      }
    }
  }
  std::vector<std::size_t>& numbers = number_.emplace_back(problem_.count(), kNone);
  for (Index node = 0; node < problem_.count(); ++node) {
    if (is_before[node] == 0) continue;
    numbers[node] = variables_.size() / 2;
    for (bool is_rerun : {false, true}) {
      variables_.push_back({.phase = static_cast<std::uint32_t>(phase), .is_rerun = is_rerun, .node = id_of(node)});
    }
  }
}

void PhaseModel::find_rows(std::uint32_t phase) {
  rows_.push_back({.rule = PhaseRule::memory, .phase = phase, .node = {}, .reader = {}});
  const Index milestone = milestones_[phase];
  for (Index node = 0; node < problem_.count(); ++node) {
    if (!is_before(phase, node)) continue;
    const auto add = [&](PhaseRule rule, Index reader) {
      rows_.push_back({.rule = rule, .phase = phase, .node = id_of(node), .reader = id_of(reader)});
    };
    for (Index reader : problem_.readers(node)) {
      if (reader == milestone) {
        add(PhaseRule::read, 0);
      } else if (is_after_[phase][reader] != 0) {
        // A later milestone before the reader says the same, and more.
        const bool is_later = phase + 1 < milestones_.size() && is_after_[phase + 1][reader] != 0;
        if (!is_later) add(PhaseRule::need, reader);
      } else if (is_before(phase, reader)) {
        add(PhaseRule::rerun_input, reader);
      }
    }
    const bool is_last = phase + 1 == milestones_.size();
    if (!is_last) add(PhaseRule::carry, 0);
    if (is_last && problem_.is_output[node] != 0) add(PhaseRule::result, 0);
    if (problem_.runs_once[node] != 0) add(PhaseRule::once, 0);
  }
}

std::int64_t PhaseModel::cost(std::size_t variable) const {
  const PhaseVariable& described = variables_[variable];
  return described.is_rerun ? problem_.cost[described.node.index()] : 0;
}

std::size_t PhaseModel::last_phase_of(Index node, std::size_t phase) const {
  for (std::size_t next = phase + 1; next < milestones_.size(); ++next) {
    if (milestones_[next] == node || is_before(next, node)) return next - 1;
  }
  return milestones_.size() - 1;
}

PhaseModel::Inequality PhaseModel::kept_or_rerun(const PhaseRow& row, std::size_t last) const {
  Inequality result{.terms = {{number(row.phase, false, row.node.value()), 1}}, .least = 1};
  for (std::size_t phase = row.phase; phase <= last; ++phase) {
    result.terms.emplace_back(number(static_cast<std::uint32_t>(phase), true, row.node.value()), 1);
  }
  return result;
}

PhaseModel::Inequality PhaseModel::inequality(const PhaseRow& row) const {
  switch (row.rule) {
    case PhaseRule::memory: {
      Inequality result{.terms = {}, .least = problem_.own_load[milestones_[row.phase]] - problem_.budget};
      for (Index node = 0; node < problem_.count(); ++node) {
        if (is_before(row.phase, node) && problem_.size[node] > 0) {
          result.terms.emplace_back(number(row.phase, false, node), -problem_.size[node]);
        }
      }
      return result;
    }
    case PhaseRule::read: return {.terms = {{number(row.phase, false, row.node.value()), 1}}, .least = 1};
    case PhaseRule::need: return kept_or_rerun(row, last_phase_of(row.reader.value(), row.phase));
    case PhaseRule::result: return kept_or_rerun(row, milestones_.size() - 1);
    case PhaseRule::rerun_input: {
      Inequality result = kept_or_rerun(row, row.phase);
      result.terms.emplace_back(number(row.phase, true, row.reader.value()), -1);
      result.least = 0;
      return result;
    }
    case PhaseRule::carry: {
      Inequality result = kept_or_rerun(row, row.phase);
      result.terms.emplace_back(number(row.phase + 1, false, row.node.value()), -1);
      result.least = 0;
      return result;
    }
    case PhaseRule::once: return {.terms = {{number(row.phase, true, row.node.value()), -1}}, .least = 0};
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

}  // namespace lowtide::rematerialize_internal
