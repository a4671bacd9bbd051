// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "lowtide/graph/epilogue.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/bound_part.h"
#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {
namespace {

// An operator of one operand.
struct OnednnFunction {
  std::string_view type;
  dnnl_alg_kind_t algorithm;
  double alpha = 0;  // if the attribute is absent, or the operator has none
  double beta = 0;
};
constexpr std::array kFunctions{
    OnednnFunction{"Abs", dnnl_eltwise_abs},
    OnednnFunction{"HardSigmoid", dnnl_eltwise_hardsigmoid, 0.2, 0.5},
    OnednnFunction{"HardSwish", dnnl_eltwise_hardswish, 1.0 / 6.0, 0.5},
    OnednnFunction{"LeakyRelu", dnnl_eltwise_relu, 0.01},
    OnednnFunction{"Neg", dnnl_eltwise_linear, -1.0, -0.0},  // adding 0.0 would make zeros positive
    OnednnFunction{"Relu", dnnl_eltwise_relu},
    OnednnFunction{"Round", dnnl_eltwise_round},
    OnednnFunction{"Sigmoid", dnnl_eltwise_logistic},
    OnednnFunction{"Sqrt", dnnl_eltwise_sqrt},
    OnednnFunction{"Swish", dnnl_eltwise_swish, 1.0},
    OnednnFunction{"Tanh", dnnl_eltwise_tanh},
};

struct OnednnBinary {
  std::string_view type;
  dnnl_alg_kind_t algorithm;
  bool is_commutative;
};
constexpr std::array kBinaries{
    OnednnBinary{"Add", dnnl_binary_add, true}, OnednnBinary{"Div", dnnl_binary_div, false},
    OnednnBinary{"Mul", dnnl_binary_mul, true}, OnednnBinary{"Sub", dnnl_binary_sub, false},
    OnednnBinary{"Sum", dnnl_binary_add, true},
};

// x * function(x), where the function is a node of its own.
constexpr std::array kGates{
    OnednnFunction{"HardSigmoid", dnnl_eltwise_hardswish, 0.2, 0.5},
    OnednnFunction{"Sigmoid", dnnl_eltwise_swish, 1.0},
};

template <typename Rows>
const auto* onednn_row(const Rows& rows, const Operator& op) {
  const auto row = std::ranges::find(rows, std::string_view(op.type), &Rows::value_type::type);
  return row == rows.end() || !(op.domain.empty() || op.domain == "ai.onnx") ? nullptr : &*row;
}

std::optional<PostOp> post_op_of(const OnednnFunction& row, const Node& node) {
  const auto number = [&](std::string_view name, double otherwise) {
    const auto* given = find_attribute<double>(node.attributes, name);
    return static_cast<float>(given == nullptr ? otherwise : *given);
  };
  PostOp made{.algorithm = row.algorithm, .alpha = number("alpha", row.alpha), .beta = number("beta", row.beta)};
  // oneDNN multiplies zeros by this factor, too, and takes 0 for Relu.
  if (row.type == "LeakyRelu" && !(made.alpha > 0 && std::isfinite(made.alpha))) return std::nullopt;
  return std::isnan(made.alpha) || std::isnan(made.beta) ? std::nullopt : std::optional(std::move(made));
}

// Follows the value from the first input of a program to its result. Each node but those of a gate reads one value that
// the program computes.
class PostOpReader {
 public:
  PostOpReader(const Graph& program, const EpilogueTensors& tensors) : program_(program), tensors_(tensors) {}

  std::optional<PostOps> read() {
    std::size_t nodes = 0;
    while (at_ != program_.outputs()[0]) {
      const std::span<const NodeId> readers = program_.readers(at_);
      std::optional<PostOp> next;
      if (readers.size() == 1) next = step(readers[0]);
      if (readers.size() == 2) next = gate(readers[0], readers[1]);
      if (!next) return std::nullopt;
      nodes += readers.size();
      operations_.push_back(*std::move(next));
      at_ = *program_.node(readers.back()).outputs[0];
    }
    return nodes == program_.nodes().size() ? std::optional(std::move(operations_)) : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<PostOp> step(NodeId id) const {
    const Node& node = program_.node(id);
    const Operator& op = program_.op(id);
    if (find_attribute<std::int64_t>(node.attributes, kSinceAttribute) != nullptr) return std::nullopt;
    if (op.type == "Clip") return clip(node);
    if (const OnednnFunction* row = onednn_row(kFunctions, op))
      return node.inputs.size() == 1 ? post_op_of(*row, node) : std::nullopt;
    const OnednnBinary* row = onednn_row(kBinaries, op);
    if (row == nullptr || node.inputs.size() != 2) return std::nullopt;
    const bool is_second = node.inputs[0] != at_;
    if (node.inputs[0] == node.inputs[1]) {
      if (op.type != "Mul") return std::nullopt;
      return PostOp{.algorithm = dnnl_eltwise_square};
    }
    if (is_second && !row->is_commutative) return std::nullopt;
    return binary(*row, *node.inputs[is_second ? 0 : 1]);
  }

  [[nodiscard]] std::optional<PostOp> binary(const OnednnBinary& row, TensorId other) const {
    const std::optional<std::size_t> operand = operand_of(other);
    std::optional<ExtentList> extents;
    if (operand) extents = tensors_.extents(program_.tensor(other).shape);
    if (!extents) return std::nullopt;
    return PostOp{
        .kind = PostOp::Kind::binary, .algorithm = row.algorithm, .operand = *operand, .extents = *std::move(extents)};
  }

  [[nodiscard]] std::optional<PostOp> clip(const Node& node) const {
    if (node.inputs[0] != at_ || !node.attributes.empty()) return std::nullopt;  // an older Clip has attributes
    std::array<float, 2> bounds = {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
    for (std::size_t at = 1; at < node.inputs.size(); ++at) {
      if (!node.inputs[at]) continue;
      const std::optional<std::size_t> operand = operand_of(*node.inputs[at]);
      const std::optional<float> number = operand ? tensors_.number(*operand) : std::nullopt;
      if (!number) return std::nullopt;
      if (!std::isnan(*number)) bounds[at - 1] = *number;  // a chain compares with NaN, which changes nothing
    }
    // oneDNN requires ordered bounds. A chain applies the upper one last.
    return PostOp{.algorithm = dnnl_eltwise_clip, .alpha = std::min(bounds[0], bounds[1]), .beta = bounds[1]};
  }

  // A function of the value, and the product of both.
  [[nodiscard]] std::optional<PostOp> gate(NodeId function, NodeId product) const {
    const OnednnFunction* row = onednn_row(kGates, program_.op(function));
    const Node& last = program_.node(product);
    const std::optional<TensorId> factor = program_.node(function).outputs[0];
    const bool is_gate =
        row != nullptr && program_.op(product).type == "Mul" && last.inputs.size() == 2 &&
        program_.readers(*factor).size() == 1 && *factor != program_.outputs()[0] &&
        ((last.inputs[0] == at_ && last.inputs[1] == factor) || (last.inputs[0] == factor && last.inputs[1] == at_));
    return is_gate ? post_op_of(*row, program_.node(function)) : std::nullopt;
  }

  // The index into Node::inputs of an input of the program, except the first one.
  [[nodiscard]] std::optional<std::size_t> operand_of(TensorId id) const {
    const auto input = std::ranges::find(program_.inputs(), id);
    const auto at = static_cast<std::size_t>(input - program_.inputs().begin());
    if (input == program_.inputs().end() || at == 0) return std::nullopt;
    return kProductOperands + at - 1;
  }

  const Graph& program_;
  const EpilogueTensors& tensors_;
  TensorId at_ = program_.inputs()[0];
  PostOps operations_;
};

bool is_single(const ExtentList& extents) {
  return std::ranges::all_of(extents, [](std::int64_t extent) { return extent == 1; });
}

bool is_number(const Tensor& tensor) {
  return tensor.role == Role::constant && tensor.dtype == DType::f32 && is_single(tensor.shape.extents());
}

// Runs a copy before the primitive. In memory the bound primitive follows it.
class SummingKernel final : public PreparedKernel {
 public:
  SummingKernel(std::unique_ptr<PreparedKernel> primitive, std::size_t operand)
      : primitive_(std::move(primitive)), operand_(operand) {}

  [[nodiscard]] Bytes bound_bytes() const override { return Bytes(kOwnBytes) + primitive_->bound_bytes(); }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* bound = new (at) Bound;
    bound->primitive = primitive_->bind(at + kOwnBytes, reads, writes, scratch);
    bound->from = reads[operand_].bytes;
    bound->to = writes[0].bytes;
    bound->count = static_cast<std::size_t>(writes[0].capacity_bytes);
    bound->run = &Bound::call;
    bound->rebind = &Bound::follow_cells;
    bound->destroy = &Bound::end;
    return bound;
  }

 private:
  struct Bound : BoundKernel {
    BoundKernel* primitive = nullptr;
    std::byte* const* from = nullptr;
    std::byte* const* to = nullptr;
    std::size_t count = 0;

    static RunStatus call(BoundKernel* self, Team& team) {
      const auto* bound = static_cast<const Bound*>(self);
      if (*bound->from != *bound->to) std::copy_n(*bound->from, bound->count, *bound->to);
      return bound->primitive->run(bound->primitive, team);
    }
    static void follow_cells(BoundKernel* self) { rebind_part(*static_cast<Bound*>(self)->primitive); }
    static void end(BoundKernel* self) { destroy_part(*static_cast<Bound*>(self)->primitive); }
  };
  static constexpr std::int64_t kOwnBytes = 64;  // keeps the alignment
  static_assert(sizeof(Bound) <= kOwnBytes);

  std::unique_ptr<PreparedKernel> primitive_;
  std::size_t operand_;
};

}  // namespace

NumberOf any_numbers(const Graph& graph, std::vector<TensorId> operands) {
  return [&graph, operands = std::move(operands)](std::size_t operand) {
    const std::size_t at = operand - kProductOperands;
    return at < operands.size() && is_number(graph.tensor(operands[at])) ? std::optional(0.0F) : std::nullopt;
  };
}

NumberOf known_numbers(const PrepareInput& input) {
  return [&input](std::size_t operand) -> std::optional<float> {
    const std::optional<TensorId> id = input.graph.node(input.node).inputs.at(operand);
    if (!id || !is_number(input.graph.tensor(*id))) return std::nullopt;
    const std::span<const std::byte> bytes = input.constant(*id);
    float number = 0;
    if (bytes.size() != sizeof(number)) return std::nullopt;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
  };
}

std::optional<PostOps> post_ops_of(const Graph& program, const EpilogueTensors& tensors) {
  return PostOpReader(program, tensors).read();
}

std::optional<PostOps> with_sum(const Graph& graph, NodeId id, const PostOps& operations, const ExtentList& result) {
  PostOps changed = operations;
  const auto add = std::ranges::find_if(changed, [&](const PostOp& one) {
    return one.kind == PostOp::Kind::binary && one.algorithm == dnnl_binary_add && one.extents == result;
  });
  if (add == changed.end()) return std::nullopt;
  const std::vector<std::optional<TensorId>>& inputs = graph.node(id).inputs;
  const TensorId operand = *inputs[add->operand];
  const bool is_overwritable = graph.tensor(operand).producer && !graph.is_needed_at_end(operand) &&
                               graph.readers(operand).back() == id && std::ranges::count(inputs, operand) == 1;
  if (!is_overwritable) return std::nullopt;
  add->kind = PostOp::Kind::sum;
  add->algorithm = dnnl_alg_kind_undef;
  return changed;
}

std::optional<std::size_t> sum_operand(const PostOps& operations) {
  const auto sum = std::ranges::find(operations, PostOp::Kind::sum, &PostOp::kind);
  return sum == operations.end() ? std::nullopt : std::optional(sum->operand);
}

PrimitiveAttributes attributes_with(const PostOps& operations, std::string_view order) {
  PrimitiveAttributes attributes = caller_scratchpad();
  if (attributes == nullptr || operations.empty()) return attributes;
  const auto list = made_by<PrimitiveOperations>([](dnnl_post_ops_t* made) { return dnnl().post_ops_create(made); });
  if (list == nullptr) return nullptr;
  for (const PostOp& one : operations) {
    dnnl_status_t status = dnnl_success;
    if (one.kind == PostOp::Kind::function) {
      status = dnnl().post_ops_append_eltwise(list.get(), one.algorithm, one.alpha, one.beta);
    } else if (one.kind == PostOp::Kind::sum) {
      status = dnnl().post_ops_append_sum(list.get(), 1.0F, 0, dnnl_data_type_undef);
    } else {
      const bool is_dense = order.empty() || is_single(one.extents);
      const MemoryDescription operand = is_dense ? dense_tensor(one.extents) : tensor_in_order(order, one.extents);
      if (operand == nullptr) return nullptr;
      status = dnnl().post_ops_append_binary(list.get(), one.algorithm, operand.get());
    }
    if (status != dnnl_success) return nullptr;
  }
  // The attributes copy the list.
  return dnnl().primitive_attr_set_post_ops(attributes.get(), list.get()) == dnnl_success ? std::move(attributes)
                                                                                          : nullptr;
}

std::unique_ptr<PreparedKernel> summing_kernel(std::unique_ptr<PreparedKernel> primitive, std::size_t operand) {
  return std::make_unique<SummingKernel>(std::move(primitive), operand);
}

}  // namespace lowtide::kernels_internal
