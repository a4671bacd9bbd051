// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <string>
#include <utility>

#include "lowtide/verify/stages.h"

namespace lowtide::verification {
namespace {

class Program {
 public:
  explicit Program(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        step_of_(subject.graph.nodes().size()),
        is_written_(plan_.values.size(), 0) {}

  void check() {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      check_repeated(id);
      check_reads(id);
      check_writes(id);
    }
    for (NodeId id : all_ids<NodeId>(subject_.graph.nodes().size())) {
      if (subject_.findings.is_full()) return;
      check_node(id);
    }
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (subject_.findings.is_full()) return;
      check_value(id);
    }
  }

 private:
  void wrong(ViolationKind kind, std::optional<StepId> step, std::vector<TensorId> tensors, std::string message) {
    subject_.findings.add({.kind = kind, .step = step, .tensors = std::move(tensors), .message = std::move(message)});
  }

  void check_repeated(StepId id) {
    std::optional<StepId>& first = step_of_[plan_.program[id].node];
    if (first) {
      wrong(ViolationKind::repeated_step, id, {},
            name_of(subject_, id) + " runs a node that step " + std::to_string(first->value()) + " runs already");
    } else {
      first = id;
    }
  }

  void check_list(StepId id, const char* verb, const std::vector<ValueId>& values, std::span<const TensorId> expected) {
    if (values.size() != expected.size()) {
      wrong(ViolationKind::data_flow, id, {},
            name_of(subject_, id) + " " + verb + " " + std::to_string(values.size()) + " values, its node " +
                std::to_string(expected.size()) + " tensors");
      return;
    }
    for (std::size_t at = 0; at < values.size() && !subject_.findings.is_full(); ++at) {
      const TensorId tensor = plan_.values[values[at]].tensor;
      if (tensor == expected[at]) continue;
      wrong(ViolationKind::data_flow, id, {tensor, expected[at]},
            name_of(subject_, id) + " " + verb + " " + name_of(subject_, tensor) + " where its node " + verb + " " +
                name_of(subject_, expected[at]));
    }
  }

  void check_reads(StepId id) {
    const Step& step = plan_.program[id];
    check_list(id, "reads", step.reads, subject_.graph.reads(step.node));
    for (ValueId read : step.reads) {
      const Value& value = plan_.values[read];
      if (!value.written || *value.written < id || subject_.findings.is_full()) continue;
      wrong(ViolationKind::data_flow, id, {value.tensor},
            name_of(subject_, id) + " reads " + name_of(subject_, value.tensor) + ", which is not there before " +
                name_of(subject_, *value.written) + " is done");
    }
  }

  void check_writes(StepId id) {
    const Step& step = plan_.program[id];
    std::vector<TensorId> outputs;
    for (const std::optional<TensorId>& output : subject_.graph.node(step.node).outputs) {
      if (output) outputs.push_back(*output);
    }
    check_list(id, "writes", step.writes, outputs);
    for (ValueId write : step.writes) {
      const Value& value = plan_.values[write];
      if (value.written == id && is_written_[write] == 0) {
        is_written_[write] = 1;
      } else if (!subject_.findings.is_full()) {
        wrong(ViolationKind::data_flow, id, {value.tensor},
              name_of(subject_, id) + " writes value " + std::to_string(write.value()) + " of " +
                  name_of(subject_, value.tensor) + ", which is written " +
                  (value.written == id         ? std::string("by it already")
                   : value.written.has_value() ? "in step " + std::to_string(value.written->value())
                                               : std::string("before the run")));
      }
    }
  }

  void check_node(NodeId id) {
    const std::optional<StepId>& step = step_of_[id];
    if (!step) {
      wrong(ViolationKind::missing_step, std::nullopt, {}, name_of(subject_, id) + " never runs");
      return;
    }
    for (NodeId before : subject_.graph.node(id).control_inputs) {
      if (!step_of_[before] || *step_of_[before] < *step || subject_.findings.is_full()) continue;
      wrong(ViolationKind::data_flow, step, {},
            name_of(subject_, *step) + " must run after " + name_of(subject_, *step_of_[before]));
    }
  }

  // Whether a value is there before the run or written is a matter of its tensor, and then some step must write it.
  void check_value(ValueId id) {
    const Value& value = plan_.values[id];
    const bool has_producer = subject_.tensor_of(id).producer.has_value();
    if (has_producer && !value.written) {
      wrong(ViolationKind::data_flow, std::nullopt, {value.tensor},
            name_of(subject_, value.tensor) + " is not there before the run: a node produces it");
    } else if (has_producer && is_written_[id] == 0) {
      wrong(ViolationKind::data_flow, value.written, {value.tensor},
            name_of(subject_, *value.written) + " does not write value " + std::to_string(id.value()) + " of " +
                name_of(subject_, value.tensor) + ", which says so");
    }
  }

  const Subject& subject_;
  const Plan& plan_;
  IdVector<NodeId, std::optional<StepId>> step_of_;
  IdVector<ValueId, char> is_written_;
};

}  // namespace

void check_program(const Subject& subject) { Program(subject).check(); }

}  // namespace lowtide::verification
