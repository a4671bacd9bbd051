// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

// Whether a tensor may have the extents of another one without the axis `left_out`. Those that only a run knows may be
// equal.
bool may_have_extents_of(const Shape& shape, const Shape& whole, std::optional<int> left_out) {
  if (shape.rank() + (left_out ? 1 : 0) != whole.rank()) return false;
  for (int axis = 0, of_whole = 0; axis < shape.rank(); ++axis, ++of_whole) {
    if (of_whole == left_out) ++of_whole;
    const bool is_known = !shape.is_at_most(axis) && !whole.is_at_most(of_whole);
    if (is_known && shape[axis] != whole[of_whole]) return false;
  }
  return true;
}

// Makes the action of one step with bodies.
class BodyStep {
 public:
  BodyStep(const Prepared& prepared, PreparedGraphId in, StepId step)
      : prepared_(prepared),
        in_(in),
        outer_(prepared.graphs[in]),
        step_(step),
        id_(*node_of(outer_.plan.program.steps[step])),
        node_(outer_.graph.node(id_)),
        operands_(operands_of(outer_, step)) {}

  Result<Action> make() {
    const Operator& op = outer_.graph.op(id_);
    const bool is_standard = op.domain.empty() || op.domain == "ai.onnx";
    if (is_standard && op.type == "If" && node_.bodies.size() <= 2) return make_if();
    if (is_standard && op.type == "Loop" && node_.bodies.size() == 1) return make_loop(false);
    if (is_standard && op.type == "Scan" && node_.bodies.size() == 1) return make_loop(true);
    return unsupported("a session runs only the bodies of If, Loop and Scan");
  }

 private:
  // make_actions() adds the name of the node.
  [[nodiscard]] static Error unsupported(const std::string& missing) {
    return Error{ErrorCode::unsupported, missing, ""};
  }
  [[nodiscard]] Error invalid(const std::string& message) const {
    return Error{ErrorCode::invalid, message, place_of(outer_, step_)};
  }

  // The bodies of a graph follow each other in the order of its steps, and those of a step in the order of the node.
  [[nodiscard]] PreparedGraphId body_of_step(std::size_t at) const {
    const auto wanted = std::pair(in_, step_);
    const auto first = std::lower_bound(prepared_.graphs.begin() + 1, prepared_.graphs.end(), wanted,
                                        [](const PreparedGraph& one, const auto& place) {
                                          return std::pair(one.around->graph, one.around->step) < place;
                                        });
    return PreparedGraphId(static_cast<std::uint32_t>(static_cast<std::size_t>(first - prepared_.graphs.begin()) + at));
  }

  // Checks that an operand has one element of the type.
  Result<void> check_scalar(const Graph& graph, TensorId id, DType dtype) const {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.dtype == dtype && tensor.size.count() * 8 == bits_of(dtype).value_or(0)) return {};
    return invalid(quoted(tensor.name) + " has type " + std::string(to_string(tensor.dtype)) + to_string(tensor.shape) +
                   ", but must have one element of type " + std::string(to_string(dtype)));
  }

  Result<void> check_counts(const Graph& body, std::size_t inputs, std::size_t outputs) const {
    if (body.inputs().size() == inputs && body.outputs().size() == outputs) return {};
    return invalid("the body has " + std::to_string(body.inputs().size()) + " inputs and " +
                   std::to_string(body.outputs().size()) + " outputs, but the node needs " + std::to_string(inputs) +
                   " and " + std::to_string(outputs));
  }

  // Checks that a tensor can be copied to another.
  Result<void> check_copy(const Tensor& from, const Tensor& to) const {
    LOWTIDE_RETURN_IF_ERROR(check_same_type(from, to));
    if (may_have_extents_of(from.shape, to.shape, std::nullopt)) return {};
    return invalid(quoted(from.name) + " has the extents " + to_string(from.shape) + ", but " + quoted(to.name) +
                   " has " + to_string(to.shape));
  }

  // Checks the element types of a tensor and of another, of which it may be a slice.
  Result<void> check_same_type(const Tensor& from, const Tensor& to) const {
    if (from.dtype != to.dtype) {
      return invalid(quoted(from.name) + " has type " + std::string(to_string(from.dtype)) + ", but " +
                     quoted(to.name) + " has type " + std::string(to_string(to.dtype)));
    }
    if (bits_of(from.dtype).value_or(1) % 8 == 0) return {};
    return unsupported("the elements of " + quoted(from.name) + " are not whole bytes");
  }

  // Models have branches with other extents that no run takes. A run that takes one compares the extents.
  Result<Action> make_if() {
    if (node_.inputs.size() != 1 || !node_.inputs[0]) return invalid("an If has one input, its condition");
    LOWTIDE_RETURN_IF_ERROR(check_scalar(outer_.graph, *node_.inputs[0], DType::boolean));
    IfAction action{.step = step_, .operands = {}, .then_body = {}, .else_body = {}};
    for (std::size_t at = 0; at < node_.bodies.size(); ++at) {
      const Graph& body = *node_.bodies[at].graph;
      LOWTIDE_RETURN_IF_ERROR(check_counts(body, 0, node_.outputs.size()));
      for (std::size_t output = 0; output < node_.outputs.size(); ++output) {
        if (!node_.outputs[output]) continue;
        LOWTIDE_RETURN_IF_ERROR(
            check_same_type(body.tensor(body.outputs()[output]), outer_.graph.tensor(*node_.outputs[output])));
      }
      (node_.bodies[at].name == "then_branch" ? action.then_body : action.else_body) = body_of_step(at);
    }
    action.operands = std::move(operands_);
    return Action(std::move(action));
  }

  Result<Action> make_loop(bool is_scan) {
    LoopAction loop{
        .step = step_, .operands = std::move(operands_), .body = body_of_step(0), .is_scan = is_scan, .waiting = {}};
    LOWTIDE_RETURN_IF_ERROR(count_states(loop));
    LOWTIDE_RETURN_IF_ERROR(check_states(loop));
    if (is_scan) {
      LOWTIDE_RETURN_IF_ERROR(find_axes("scan_input", node_.inputs, loop.states, loop.sequences));
      LOWTIDE_RETURN_IF_ERROR(find_axes("scan_output", node_.outputs, loop.states, loop.stacks));
    } else {
      loop.stacks.resize(node_.outputs.size() - loop.states);
    }
    LOWTIDE_RETURN_IF_ERROR(check_slices(loop));
    find_waiting(loop);
    return Action(std::move(loop));
  }

  Result<void> count_states(LoopAction& loop) const {
    const Graph& body = *node_.bodies[0].graph;
    const std::size_t inputs = node_.inputs.size();
    std::size_t sequences = 0;
    if (loop.is_scan) {
      if (find_attribute<std::int64_t>(node_.attributes, kSinceAttribute) != nullptr) {
        return unsupported(
            "this Scan is that of opset 8, which has a batch axis, and a session runs that of opset 9 and later; "
            "export the model with opset 9 or later, or convert it with onnx.version_converter");
      }
      const auto* given = find_attribute<std::int64_t>(node_.attributes, "num_scan_inputs");
      if (given == nullptr || *given < 1 || *given > static_cast<std::int64_t>(inputs)) {
        return invalid("attribute 'num_scan_inputs' must be 1 to " + std::to_string(inputs));
      }
      sequences = static_cast<std::size_t>(*given);
    }
    if (inputs < loop.first_input() + sequences) return invalid("a Loop has at least two inputs");
    loop.states = inputs - loop.first_input() - sequences;
    if (node_.outputs.size() < loop.states) {
      return invalid("the node has " + std::to_string(node_.outputs.size()) + " outputs, but " +
                     with_count(static_cast<std::int64_t>(loop.states), "state"));
    }
    for (std::size_t at = loop.first_input(); at < inputs; ++at) {
      if (!node_.inputs[at]) return invalid("input " + std::to_string(at) + " must not be omitted");
    }
    return check_counts(body, inputs, node_.outputs.size() + loop.first_result());
  }

  Result<void> check_states(const LoopAction& loop) const {
    const Graph& body = *node_.bodies[0].graph;
    if (!loop.is_scan) {
      if (node_.inputs[0]) LOWTIDE_RETURN_IF_ERROR(check_scalar(outer_.graph, *node_.inputs[0], DType::i64));
      if (node_.inputs[1]) LOWTIDE_RETURN_IF_ERROR(check_scalar(outer_.graph, *node_.inputs[1], DType::boolean));
      LOWTIDE_RETURN_IF_ERROR(check_scalar(body, body.inputs()[0], DType::i64));
      LOWTIDE_RETURN_IF_ERROR(check_scalar(body, body.inputs()[1], DType::boolean));
      LOWTIDE_RETURN_IF_ERROR(check_scalar(body, body.outputs()[0], DType::boolean));
    }
    for (std::size_t state = 0; state < loop.states; ++state) {
      const std::size_t input = loop.first_input() + state;
      const Tensor& in_body = body.tensor(body.inputs()[input]);
      LOWTIDE_RETURN_IF_ERROR(check_copy(outer_.graph.tensor(*node_.inputs[input]), in_body));
      LOWTIDE_RETURN_IF_ERROR(check_copy(body.tensor(body.outputs()[loop.first_result() + state]), in_body));
      if (!node_.outputs[state]) continue;
      LOWTIDE_RETURN_IF_ERROR(check_copy(in_body, outer_.graph.tensor(*node_.outputs[state])));
    }
    return {};
  }

  // The axes of the operands after the states, and the directions of their slices.
  Result<void> find_axes(const std::string& prefix, const std::vector<std::optional<TensorId>>& tensors,
                         std::size_t first, std::vector<SliceAxis>& out) const {
    const auto* axes = find_attribute<std::vector<std::int64_t>>(node_.attributes, prefix + "_axes");
    const auto* directions = find_attribute<std::vector<std::int64_t>>(node_.attributes, prefix + "_directions");
    for (std::size_t at = 0; first + at < tensors.size(); ++at) {
      const std::optional<TensorId>& id = tensors[first + at];
      std::int64_t axis = axes != nullptr && at < axes->size() ? (*axes)[at] : 0;
      if (id) {
        const int rank = outer_.graph.tensor(*id).shape.rank();
        if (axis < -rank || axis >= rank) {
          return invalid("attribute '" + prefix + "_axes' has axis " + std::to_string(axis) + ", but " +
                         quoted(outer_.graph.tensor(*id).name) + " has " + std::to_string(rank) + " axes");
        }
        if (axis < 0) axis += rank;
      }
      const bool is_reversed = directions != nullptr && at < directions->size() && (*directions)[at] != 0;
      out.push_back({static_cast<int>(axis), is_reversed});
    }
    return {};
  }

  // A slice has one axis less than the tensor that it is a part of.
  Result<void> check_slice(const Tensor& slice, const Tensor& whole, int axis) const {
    LOWTIDE_RETURN_IF_ERROR(check_same_type(slice, whole));
    if (slice.shape.rank() + 1 != whole.shape.rank()) {
      return invalid(quoted(whole.name) + " has " + std::to_string(whole.shape.rank()) + " axes, but its slice " +
                     quoted(slice.name) + " has " + std::to_string(slice.shape.rank()) + "; it must have one less");
    }
    if (may_have_extents_of(slice.shape, whole.shape, axis)) return {};
    return invalid(quoted(whole.name) + " has the extents " + to_string(whole.shape) + ", but its slice " +
                   quoted(slice.name) + " has " + to_string(slice.shape));
  }

  Result<void> check_slices(const LoopAction& loop) const {
    const Graph& body = *node_.bodies[0].graph;
    for (std::size_t at = loop.first_input() + loop.states; at < node_.inputs.size(); ++at) {
      const SliceAxis& of = loop.sequences[at - loop.first_input() - loop.states];
      LOWTIDE_RETURN_IF_ERROR(
          check_slice(body.tensor(body.inputs()[at]), outer_.graph.tensor(*node_.inputs[at]), of.axis));
    }
    for (std::size_t at = loop.states; at < node_.outputs.size(); ++at) {
      if (!node_.outputs[at]) continue;
      LOWTIDE_RETURN_IF_ERROR(check_slice(body.tensor(body.outputs()[loop.first_result() + at]),
                                          outer_.graph.tensor(*node_.outputs[at]), loop.stacks[at - loop.states].axis));
    }
    return {};
  }

  // The next content of a state waits if its bytes are those of an input of the body, which another state overwrites.
  void find_waiting(LoopAction& loop) const {
    const PreparedGraph& body = prepared_.graphs[loop.body];
    const Layout& layout = body.plan.layout;
    for (std::size_t state = 0; state < loop.states; ++state) {
      const ValueId from = body.plan.program.outputs[loop.first_result() + state];
      const ValueId to = *body.given[body.graph.inputs()[loop.first_input() + state]];
      const Buffer& buffer = layout.buffers[layout.values[from].buffer];
      const bool waits =
          buffer.kind == BufferKind::input && buffer.placement && layout.values[from] != layout.values[to];
      loop.waiting.push_back(waits ? std::optional(Offset()) : std::nullopt);
    }
  }

  const Prepared& prepared_;
  const PreparedGraphId in_;
  const PreparedGraph& outer_;
  const StepId step_;
  const NodeId id_;
  const Node& node_;
  Operands operands_;
};

}  // namespace

Result<Action> body_action(const Prepared& prepared, PreparedGraphId in, StepId step) {
  return BodyStep(prepared, in, step).make();
}

}  // namespace lowtide::runtime_internal
