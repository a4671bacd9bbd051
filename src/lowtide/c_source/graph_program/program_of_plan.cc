// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/program_of_plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/c_source/graph_program/axes.h"
#include "lowtide/c_source/graph_program/c_target.h"
#include "lowtide/c_source/graph_program/node_calls.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/node_name.h"

namespace lowtide::graph_program_internal {
namespace {

// Makes the program, step by step.
class ProgramOfPlan {
 public:
  ProgramOfPlan(const Graph& graph, const Plan& plan, const BytesOf& bytes_of)
      : graph_(graph), plan_(plan), bytes_of_(bytes_of), tensors_(plan.program.values.size()) {}

  Result<CProgram> run(const std::vector<std::string>& inputs) && {
    program_.name = plan_.provenance.model.empty() ? graph_.name() : plan_.provenance.model;
    program_.arena = arena_bytes(plan_);
    for (const Step& step : plan_.program.steps) LOWTIDE_RETURN_IF_ERROR(add_step(step));
    for (std::size_t at = 0; at < graph_.outputs().size(); ++at) LOWTIDE_RETURN_IF_ERROR(add_output(at));
    for (const std::string& input : inputs) add_input(input);
    if (program_.arena.count() > std::numeric_limits<std::int32_t>::max()) {
      return Error{ErrorCode::over_limit,
                   "the arena has " + format_bytes(program_.arena) + ", and kernels count 31 bits", ""};
    }
    end_lifespans();
    return std::move(program_);
  }

 private:
  Result<void> add_step(const Step& step) {
    if (const auto* copy = std::get_if<Copy>(&step.work)) return add_copy(step, *copy);
    if (is_alias(step)) {
      for (ValueId value : step.writes) written(value);
      return {};
    }
    const NodeId id = *node_of(step);
    if (is_caller(graph_.op(id))) {
      for (ValueId value : step.writes) written(value);
      return {};
    }
    LOWTIDE_TRY(NodeCalls node, calls_of(NodeFacts(graph_, id, bytes_of_)));
    if (fuses(step, node)) return {};
    std::vector<COperand> made;
    for (CConstant& constant : node.constants) made.emplace_back(add(std::move(constant)));
    for (NodeCall& call : node.calls) {
      CCall next{.kernel = std::move(call.kernel), .parameters = std::move(call.parameters)};
      next.origin = full_name(graph_.op(id)) + " " + node_name(graph_, id);
      for (const NodeOperand& operand : call.operands) {
        LOWTIDE_TRY(const COperand place, place_of(step, id, operand, made));
        next.operands.push_back(place);
      }
      program_.calls.push_back(std::move(next));
    }
    return {};
  }

  // Lets the last call do the work of a Relu or a Clip that would overwrite its result. Nothing else reads that result,
  // because it is gone then.
  bool fuses(const Step& step, const NodeCalls& node) {
    const std::optional<Limits> limits = limits_of(node);
    if (!limits || program_.calls.empty()) return false;
    CCall& last = program_.calls.back();
    const std::optional<std::size_t> read = tensors_[step.reads[0]];
    const auto* written = std::get_if<CTensorIndex>(&last.operands.back());
    const bool is_result = read && written != nullptr && written->value == *read;
    if (!is_result || offset_of(step.writes[0]) != program_.tensors[*read].offset) return false;
    if (!set_limits(last, *limits)) return false;
    const NodeId id = *node_of(step);
    last.origin += ", " + full_name(graph_.op(id)) + " " + node_name(graph_, id);
    program_.tensors[*read].name = graph_.tensor(plan_.program.values[step.writes[0]].tensor).name;
    tensors_[step.writes[0]] = read;
    return true;
  }

  Result<COperand> place_of(const Step& step, NodeId id, const NodeOperand& operand,
                            const std::vector<COperand>& made) {
    if (const auto* constant = std::get_if<ConstantAt>(&operand)) return made[constant->constant];
    if (const auto* input = std::get_if<InputAt>(&operand)) {
      return read(step.reads[position(graph_.node(id).inputs, input->input)]);
    }
    if (const auto* output = std::get_if<OutputAt>(&operand)) {
      return COperand(written(step.writes[position(graph_.node(id).outputs, output->output)]));
    }
    return COperand();
  }

  // Steps list the tensors of a node without those that it does not have.
  static std::size_t position(const std::vector<std::optional<TensorId>>& tensors, std::size_t at) {
    std::size_t before = 0;
    for (std::size_t other = 0; other < at; ++other) before += tensors[other] ? 1 : 0;
    return before;
  }

  Result<void> add_copy(const Step& step, const Copy& copy) {
    const Tensor& tensor = graph_.tensor(plan_.program.values[step.reads[0]].tensor);
    LOWTIDE_TRY(const COperand from, read(step.reads[0]));
    const COperand to = written(step.writes[0]);
    Parameters parameters;
    CCall call{.kernel = "copy", .origin = "copy of " + lowtide::quoted(tensor.name)};
    const std::int64_t length = copy.bytes.end - copy.bytes.begin;
    if (length == tensor.size.count()) {
      parameters.add("bytes", length);
    } else {
      call.kernel = "move";
      parameters.add("bytes", length)
          .add("counts", Extents(5, 1))
          .add("input_steps", Extents(5, 0))
          .add("output_steps", Extents(5, 0))
          .add("input_start", copy.bytes.begin)
          .add("output_start", copy.bytes.begin);
    }
    call.parameters = parameters.take();
    call.operands = {from, to};
    program_.calls.push_back(std::move(call));
    return {};
  }

  Result<COperand> read(ValueId value) {
    const TensorId tensor = plan_.program.values[value].tensor;
    if (graph_.tensor(tensor).role == Role::constant && !placement_of(value)) return constant_of(tensor);
    const CTensorIndex index = tensor_of(value);
    CTensor& read = program_.tensors[index.value];
    read.lifespan.end = std::max(read.lifespan.end, next_call() + 1);
    return COperand(index);
  }

  CTensorIndex written(ValueId value) {
    const CTensorIndex index = tensor_of(value);
    CTensor& tensor = program_.tensors[index.value];
    tensor.lifespan.end = std::max(tensor.lifespan.end, next_call() + 1);
    return index;
  }

  [[nodiscard]] std::int64_t next_call() const { return static_cast<std::int64_t>(program_.calls.size()); }

  [[nodiscard]] const std::optional<Placement>& placement_of(ValueId value) const {
    return plan_.layout.buffers[plan_.layout.values[value].buffer].placement;
  }

  [[nodiscard]] Offset offset_of(ValueId value) const {
    const std::optional<Placement>& placement = placement_of(value);
    LOWTIDE_CHECK(placement.has_value(), "all values but constants are in the arena");
    return placement->offset + (plan_.layout.values[value].offset - Offset());
  }

  CTensorIndex tensor_of(ValueId value) {
    std::optional<std::size_t>& index = tensors_[value];
    if (!index) index = add_tensor(graph_.tensor(plan_.program.values[value].tensor), offset_of(value));
    return {*index};
  }

  std::size_t add_tensor(const Tensor& tensor, Offset offset) {
    program_.tensors.push_back({.name = tensor.name,
                                .type = *c_type_of(tensor.dtype),
                                .shape = tensor.shape.extents(),
                                .size = tensor.size,
                                .offset = offset,
                                .lifespan = {next_call(), next_call() + 1}});
    return program_.tensors.size() - 1;
  }

  Result<COperand> constant_of(TensorId id) {
    const auto [place, is_new] = constants_.emplace(id, program_.constants.size());
    if (!is_new) return COperand(CConstantIndex{place->second});
    const Tensor& tensor = graph_.tensor(id);
    CConstant made{.name = tensor.name, .type = *c_type_of(tensor.dtype), .shape = tensor.shape.extents()};
    if (const std::optional<std::span<const std::byte>> bytes = bytes_of_(id)) {
      made.bytes.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    } else {
      return Error{ErrorCode::invalid, "the constant " + lowtide::quoted(tensor.name) + " has no bytes", ""};
    }
    return COperand(add(std::move(made)));
  }

  CConstantIndex add(CConstant constant) {
    program_.constants.push_back(std::move(constant));
    return {program_.constants.size() - 1};
  }

  // A result that is a constant is copied to the end of the arena.
  Result<void> add_output(std::size_t at) {
    const TensorId id = graph_.outputs()[at];
    const Tensor& tensor = graph_.tensor(id);
    const ValueId value = plan_.program.outputs[at];
    std::size_t index = 0;
    if (tensor.role == Role::constant && !placement_of(value)) {
      if (!c_type_of(tensor.dtype)) return missing("the result " + lowtide::quoted(tensor.name) + " has no type of C");
      LOWTIDE_TRY(const COperand from, constant_of(id));
      index = add_tensor(tensor, round_up(Offset(program_.arena.count()), kCAlignment));
      program_.arena = program_.tensors[index].offset + tensor.size - Offset();
      Parameters parameters;
      parameters.add("bytes", tensor.size.count());
      program_.calls.push_back({.kernel = "copy",
                                .parameters = parameters.take(),
                                .operands = {from, CTensorIndex{index}},
                                .origin = "copy of " + lowtide::quoted(tensor.name)});
    } else {
      index = tensor_of(value).value;
    }
    outputs_.push_back(index);
    program_.outputs.push_back({.name = tensor.name, .tensor = index});
    return {};
  }

  // The caller writes inputs before the first call.
  void add_input(const std::string& name) {
    for (ValueId value : all_ids<ValueId>(tensors_.size())) {
      if (!tensors_[value] || graph_.tensor(plan_.program.values[value].tensor).name != name) continue;
      program_.tensors[*tensors_[value]].lifespan.begin = 0;
      program_.inputs.push_back({.name = name, .tensor = *tensors_[value]});
      break;
    }
  }

  // Outputs are live to the end.
  void end_lifespans() {
    for (std::size_t output : outputs_) program_.tensors[output].lifespan.end = std::max<std::int64_t>(next_call(), 1);
    for (CTensor& tensor : program_.tensors) {
      tensor.lifespan.end = std::min(tensor.lifespan.end, std::max<std::int64_t>(next_call(), 1));
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  const BytesOf& bytes_of_;
  CProgram program_;
  IdVector<ValueId, std::optional<std::size_t>> tensors_;
  std::map<TensorId, std::size_t> constants_;
  std::vector<std::size_t> outputs_;
};

}  // namespace

Result<void> check_nodes(const Graph& graph, const BytesOf& bytes_of) {
  std::vector<std::string> lines;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    if (is_caller(graph.op(id))) continue;
    const Result<NodeCalls> calls = calls_of(NodeFacts(graph, id, bytes_of));
    if (calls) continue;
    lines.push_back("\n  " + full_name(graph.op(id)) + " " + lowtide::quoted(node_name(graph, id)) + ": " +
                    calls.error().message);
  }
  if (lines.empty()) return {};
  std::string message =
      std::to_string(lines.size()) + (lines.size() == 1 ? " node has" : " nodes have") + " no kernel of C:";
  for (const std::string& line : lines) message += line;
  return Error{ErrorCode::unsupported, std::move(message), ""};
}

Result<CProgram> program_of_plan(const Graph& graph, const Plan& plan, const std::vector<std::string>& inputs,
                                 const BytesOf& bytes_of) {
  return ProgramOfPlan(graph, plan, bytes_of).run(inputs);
}

}  // namespace lowtide::graph_program_internal
