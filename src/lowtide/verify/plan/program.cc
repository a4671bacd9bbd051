// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/verify/bytes/alias_meaning.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

// A node may run again if its operator always gives the same result. An unknown operator may not.
bool may_run_again(const Graph& graph, NodeId node) {
  const OperatorTraits& traits = graph.op(node).traits;
  return traits.is_pure && !traits.is_random && !traits.is_stateful && !may_be_training(graph, node);
}

class ProgramCheck {
 public:
  explicit ProgramCheck(const Subject& subject)
      : subject_(subject),
        program_(subject.plan.program),
        first_(subject.graph.nodes().size()),
        writer_(program_.values.size()),
        copied_(program_.values.size()) {}

  void check() {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      if (is_copy(subject_.step(id))) {
        check_copy(id);
      } else {
        check_node_step(id);
      }
      check_read_after_write(id);
    }
    for (NodeId id : all_ids<NodeId>(subject_.graph.nodes().size())) {
      if (subject_.findings.is_full()) return;
      if (!first_[id]) wrong(ViolationKind::missing_step, std::nullopt, {}, name_of(subject_, id) + " never runs");
    }
    for (ValueId id : all_ids<ValueId>(program_.values.size())) {
      if (subject_.findings.is_full()) return;
      check_value(id);
    }
    check_handed_on("output", program_.outputs, subject_.graph.outputs());
    std::vector<TensorId> next;
    for (const StateUpdate& update : subject_.graph.state_updates()) next.push_back(update.next);
    check_handed_on("state update", program_.updates, next);
  }

 private:
  void wrong(ViolationKind kind, std::optional<StepId> step, std::vector<TensorId> tensors, std::string message) {
    subject_.findings.add({.kind = kind, .step = step, .tensors = std::move(tensors), .message = std::move(message)});
  }

  [[nodiscard]] std::string name(ValueId id) const {
    return "value " + std::to_string(id.value()) + " of " + name_of(subject_, program_.values[id].tensor);
  }

  void check_node_step(StepId id) {
    const Step& step = subject_.step(id);
    const NodeId node = *node_of(step);
    std::optional<StepId>& first = first_[node];
    if (first && !may_run_again(subject_.graph, node)) {
      wrong(ViolationKind::repeated_step, id, {},
            name_of(subject_, id) + " runs a node that step " + std::to_string(first->value()) +
                " already runs, but its operator may not run again");
    }
    for (NodeId before : subject_.graph.node(node).control_inputs) {
      if (first_[before] || subject_.findings.is_full()) continue;
      wrong(ViolationKind::data_flow, id, {}, name_of(subject_, id) + " must run after " + name_of(subject_, before));
    }
    if (!first) first = id;
    check_list(id, "reads", step.reads, subject_.graph.operands(node));
    std::vector<TensorId> outputs;
    for (const std::optional<TensorId>& output : subject_.graph.node(node).outputs) {
      if (output) outputs.push_back(*output);
    }
    check_list(id, "writes", step.writes, outputs);
    for (ValueId write : step.writes) write_whole(id, write);
  }

  void check_list(StepId id, const char* verb, const std::vector<ValueId>& values, std::span<const TensorId> expected) {
    if (values.size() != expected.size()) {
      wrong(ViolationKind::data_flow, id, {},
            name_of(subject_, id) + " " + verb + " " + std::to_string(values.size()) + " values instead of " +
                std::to_string(expected.size()));
      return;
    }
    for (std::size_t at = 0; at < values.size() && !subject_.findings.is_full(); ++at) {
      const TensorId tensor = program_.values[values[at]].tensor;
      if (tensor == expected[at]) continue;
      wrong(ViolationKind::data_flow, id, {tensor, expected[at]},
            name_of(subject_, id) + " " + verb + " " + name_of(subject_, tensor) + ", but its node " + verb + " " +
                name_of(subject_, expected[at]));
    }
  }

  void check_read_after_write(StepId id) {
    for (ValueId read : subject_.step(id).reads) {
      const Value& value = program_.values[read];
      if (!value.written || *value.written < id || subject_.findings.is_full()) continue;
      wrong(ViolationKind::data_flow, id, {value.tensor},
            name_of(subject_, id) + " reads " + name_of(subject_, value.tensor) + ", which does not exist before " +
                name_of(subject_, *value.written) + " is done");
    }
  }

  void write_whole(StepId id, ValueId write) {
    if (program_.values[write].written == id && !writer_[write] && copied_[write].empty()) {
      writer_[write] = id;
      return;
    }
    report_second_write(id, write);
  }

  void report_second_write(StepId id, ValueId write) {
    if (subject_.findings.is_full()) return;
    const Value& value = program_.values[write];
    wrong(ViolationKind::data_flow, id, {value.tensor},
          name_of(subject_, id) + " writes " + name(write) + ", which is written " +
              (!value.written         ? std::string("before the run")
               : *value.written == id ? std::string("more than once")
                                      : "in step " + std::to_string(value.written->value())));
  }

  void check_copy(StepId id) {
    const Step& step = subject_.step(id);
    const ValueId from = step.reads[0];
    const ValueId to = step.writes[0];
    const TensorId tensor = program_.values[to].tensor;
    const Interval<std::int64_t>& bytes = std::get<Copy>(step.work).bytes;
    if (program_.values[from].tensor != tensor) {
      wrong(ViolationKind::data_flow, id, {program_.values[from].tensor, tensor},
            name_of(subject_, id) + " copies " + name(from) + " to " + name(to) + ", a value of another tensor");
    }
    const std::int64_t size = subject_.graph.tensor(tensor).size.count();
    if (bytes.end > size) {
      wrong(ViolationKind::data_flow, id, {tensor},
            name_of(subject_, id) + " copies " + name_of(bytes) + " of " + name_of(subject_, tensor) + ", which has " +
                std::to_string(size) + " bytes");
    }
    const std::optional<StepId>& written = program_.values[to].written;
    if (!written || *written < id || writer_[to]) return report_second_write(id, to);
    copied_[to].push_back({bytes, id});
  }

  // Every value of a tensor that a node produces, and every copy, is written by steps of the program.
  void check_value(ValueId id) {
    const Value& value = program_.values[id];
    const bool has_producer = subject_.tensor_of(id).producer.has_value();
    if (!value.written) {
      if (!has_producer) return;
      return wrong(ViolationKind::data_flow, std::nullopt, {value.tensor},
                   name(id) + " is said to exist before the run, but a node produces it");
    }
    if (!copied_[id].empty()) return check_pieces(id);
    if (writer_[id]) return;
    wrong(ViolationKind::data_flow, value.written, {value.tensor},
          name_of(subject_, *value.written) + " does not write " + name(id) + ", which names it as its writer");
  }

  struct Piece {
    Interval<std::int64_t> bytes;
    StepId step;
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };

  // The copies that fill a value cover each of its bytes once. The last of them is the step that completes the value.
  void check_pieces(ValueId id) {
    const Value& value = program_.values[id];
    std::vector<Piece>& pieces = copied_[id];
    if (pieces.back().step != *value.written) {
      wrong(ViolationKind::data_flow, value.written, {value.tensor},
            name(id) + " is complete after " + name_of(subject_, pieces.back().step) + ", not after " +
                name_of(subject_, *value.written));
    }
    std::sort(pieces.begin(), pieces.end());
    std::int64_t end = 0;
    for (const Piece& piece : pieces) {
      if (subject_.findings.is_full()) return;
      if (piece.bytes.empty()) continue;
      if (piece.bytes.begin != end) {
        const bool is_twice = piece.bytes.begin < end;
        const Interval<std::int64_t> bytes{std::min(end, piece.bytes.begin), std::max(end, piece.bytes.begin)};
        return wrong(ViolationKind::data_flow, piece.step, {value.tensor},
                     name_of(bytes) + " of " + name(id) + (is_twice ? " are copied twice" : " are never copied"));
      }
      end = piece.bytes.end;
    }
    const std::int64_t size = subject_.tensor_of(id).size.count();
    if (end >= size) return;  // a copy beyond the tensor has already been reported
    wrong(ViolationKind::data_flow, value.written, {value.tensor},
          name_of({end, size}) + " of " + name(id) + " are never copied");
  }

  void check_handed_on(const char* what, const std::vector<ValueId>& values, const std::vector<TensorId>& tensors) {
    for (std::size_t at = 0; at < values.size() && !subject_.findings.is_full(); ++at) {
      const TensorId tensor = program_.values[values[at]].tensor;
      if (tensor == tensors[at]) continue;
      wrong(ViolationKind::output_lost, std::nullopt, {tensor, tensors[at]},
            std::string(what) + " " + std::to_string(at) + " is " + name(values[at]) + "; it should be " +
                name_of(subject_, tensors[at]));
    }
  }

  const Subject& subject_;
  const Program& program_;
  IdVector<NodeId, std::optional<StepId>> first_;    // step that runs it
  IdVector<ValueId, std::optional<StepId>> writer_;  // compute or alias step that writes all of it
  IdVector<ValueId, std::vector<Piece>> copied_;     // by copies, in the order of the steps
};

}  // namespace

void check_program(const Subject& subject) { ProgramCheck(subject).check(); }

}  // namespace lowtide::verify_internal
