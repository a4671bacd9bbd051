// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/graph_of_tflite.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/base/unique_names.h"
#include "lowtide/graph/builder.h"
#include "lowtide/tflite/model_import/check_extents.h"
#include "lowtide/tflite/model_import/resources.h"

namespace lowtide {
namespace model_import_internal {
namespace {

constexpr std::int64_t kMostKnownElements = 64;  // of a constant whose content the graph states

std::optional<DType> dtype_of(TfliteType type) {
  switch (type) {
    case TfliteType::float64: return DType::f64;
    case TfliteType::float32: return DType::f32;
    case TfliteType::float16: return DType::f16;
    case TfliteType::bfloat16: return DType::bf16;
    case TfliteType::float8_e4m3fn: return DType::f8e4m3fn;
    case TfliteType::float8_e5m2: return DType::f8e5m2;
    case TfliteType::int64: return DType::i64;
    case TfliteType::int32:
    case TfliteType::resource: return DType::i32;  // TFLite Micro stores the number of the resource
    case TfliteType::int16: return DType::i16;
    case TfliteType::int8: return DType::i8;
    case TfliteType::int4: return DType::i4;
    case TfliteType::int2: return DType::i2;
    case TfliteType::uint64: return DType::u64;
    case TfliteType::uint32: return DType::u32;
    case TfliteType::uint16: return DType::u16;
    case TfliteType::uint8: return DType::u8;
    case TfliteType::uint4: return DType::u4;
    case TfliteType::boolean: return DType::boolean;
    case TfliteType::complex64: return DType::c64;
    case TfliteType::complex128: return DType::c128;
    case TfliteType::string: return DType::string;
    case TfliteType::variant: return std::nullopt;
  }
  return std::nullopt;
}

std::string body_name(std::string_view option) {
  if (option == "then_subgraph_index") return "then_branch";
  if (option == "else_subgraph_index") return "else_branch";
  if (option == "cond_subgraph_index") return "cond";
  return option == "init_subgraph_index" ? "init" : "body";
}

void add_quantization(const TfliteTensor& tensor, const std::string& operand, std::vector<Attribute>& to) {
  const auto& [scales, zero_points, axis] = tensor.quantization;
  if (scales.empty()) return;
  to.push_back({operand + "_scale", scales});
  to.push_back({operand + "_zero_point", zero_points.empty() ? std::vector<std::int64_t>{0} : zero_points});
  if (scales.size() > 1) to.push_back({operand + "_axis", std::int64_t{axis}});
}

std::vector<Attribute> attributes_of(const TfliteSubgraph& subgraph, const TfliteOperator& op) {
  std::vector<Attribute> attributes;
  for (const TfliteOption& option : op.options) {
    std::visit([&](const auto& value) { attributes.push_back({option.name, value}); }, option.value);
  }
  if (op.custom_options.size > 0) {
    const std::string size = std::to_string(op.custom_options.size);
    attributes.push_back({"custom_options", OpaqueAttribute{size + " bytes"}});
  }
  if (op.has_unread_options) attributes.push_back({"options", OpaqueAttribute{"of a kind that is not read"}});
  for (std::size_t at = 0; at < op.inputs.size(); ++at) {
    if (op.inputs[at]) add_quantization(subgraph.tensors[*op.inputs[at]], "in" + std::to_string(at), attributes);
  }
  for (std::size_t at = 0; at < op.outputs.size(); ++at) {
    if (op.outputs[at]) add_quantization(subgraph.tensors[*op.outputs[at]], "out" + std::to_string(at), attributes);
  }
  return attributes;
}

// Makes the graph of one subgraph.
class SubgraphImport {
 public:
  SubgraphImport(const TfliteModel& model, std::uint32_t index, std::string_view bytes,
                 const GraphOfTfliteOptions& options, ConstantTable& constants)
      : model_(model),
        options_(options),
        index_(index),
        subgraph_(model.subgraphs[index]),
        bytes_(bytes),
        constants_(constants),
        builder_(subgraph_.name.empty() ? "subgraph_" + std::to_string(index) : subgraph_.name),
        ids_(subgraph_.tensors.size()),
        is_used_(subgraph_.tensors.size(), false),
        is_written_(subgraph_.tensors.size(), false) {}

  Result<Graph> run(const ResourceUses& uses, const std::vector<std::shared_ptr<const Graph>>& bodies) && {
    mark_tensors();
    LOWTIDE_RETURN_IF_ERROR(add_tensors());
    const std::vector<std::vector<std::uint32_t>> before = uses.order_of(index_);
    for (std::uint32_t at = 0; at < subgraph_.operators.size(); ++at) {
      LOWTIDE_RETURN_IF_ERROR(add_operator(at, before[at], bodies));
    }
    std::vector<TensorId> outputs;
    for (std::uint32_t output : subgraph_.outputs) outputs.push_back(*ids_[output]);
    builder_.set_outputs(std::move(outputs));
    return std::move(builder_).build();
  }

 private:
  [[nodiscard]] std::string place() const { return "subgraph " + std::to_string(index_); }

  [[nodiscard]] std::string number_name(std::size_t number) const {
    return std::to_string(index_) + ":" + std::to_string(number);
  }

  void mark_tensors() {
    for (std::uint32_t input : subgraph_.inputs) is_used_[input] = true;
    for (std::uint32_t output : subgraph_.outputs) is_used_[output] = true;
    for (const TfliteOperator& op : subgraph_.operators) {
      for (const std::optional<std::uint32_t>& input : op.inputs) {
        if (input) is_used_[*input] = true;
      }
      for (const std::optional<std::uint32_t>& output : op.outputs) {
        if (output) is_used_[*output] = is_written_[*output] = true;
      }
    }
  }

  Result<void> add_tensors() {
    std::vector<std::string> wanted;
    for (const TfliteTensor& tensor : subgraph_.tensors) {
      wanted.push_back(options_.names_by_number ? number_name(wanted.size()) : tensor.name);
    }
    const std::vector<std::string> names = unique_names(
        wanted, [](std::string_view name) { return name.empty() ? std::string("tensor") : std::string(name); });
    // Inputs come first, in their order, because a graph has them in the order in which they are added.
    for (std::uint32_t input : subgraph_.inputs) LOWTIDE_RETURN_IF_ERROR(add_tensor(input, names, true));
    for (std::uint32_t at = 0; at < subgraph_.tensors.size(); ++at) {
      if (is_used_[at]) LOWTIDE_RETURN_IF_ERROR(add_tensor(at, names, false));
    }
    return {};
  }

  Result<void> add_tensor(std::uint32_t at, const std::vector<std::string>& names, bool is_input) {
    if (ids_[at]) return {};
    const TfliteTensor& tensor = subgraph_.tensors[at];
    const std::string where = place() + ": tensor " + std::to_string(at) + " " + quoted(names[at], 60);
    const std::optional<DType> dtype = dtype_of(tensor.type);
    if (!dtype || *dtype == DType::string) {
      return Error{
          ErrorCode::unsupported,
          "its element type " + std::string(to_string(tensor.type)) + " has no size that is known before a run", where};
    }
    GraphBuilder::TensorSpec spec{.name = names[at], .dtype = *dtype, .shape = Shape(tensor.shape)};
    const bool is_given = is_constant(model_, tensor) || (!is_input && !is_written_[at] && !tensor.is_variable);
    const Role role = is_given             ? Role::constant
                      : tensor.is_variable ? Role::state
                      : is_input           ? Role::input
                                           : Role::temporary;
    if (role == Role::constant && !tensor.is_sparse) {
      LOWTIDE_TRY(const Bytes size, dense_size(*dtype, spec.shape));
      const TfliteBytes& at_file = model_.buffers[tensor.buffer];
      ConstantSource source{
          .name = names[at], .dtype = *dtype, .shape = spec.shape, .size = size, .where = ConstantSource::Inline{}};
      if (at_file.size > 0) source.where = ConstantSource::InFile{ConstantFileId(0), at_file.offset};
      spec.constant = ConstantId(static_cast<std::uint32_t>(constants_.sources.size()));
      constants_.sources.push_back(std::move(source));
    }
    ids_[at] = builder_.add_tensor(std::move(spec), role);
    if (role == Role::constant) state_content(tensor, *ids_[at]);
    return {};
  }

  // Shapes, axes and the like.
  void state_content(const TfliteTensor& tensor, TensorId id) {
    const TfliteBytes& range = model_.buffers[tensor.buffer];
    const bool is_narrow = tensor.type == TfliteType::int32;
    if (tensor.is_sparse || (!is_narrow && tensor.type != TfliteType::int64)) return;
    const std::int64_t width = is_narrow ? 4 : 8;
    if (range.size == 0 || range.size > kMostKnownElements * width) return;
    std::vector<std::int64_t> content;
    for (std::int64_t at = 0; at < range.size; at += width) {
      const char* from = bytes_.data() + range.offset + at;
      if (is_narrow) {
        std::int32_t number = 0;
        std::memcpy(&number, from, sizeof number);
        content.push_back(number);
      } else {
        std::memcpy(&content.emplace_back(), from, sizeof(std::int64_t));
      }
    }
    builder_.set_known_integers(id, std::move(content));
  }

  Result<void> add_operator(std::uint32_t at, const std::vector<std::uint32_t>& before,
                            const std::vector<std::shared_ptr<const Graph>>& bodies) {
    const TfliteOperator& op = subgraph_.operators[at];
    const auto tensor_ids = [&](const std::vector<std::optional<std::uint32_t>>& tensors) {
      std::vector<std::optional<TensorId>> ids;
      for (const std::optional<std::uint32_t>& tensor : tensors) ids.push_back(tensor ? ids_[*tensor] : std::nullopt);
      return ids;
    };
    if (const std::string why = extents_obstacle(subgraph_, op); !why.empty()) {
      return Error{ErrorCode::invalid, why, place() + ": operator " + std::to_string(at) + " " + quoted(op.type, 60)};
    }
    GraphBuilder::NodeSpec spec{.name = options_.names_by_number ? number_name(at) : "",
                                .domain = op.builtin == kTfliteCustom ? kTfliteCustomDomain : kTfliteDomain,
                                .type = op.type,
                                .inputs = tensor_ids(op.inputs),
                                .outputs = tensor_ids(op.outputs),
                                .attributes = attributes_of(subgraph_, op)};
    for (std::uint32_t earlier : before) spec.control_inputs.push_back(NodeId(earlier));
    for (const TfliteCall& call : op.calls) spec.bodies.push_back({body_name(call.name), bodies[call.subgraph], {}});
    builder_.add_node(std::move(spec));
    return {};
  }

  const TfliteModel& model_;
  const GraphOfTfliteOptions& options_;
  const std::uint32_t index_;
  const TfliteSubgraph& subgraph_;
  const std::string_view bytes_;
  ConstantTable& constants_;
  GraphBuilder builder_;
  std::vector<std::optional<TensorId>> ids_;  // of the tensors that something uses
  std::vector<bool> is_used_;
  std::vector<bool> is_written_;
};

void note_open_inputs(const TfliteModel& model, std::vector<std::string>& notes) {
  const TfliteSubgraph& main = model.subgraphs.front();
  for (std::uint32_t input : main.inputs) {
    const TfliteTensor& tensor = main.tensors[input];
    if (tensor.is_open.empty()) continue;
    notes.push_back("input " + quoted(tensor.name, 60) + " may have other extents in a run; the plan is for " +
                    to_string(Shape(tensor.shape)) + ", as in the file");
  }
}

}  // namespace
}  // namespace model_import_internal

Result<GraphOfTflite> graph_of_tflite(const TfliteModel& model, std::string_view bytes,
                                      const GraphOfTfliteOptions& options) {
  ConstantTable constants;
  constants.files.push_back("");
  const model_import_internal::ResourceUses uses(model);
  std::vector<std::shared_ptr<const Graph>> bodies(model.subgraphs.size());
  for (std::uint32_t index : model_import_internal::subgraphs_bottom_up(model)) {
    LOWTIDE_TRY(Graph graph,
                model_import_internal::SubgraphImport(model, index, bytes, options, constants).run(uses, bodies));
    if (index == 0) {
      GraphOfTflite made{.graph = std::move(graph), .constants = std::move(constants), .notes = {}};
      model_import_internal::note_open_inputs(model, made.notes);
      return made;
    }
    bodies[index] = std::make_shared<const Graph>(std::move(graph));
  }
  LOWTIDE_CHECK(false, "the first subgraph is the last one of the order");
  return Error{};
}

}  // namespace lowtide
