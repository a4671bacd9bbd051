// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/pipeline/sequence/region_proof.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "lowtide/pipeline/task/capacity.h"
#include "lowtide/share/load.h"

namespace lowtide::pipeline_internal {
namespace {

class Distribution {
 public:
  Distribution(std::vector<Bytes> items, std::vector<Bytes> left) : items_(std::move(items)), left_(std::move(left)) {
    std::sort(items_.begin(), items_.end(), std::greater<>());
  }

  std::optional<bool> decide() {
    if (is_possible(0)) return true;
    return states_ > kMostPackingStates ? std::nullopt : std::optional(false);
  }

 private:
  // Recursion is bounded by kMostPackingItems.
  bool is_possible(std::size_t item) {
    if (item == items_.size()) return true;
    if (++states_ > kMostPackingStates) return false;
    for (std::size_t bin = 0; bin < left_.size(); ++bin) {
      // Bins with equal space are interchangeable.
      const auto end = left_.begin() + static_cast<std::ptrdiff_t>(bin);
      if (left_[bin] < items_[item] || std::find(left_.begin(), end, left_[bin]) != end) continue;
      left_[bin] -= items_[item];
      if (is_possible(item + 1)) return true;
      left_[bin] += items_[item];
    }
    return false;
  }

  std::vector<Bytes> items_;
  std::vector<Bytes> left_;
  int states_ = 0;
};

class RegionProofs {
 public:
  RegionProofs(const Task& task, const Sequence& sequence, std::vector<Bytes> capacities)
      : graph_(task.graph),
        least_(sequence.choice.kernels.least(BoundScope::run_once)),
        options_(bound_options(task.aliases)),
        capacities_(std::move(capacities)) {}

  // A tensor that is larger than every region.
  std::optional<RegionProof> of_one_tensor() {
    const Bytes largest = *std::max_element(capacities_.begin(), capacities_.end());
    std::vector<TensorId> tensors;
    for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
      if (graph_.tensor(id).producer && graph_.tensor(id).size > largest) tensors.push_back(id);
    }
    std::stable_sort(tensors.begin(), tensors.end(),
                     [&](TensorId a, TensorId b) { return graph_.tensor(a).size > graph_.tensor(b).size; });
    if (tensors.size() > kProofNodes) tensors.resize(kProofNodes);
    for (TensorId id : tensors) {
      // A reader comes first, because at its producer a tensor may be in the bytes of an operand.
      std::vector<NodeId> nodes(graph_.readers(id).begin(), graph_.readers(id).end());
      if (nodes.size() > 1) nodes.resize(1);
      nodes.push_back(*graph_.tensor(id).producer);
      for (NodeId node : nodes) {
        const std::vector<LiveSet::Member> live = whole_tensors(live_set(graph_, least_, node, options_));
        if (std::any_of(live.begin(), live.end(), [&](const LiveSet::Member& one) { return one.tensor == id; }))
          return RegionProof{.node = std::nullopt, .tensors = {id}, .scratch = Bytes(0)};
      }
    }
    return std::nullopt;
  }

  // nullopt: at the end of the run.
  std::optional<RegionProof> at(std::optional<NodeId> node) {
    const LiveSet live = live_set(graph_, least_, node, options_);
    RegionProof proof{.node = node, .tensors = {}, .scratch = live.scratch};
    std::vector<Bytes> items;
    if (live.scratch > Bytes(0)) items.push_back(live.scratch);
    for (const LiveSet::Member& member : whole_tensors(live)) {
      if (items.size() == kMostPackingItems) break;
      items.push_back(graph_.tensor(member.tensor).size);
      proof.tensors.push_back(member.tensor);
    }
    if (can_distribute(items, capacities_) != false) return std::nullopt;
    return proof;
  }

 private:
  // A tensor that shares bytes with another live one does not need bytes of its own.
  [[nodiscard]] std::vector<LiveSet::Member> whole_tensors(const LiveSet& live) const {
    std::vector<LiveSet::Member> whole;
    for (const LiveSet::Member& member : live.tensors) {
      if (member.bytes >= graph_.tensor(member.tensor).size) whole.push_back(member);
    }
    return whole;
  }

  const Graph& graph_;
  const ChosenKernels& least_;
  BoundOptions options_;
  std::vector<Bytes> capacities_;
};

// nullopt if a region has no limit.
std::optional<std::vector<Bytes>> capacities_of(const Task& task) {
  std::vector<Bytes> capacities;
  for (RegionId id : writable_regions(task.target.machine, kWorker)) {
    const std::optional<Bytes> capacity = capacity_for_arena(task.target.machine, id, task.weights);
    if (!capacity) return std::nullopt;
    capacities.push_back(*capacity);
  }
  return capacities;
}

}  // namespace

std::optional<bool> can_distribute(std::vector<Bytes> items, const std::vector<Bytes>& capacities) {
  return Distribution(std::move(items), capacities).decide();
}

std::optional<RegionProof> region_proof(const Task& task, const Sequence& sequence) {
  std::optional<std::vector<Bytes>> capacities = capacities_of(task);
  if (!capacities || capacities->size() < 2) return std::nullopt;
  RegionProofs proofs(task, sequence, *std::move(capacities));
  if (std::optional<RegionProof> proof = proofs.of_one_tensor()) return proof;
  const Schedule& schedule = sequence.placed.schedule;
  const std::vector<Bytes> profile =
      load_profile(schedule.aliases, sequence.choice.kernels.planned, schedule.order, task.aliases);
  std::vector<std::size_t> steps(schedule.order.size());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  std::stable_sort(steps.begin(), steps.end(), [&](std::size_t a, std::size_t b) { return profile[a] > profile[b]; });
  if (steps.size() > kProofNodes) steps.resize(kProofNodes);
  for (std::size_t step : steps) {
    if (std::optional<RegionProof> proof = proofs.at(schedule.order[step])) return proof;
  }
  return proofs.at(std::nullopt);
}

}  // namespace lowtide::pipeline_internal
