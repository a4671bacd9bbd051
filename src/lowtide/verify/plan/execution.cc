// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

class Execution {
 public:
  explicit Execution(const Subject& subject) : subject_(subject), program_(subject.plan.program) {}

  void check() {
    find_previous();
    switch (subject_.plan.execution) {
      case ExecutionModel::sequence: return check_sequence();
      case ExecutionModel::streams: return;  // streams and waits are what the plan says
      case ExecutionModel::waves: return check_waves();
      case ExecutionModel::dataflow: return check_dataflow();
    }
  }

 private:
  void wrong(StepId step, const std::string& message) {
    subject_.findings.add(
        {.kind = ViolationKind::wrong_claim, .step = step, .message = name_of(subject_, step) + " " + message});
  }

  void find_previous() {
    IdVector<StreamId, std::optional<StepId>> last(program_.streams.size());
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      previous_.push_back(std::exchange(last[program_.steps[id].stream], id));
    }
  }

  void check_sequence() {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      const StreamId stream = program_.steps[id].stream;
      const StreamId first = program_.steps[StepId(0)].stream;
      if (stream == first) continue;
      return wrong(id, "runs on stream " + std::to_string(stream.value()) + ", and step 0 on stream " +
                           std::to_string(first.value()) + "; with execution 'sequence' there is one stream");
    }
  }

  // Calls `function` for each step that must end right before the step: the previous one of its stream, and its waits.
  template <typename Function>
  void for_each_before(StepId id, const Function& function) const {
    if (previous_[id]) function(*previous_[id]);
    for (StepId before : program_.steps[id].after) function(before);
  }

  // A step is one wave later than the latest step before it. It must come right after all steps of the previous wave.
  void check_waves() {
    IdVector<StepId, std::uint32_t> wave(subject_.steps(), 0);
    std::vector<std::uint32_t> sizes(subject_.steps(), 0);  // by wave
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      for_each_before(id, [&](StepId before) { wave[id] = std::max(wave[id], wave[before] + 1); });
      ++sizes[wave[id]];
    }
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (wave[id] == 0) continue;
      std::uint32_t found = 0;
      for_each_before(id, [&](StepId before) { found += wave[before] + 1 == wave[id] ? 1 : 0; });
      if (found == sizes[wave[id] - 1]) continue;
      return wrong(id, "of wave " + std::to_string(wave[id]) + " waits for " + std::to_string(found) + " of the " +
                           std::to_string(sizes[wave[id] - 1]) +
                           " steps of the wave before; with execution 'waves' each step waits for all of them");
    }
  }

  // An executor of dataflow starts a node when the steps that write its operands, and its control inputs, have ended.
  // So streams and waits may order nothing else. Copies are not nodes, so they start as their waits say.
  void check_dataflow() {
    IdVector<NodeId, std::optional<StepId>> first(subject_.graph.nodes().size());
    IdVector<StepId, std::vector<StepId>> sources(subject_.steps());
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      sources[id] = sources_of(id, first);
      const std::optional<NodeId> node = node_of(program_.steps[id]);
      if (node && !first[*node]) first[*node] = id;
    }
    for (StreamId stream : all_ids<StreamId>(program_.streams.size())) {
      if (!check_stream(stream, sources)) return;
    }
  }

  std::vector<StepId> sources_of(StepId id, const IdVector<NodeId, std::optional<StepId>>& first) const {
    std::vector<StepId> sources;
    const std::optional<NodeId> node = node_of(program_.steps[id]);
    if (!node) {
      for_each_before(id, [&](StepId before) { sources.push_back(before); });
      return sources;
    }
    for (ValueId read : program_.steps[id].reads) {
      const std::optional<StepId>& written = program_.values[read].written;
      if (written && *written < id) sources.push_back(*written);  // a later one was reported with the data flow
    }
    for (NodeId before : subject_.graph.node(*node).control_inputs) {
      if (first[before]) sources.push_back(*first[before]);
    }
    return sources;
  }

  // Checks that waits for steps of the stream, and the order of the stream itself, follow from `sources`. If they do,
  // it is enough to know for each step the latest step of the stream that comes before it. Returns false otherwise.
  bool check_stream(StreamId stream, const IdVector<StepId, std::vector<StepId>>& sources) {
    IdVector<StepId, std::uint32_t> known(subject_.steps(), 0);  // 1 + the latest step of the stream that comes before
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      for (StepId source : sources[id]) {
        const bool is_inside = program_.steps[source].stream == stream;
        known[id] = std::max(known[id], is_inside ? source.value() + 1 : known[source]);
      }
      std::optional<StepId> extra;
      for_each_before(id, [&](StepId before) {
        if (program_.steps[before].stream == stream && before.value() >= known[id]) extra = before;
      });
      if (!extra) continue;
      wrong(id, "comes after " + name_of(subject_, *extra) +
                    " by its stream or a wait, but not by the graph; with execution 'dataflow' only the graph orders "
                    "nodes");
      return false;
    }
    return true;
  }

  const Subject& subject_;
  const Program& program_;
  IdVector<StepId, std::optional<StepId>> previous_;  // of the same stream
};

}  // namespace

void check_execution(const Subject& subject) { Execution(subject).check(); }

}  // namespace lowtide::verify_internal
