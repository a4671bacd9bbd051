// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lowtide/allocate/exact/fit_search.h"
#include "tests/allocate/problems.h"

namespace lowtide::testing {

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

// A rule of a search that tests can switch off.
template <typename Rules>
struct RuleSwitch {
  const char* name;
  bool Rules::*rule;
};

// The rules without those whose bits are set in `off`.
template <typename Rules, std::size_t kCount>
Rules rules_without(const std::array<RuleSwitch<Rules>, kCount>& switches, unsigned off) {
  Rules rules;
  for (std::size_t at = 0; at < kCount; ++at) rules.*switches[at].rule = ((off >> at) & 1U) == 0;
  return rules;
}

// "without slack nogoods", for messages.
template <typename Rules, std::size_t kCount>
std::string name_without(const std::array<RuleSwitch<Rules>, kCount>& switches, unsigned off) {
  std::string name = "without";
  for (std::size_t at = 0; at < kCount; ++at) {
    if (((off >> at) & 1U) != 0) name += std::string(" ") + switches[at].name;
  }
  return name;
}

constexpr std::array<allocate_internal::CliqueRule, 3> kCliqueRules = {allocate_internal::CliqueRule::fewest_options,
                                                                       allocate_internal::CliqueRule::most_failures,
                                                                       allocate_internal::CliqueRule::least_slack};

struct FitQuestion {
  std::int64_t capacity = 0;
  allocate_internal::CliqueRule clique_rule = allocate_internal::CliqueRule::fewest_options;
  std::int64_t node_limit = kNoLimit;
};

struct FitAnswer {
  allocate_internal::SearchOutcome outcome = allocate_internal::SearchOutcome::undecided;
  std::string defect;  // of the offsets, if the outcome is `fits`
  std::int64_t nodes = 0;
};

// Asks a new search whether the buffers fit the capacity, and checks the offsets. `buffers` is any vector by
// SearchBuffer whose elements have an `id`. The search does not assign fixed buffers.
template <typename Buffers>
FitAnswer ask(allocate_internal::FitSearch& search, const PackingProblem& problem, const Buffers& buffers,
              const FitQuestion& question) {
  using allocate_internal::SearchBuffer;
  search.set_rule(question.clique_rule);
  search.set_capacity(question.capacity);
  FitAnswer answer{.outcome = search.run(question.node_limit, kNoLimit)};
  answer.nodes = search.nodes();
  if (answer.outcome != allocate_internal::SearchOutcome::fits) return answer;
  IdVector<PackingId, Offset> offsets(problem.buffers.size(), Offset(0));
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if (problem.buffers[id].fixed_offset) offsets[id] = *problem.buffers[id].fixed_offset;
  }
  for (SearchBuffer buffer : all_ids<SearchBuffer>(buffers.size())) {
    offsets[buffers[buffer].id] = Offset(search.offset(buffer));
  }
  for (PackingId id : all_ids<PackingId>(offsets.size())) {
    if ((offsets[id] + problem.buffers[id].size).position() > question.capacity) answer.defect = "above the capacity";
  }
  if (answer.defect.empty()) answer.defect = defect_of(problem, offsets);
  return answer;
}

}  // namespace lowtide::testing
