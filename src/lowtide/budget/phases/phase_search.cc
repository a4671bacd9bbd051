// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/budget/phases/phase_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace lowtide::budget_internal {
namespace {

constexpr std::uint32_t kDecision = std::uint32_t{1} << 31U;
constexpr double kWhole = 1e-6;  // how far from an integer a value may be
constexpr double kViolated = 1e-7;

double fraction(double value) { return std::abs(value - std::round(value)); }

}  // namespace

PhaseModel::Inequality PhaseSearch::decision(std::uint32_t at, bool is_more) const {
  const ProofCase& here = answer_.proof.cases[at];
  PhaseModel::Inequality result{.terms = {}, .least = is_more ? here.at_most + 1 : -here.at_most};
  for (const PhaseVariable& variable : here.sum) {
    result.terms.emplace_back(model_.number(variable), is_more ? 1 : -1);
  }
  return result;
}

void PhaseSearch::add_row(Program& program, std::uint32_t name, const PhaseModel::Inequality& inequality) const {
  std::int64_t most = 1;
  for (const auto& [variable, factor] : inequality.terms) most = std::max(most, std::abs(factor));
  const auto scale = static_cast<double>(most);
  DualSimplex::Terms terms;
  for (const auto& [variable, factor] : inequality.terms)
    terms.emplace_back(variable, static_cast<double>(factor) / scale);
  program.simplex.add_row(terms, static_cast<double>(inequality.least) / scale);
  program.rows.push_back(name);
  program.scale.push_back(scale);
}

bool PhaseSearch::add_violated_rows(Program& program) {
  bool is_any = false;
  for (std::uint32_t row = 0; row < model_.rows().size(); ++row) {
    if (program.has_row[row] != 0) continue;
    const PhaseModel::Inequality inequality = model_.inequality(model_.rows()[row]);
    double sum = 0;
    for (const auto& [variable, factor] : inequality.terms) {
      sum += static_cast<double>(factor) * program.simplex.value(variable);
    }
    if (sum >= static_cast<double>(inequality.least) - kViolated) continue;
    program.has_row[row] = 1;
    add_row(program, row, inequality);
    is_any = true;
    if (&program == &*root_ || root_->has_row[row] != 0) continue;
    root_->has_row[row] = 1;
    add_row(*root_, row, inequality);
  }
  return is_any;
}

void PhaseSearch::note_leaf(const Program& program, std::uint32_t at) {
  ProofCase leaf;
  std::vector<std::pair<PhaseModel::Inequality, std::int64_t>> extra;
  const std::vector<double> multipliers = program.simplex.multipliers();
  for (std::size_t row = 0; row < multipliers.size(); ++row) {
    const std::uint32_t name = program.rows[row];
    const bool is_memory = name < kDecision && model_.rows()[name].rule == PhaseRule::memory;
    const double most = std::ldexp(1.0, is_memory ? 55 : 61);
    const double exact = std::ldexp(multipliers[row] / program.scale[row], model_.shift());
    const auto times = static_cast<std::int64_t>(std::clamp(std::round(exact), 0.0, most));
    if (times == 0) continue;
    if (name < kDecision) {
      leaf.rows.emplace_back(model_.rows()[name], times);
      continue;
    }
    // The row is the side of this case's ancestor that the case is on.
    bool is_more = false;
    for (std::uint32_t below = at; below != name - kDecision; below = parents_[below].first) {
      is_more = parents_[below].second;
    }
    leaf.decisions.emplace_back(name - kDecision, times);
    extra.emplace_back(decision(name - kDecision, is_more), times);
  }
  std::sort(leaf.rows.begin(), leaf.rows.end());
  std::sort(leaf.decisions.begin(), leaf.decisions.end());
  const std::int64_t bound = model_.bound_of(leaf, extra);
  // Stopping in the middle may leave worse multipliers than those of the case
  // above.
  const std::int64_t above = at == 0 ? -1 : bounds_[parents_[at].first];
  ProofCase& known = answer_.proof.cases[at];
  if (bound >= above || at == 0) {
    known.rows = std::move(leaf.rows);
    known.decisions = std::move(leaf.decisions);
    bounds_[at] = bound;
  } else {
    known.rows = answer_.proof.cases[parents_[at].first].rows;
    known.decisions = answer_.proof.cases[parents_[at].first].decisions;
    bounds_[at] = above;
  }
}

void PhaseSearch::note_solution(const Program& program) {
  std::int64_t cost = 0;
  std::vector<std::vector<char>> keeps(model_.milestones().size(), std::vector<char>(model_.problem().count(), 0));
  for (std::size_t variable = 0; variable < model_.variables().size(); ++variable) {
    if (program.simplex.value(variable) < 0.5) continue;
    const PhaseVariable& chosen = model_.variables()[variable];
    cost += model_.cost(variable);
    if (chosen.kind == PhaseKind::keep) keeps[chosen.phase][chosen.node.index()] = 1;
  }
  if (cost >= limit_) return;
  limit_ = cost;
  answer_.cost = cost;
  answer_.keeps = std::move(keeps);
}

bool PhaseSearch::solve(Program& program, std::uint32_t at, std::int64_t& work) {
  DualSimplex::Outcome outcome = program.simplex.solve(work);
  while (outcome == DualSimplex::Outcome::solved && !is_stopped()) {
    work -= static_cast<std::int64_t>(4 * model_.rows().size());
    if (!add_violated_rows(program)) break;
    outcome = program.simplex.solve(work);
  }
  note_leaf(program, at);
  if (outcome != DualSimplex::Outcome::solved || is_stopped() || bounds_[at] >= limit_) return false;
  std::optional<Split> split = split_of(program);
  if (!split) {
    note_solution(program);
    return false;
  }
  splits_[at] = *std::move(split);
  return true;
}

void PhaseSearch::add_decisions(Program& program, std::uint32_t at) const {
  for (std::uint32_t below = at; below != 0; below = parents_[below].first) {
    add_row(program, kDecision + parents_[below].first, decision(parents_[below].first, parents_[below].second));
  }
}

std::optional<PhaseSearch::Open> PhaseSearch::divide(const Open& here, std::int64_t& work) {
  const auto first = static_cast<std::uint32_t>(answer_.proof.cases.size());
  answer_.proof.cases[here.at].sum = std::move(splits_[here.at].sum);
  answer_.proof.cases[here.at].at_most = splits_[here.at].at_most;
  answer_.proof.cases[here.at].cases = {first, first + 1};
  answer_.proof.cases.resize(first + 2);
  bounds_.resize(first + 2);
  splits_.resize(first + 2);
  std::optional<Open> best;
  for (bool is_more : {false, true}) {
    const std::uint32_t child = first + (is_more ? 1 : 0);
    parents_.emplace_back(here.at, is_more);
    Program program = *root_;
    work -= static_cast<std::int64_t>(program.simplex.rows() * model_.variables().size() / 4);
    add_decisions(program, child);
    if (!solve(program, child, work)) continue;
    const Open open{bounds_[child], here.height - 1, child};
    open_.insert(open);
    if (!best || open < *best) best = open;
  }
  answer_.proof.cases[here.at].rows.clear();
  answer_.proof.cases[here.at].decisions.clear();
  return best;
}

std::optional<PhaseSearch::Split> PhaseSearch::split_of(const Program& program) const {
  using Kind = std::tuple<std::uint32_t, PhaseKind, std::int64_t, std::int64_t>;
  std::map<Kind, std::vector<std::size_t>> kinds;
  std::optional<std::size_t> single;
  double single_score = 0;
  for (std::size_t variable = 0; variable < model_.variables().size(); ++variable) {
    const PhaseVariable& described = model_.variables()[variable];
    const NodeId node = described.node;
    const std::int64_t size = model_.problem().size[node.index()];
    kinds[{described.phase, described.kind, size, model_.problem().cost[node.index()]}].push_back(variable);
    const double off = fraction(program.simplex.value(variable));
    const double score = off * (1 + static_cast<double>(model_.problem().cost[node.index()]));
    if (off <= kWhole || score <= single_score) continue;
    single = variable;
    single_score = score;
  }
  if (!single) return std::nullopt;
  const std::vector<std::size_t>* best = nullptr;
  double best_sum = 0;
  double best_score = 0;
  for (const auto& [kind, members] : kinds) {
    double sum = 0;
    for (std::size_t variable : members) sum += program.simplex.value(variable);
    const double score =
        fraction(sum) * (1 + static_cast<double>(std::get<3>(kind))) * (std::get<1>(kind) == PhaseKind::rerun ? 2 : 1);
    if (fraction(sum) <= kWhole || score <= best_score) continue;
    best = &members;
    best_sum = sum;
    best_score = score;
  }
  Split split;
  if (best == nullptr) {
    split.sum = {model_.variables()[*single]};
    return split;
  }
  for (std::size_t variable : *best) split.sum.push_back(model_.variables()[variable]);
  std::sort(split.sum.begin(), split.sum.end());
  split.at_most = static_cast<std::int64_t>(std::floor(best_sum));
  return split;
}

bool PhaseSearch::begin(std::int64_t& work) {
  std::vector<double> costs;
  for (std::size_t variable = 0; variable < model_.variables().size(); ++variable) {
    costs.push_back(static_cast<double>(model_.cost(variable)));
  }
  answer_.proof.shift = model_.shift();
  for (RunProblem::Index node : model_.milestones()) answer_.proof.milestones.push_back(NodeId(node));
  answer_.proof.cases.resize(1);
  bounds_.assign(1, 0);
  splits_.resize(1);
  parents_.assign(1, {0, false});
  root_ = Program{DualSimplex(std::move(costs)), {}, {}, std::vector<char>(model_.rows().size(), 0)};
  return solve(*root_, 0, work);
}

std::optional<std::vector<std::vector<double>>> PhaseSearch::relax(std::int64_t& work) {
  if (!begin(work) && !answer_.cost) return std::nullopt;
  std::vector<std::vector<double>> keeps(model_.milestones().size(), std::vector<double>(model_.problem().count(), 0));
  for (std::size_t variable = 0; variable < model_.variables().size(); ++variable) {
    const PhaseVariable& described = model_.variables()[variable];
    if (described.kind != PhaseKind::keep) continue;
    keeps[described.phase][described.node.index()] = root_->simplex.value(variable);
  }
  return keeps;
}

PhaseAnswer PhaseSearch::search(std::int64_t& work) {
  if (begin(work)) open_.insert({bounds_[0], 0, 0});
  // From the case with the least bound, down to a solution or to where none is
  // left, and back again.
  std::optional<Open> next;
  while (!open_.empty() && work > 0 && !is_stopped()) {
    if (!next) next = *open_.begin();
    open_.erase(*next);
    if (next->bound >= limit_) {
      next.reset();
      continue;
    }
    next = divide(*next, work);
  }
  answer_.bound = limit_;
  for (std::size_t at = 0; at < bounds_.size(); ++at) {
    if (answer_.proof.cases[at].sum.empty()) answer_.bound = std::min(answer_.bound, bounds_[at]);
  }
  return std::move(answer_);
}

}  // namespace lowtide::budget_internal
