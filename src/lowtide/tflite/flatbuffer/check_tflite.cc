// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/flatbuffer/check_tflite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::flatbuffer_internal {
namespace {

// nullopt: more than 2^63 - 1.
std::optional<std::int64_t> dense_bytes(int bits, const std::vector<std::int64_t>& shape) {
  std::optional<std::int64_t> count = bits;
  for (std::int64_t extent : shape) {
    if (extent == 0) return 0;
    if (count) count = checked_multiply(*count, extent);
  }
  return count ? std::optional((*count - 1) / 8 + 1) : std::nullopt;
}

// Some converters give the axis of a filter to its bias, too, which has only one.
void mend_axis(TfliteTensor& tensor) {
  const auto& scales = tensor.quantization.scales;
  const bool is_vector = tensor.shape.size() == 1 && std::cmp_equal(tensor.shape[0], scales.size());
  if (is_vector || scales.size() < 2) tensor.quantization.axis = 0;
}

Result<void> check_quantization(const TfliteTensor& tensor, const std::string& place) {
  const auto& [scales, zero_points, axis] = tensor.quantization;
  for (double scale : scales) {
    if (!std::isfinite(scale) || scale < 0) return invalid("it has a scale that is negative or not finite", place);
  }
  if (!zero_points.empty() && zero_points.size() != scales.size() && (zero_points.size() != 1 || scales.empty())) {
    return invalid("it has " + std::to_string(scales.size()) + " scales and " + std::to_string(zero_points.size()) +
                       " zero points",
                   place);
  }
  if (scales.size() < 2) return {};
  if (axis < 0 || std::cmp_greater_equal(axis, tensor.shape.size())) {
    return invalid("it has a scale per index of axis " + std::to_string(axis) + ", and its rank is " +
                       std::to_string(tensor.shape.size()),
                   place);
  }
  if (std::cmp_equal(tensor.shape[static_cast<std::size_t>(axis)], scales.size())) return {};
  return invalid("it has " + std::to_string(scales.size()) + " scales, and axis " + std::to_string(axis) +
                     " has extent " + std::to_string(tensor.shape[static_cast<std::size_t>(axis)]),
                 place);
}

Result<void> check_tensor(const TfliteModel& model, const TfliteTensor& tensor, const std::string& place) {
  for (std::int64_t extent : tensor.shape) {
    if (extent < 0) return invalid("it has the extent " + std::to_string(extent), place);
  }
  if (tensor.buffer >= model.buffers.size()) {
    return invalid("it has buffer " + std::to_string(tensor.buffer) + ", and the file has " +
                       std::to_string(model.buffers.size()) + " buffers",
                   place);
  }
  LOWTIDE_RETURN_IF_ERROR(check_quantization(tensor, place));
  const std::optional<int> bits = bits_of(tensor.type);
  if (!bits || tensor.type == TfliteType::resource || tensor.is_sparse) return {};
  const std::optional<std::int64_t> bytes = dense_bytes(*bits, tensor.shape);
  if (!bytes || *bytes > limits::kMaxTensorBytes) {
    return Error{ErrorCode::over_limit,
                 "it has more than " + std::to_string(limits::kMaxTensorBytes) + " bytes (kMaxTensorBytes)", place};
  }
  if (!is_constant(model, tensor) || model.buffers[tensor.buffer].size == *bytes) return {};
  return invalid("its shape and type need " + std::to_string(*bytes) + " bytes, and buffer " +
                     std::to_string(tensor.buffer) + " has " + std::to_string(model.buffers[tensor.buffer].size),
                 place);
}

// Each tensor is written once, before it is read.
class Writes {
 public:
  Writes(const TfliteModel& model, const TfliteSubgraph& subgraph, std::string place)
      : model_(model), subgraph_(subgraph), place_(std::move(place)), is_there_(subgraph.tensors.size(), false) {}

  Result<void> check() {
    for (std::uint32_t at = 0; at < subgraph_.tensors.size(); ++at) {
      const TfliteTensor& tensor = subgraph_.tensors[at];
      const bool is_empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
      is_there_[at] = is_constant(model_, tensor) || tensor.is_variable || is_empty;
    }
    for (std::uint32_t input : subgraph_.inputs) is_there_[input] = true;
    const std::vector<bool> is_given = is_there_;
    for (std::uint32_t at = 0; at < subgraph_.operators.size(); ++at) {
      const TfliteOperator& op = subgraph_.operators[at];
      for (const std::optional<std::uint32_t>& input : op.inputs) {
        if (input && !is_there_[*input]) return missing(*input, operator_place(place_, at, op.type));
      }
      for (const std::optional<std::uint32_t>& output : op.outputs) {
        if (!output) continue;
        if (is_there_[*output] && !may_be_written(*output, is_given)) {
          return invalid("it writes " + shown(*output) + ", which has a content already",
                         operator_place(place_, at, op.type));
        }
        is_there_[*output] = true;
      }
    }
    for (std::uint32_t output : subgraph_.outputs) {
      if (!is_there_[output]) return missing(output, place_ + ": outputs");
    }
    return {};
  }

 private:
  // An output may have no elements.
  bool may_be_written(std::uint32_t tensor, const std::vector<bool>& is_given) const {
    const TfliteTensor& one = subgraph_.tensors[tensor];
    return is_given[tensor] && !one.is_variable && !is_constant(model_, one) &&
           std::find(subgraph_.inputs.begin(), subgraph_.inputs.end(), tensor) == subgraph_.inputs.end();
  }

  [[nodiscard]] std::string shown(std::uint32_t tensor) const {
    return "tensor " + std::to_string(tensor) + " " + quoted(subgraph_.tensors[tensor].name, 60);
  }

  [[nodiscard]] Error missing(std::uint32_t tensor, std::string place) const {
    return invalid("it reads " + shown(tensor) + ", and no operator before writes it", std::move(place));
  }

  const TfliteModel& model_;
  const TfliteSubgraph& subgraph_;
  const std::string place_;
  std::vector<bool> is_there_;
};

struct CallRow {
  std::string_view type;
  std::array<std::string_view, 2> options;
};
constexpr std::array<CallRow, 4> kCalls = {{{"IF", {"then_subgraph_index", "else_subgraph_index"}},
                                            {"WHILE", {"cond_subgraph_index", "body_subgraph_index"}},
                                            {"CALL_ONCE", {"init_subgraph_index", ""}},
                                            {"CALL", {"subgraph", ""}}}};

Result<void> find_calls(const TfliteModel& model, TfliteOperator& op, const std::string& place) {
  for (const CallRow& row : kCalls) {
    if (op.builtin == kTfliteCustom || op.type != row.type) continue;
    for (std::string_view name : row.options) {
      if (name.empty()) continue;
      const auto* index = find_option<std::int64_t>(op, name);
      if (index == nullptr) return invalid("it has no option " + std::string(name), place);
      if (*index < 0 || std::cmp_greater_equal(*index, model.subgraphs.size())) {
        return invalid("its option " + std::string(name) + " is " + std::to_string(*index) + ", and the file has " +
                           std::to_string(model.subgraphs.size()) + " subgraphs",
                       place);
      }
      op.calls.push_back({std::string(name), static_cast<std::uint32_t>(*index)});
    }
  }
  return {};
}

// The operands of an operator and the inputs and outputs of what it runs correspond to each other.
Result<void> check_call(const TfliteModel& model, const TfliteOperator& op, const TfliteCall& call,
                        const std::string& place) {
  const TfliteSubgraph& body = model.subgraphs[call.subgraph];
  const bool is_once = op.type == "CALL_ONCE";
  const std::size_t given = is_once ? 0 : op.inputs.size() - (op.type == "IF" && !op.inputs.empty() ? 1 : 0);
  const std::size_t results = is_once ? 0 : call.name == "cond_subgraph_index" ? 1 : op.outputs.size();
  if (body.inputs.size() == given && body.outputs.size() == results) return {};
  return invalid("it gives " + std::to_string(given) + " tensors to subgraph " + std::to_string(call.subgraph) +
                     " and takes " + std::to_string(results) + ", but that one has " +
                     std::to_string(body.inputs.size()) + " inputs and " + std::to_string(body.outputs.size()) +
                     " outputs",
                 place);
}

Result<void> check_calls(TfliteModel& model) {
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    TfliteSubgraph& subgraph = model.subgraphs[index];
    const std::string around = subgraph_place(index, subgraph.name);
    for (std::uint32_t at = 0; at < subgraph.operators.size(); ++at) {
      TfliteOperator& op = subgraph.operators[at];
      const std::string place = operator_place(around, at, op.type);
      LOWTIDE_RETURN_IF_ERROR(find_calls(model, op, place));
      for (const TfliteCall& call : op.calls) LOWTIDE_RETURN_IF_ERROR(check_call(model, op, call, place));
    }
  }
  return {};
}

// Removes subgraphs that call none of the others, until no more can be removed.
Result<void> check_cycles(const TfliteModel& model) {
  std::vector<std::vector<std::uint32_t>> callers(model.subgraphs.size());
  std::vector<std::size_t> calls(model.subgraphs.size(), 0);
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    for (const TfliteOperator& op : model.subgraphs[index].operators) {
      for (const TfliteCall& call : op.calls) {
        callers[call.subgraph].push_back(index);
        ++calls[index];
      }
    }
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t index = 0; index < calls.size(); ++index) {
    if (calls[index] == 0) ready.push_back(index);
  }
  for (std::size_t at = 0; at < ready.size(); ++at) {
    for (std::uint32_t caller : callers[ready[at]]) {
      if (--calls[caller] == 0) ready.push_back(caller);
    }
  }
  for (std::uint32_t index = 0; index < calls.size(); ++index) {
    if (calls[index] == 0) continue;
    return invalid("it runs itself, or a subgraph that does", subgraph_place(index, model.subgraphs[index].name));
  }
  return {};
}

Result<void> check_names(const TfliteModel& model) {
  for (const TfliteMetadata& one : model.metadata) {
    if (one.buffer < model.buffers.size()) continue;
    return invalid("it has buffer " + std::to_string(one.buffer) + ", and the file has " +
                       std::to_string(model.buffers.size()) + " buffers",
                   "metadata " + quoted(one.name, 60));
  }
  for (const TfliteSignature& one : model.signatures) {
    const std::string place = "signature " + quoted(one.key, 60);
    if (one.subgraph >= model.subgraphs.size()) {
      return invalid("it has subgraph " + std::to_string(one.subgraph) + ", and the file has " +
                         std::to_string(model.subgraphs.size()) + " subgraphs",
                     place);
    }
    for (const auto& [names, what] : {std::pair(&one.inputs, "input "), std::pair(&one.outputs, "output ")}) {
      for (const auto& [name, tensor] : *names) {
        if (tensor < model.subgraphs[one.subgraph].tensors.size()) continue;
        return invalid(what + quoted(name, 60) + " is tensor " + std::to_string(tensor) + ", and the subgraph has " +
                           std::to_string(model.subgraphs[one.subgraph].tensors.size()),
                       place);
      }
    }
  }
  return {};
}

}  // namespace

std::string subgraph_place(std::uint32_t index, std::string_view name) {
  return "subgraph " + std::to_string(index) + (name.empty() ? "" : " " + quoted(name, 60));
}

std::string tensor_place(const std::string& subgraph, std::uint32_t index, std::string_view name) {
  return subgraph + ": tensor " + std::to_string(index) + (name.empty() ? "" : " " + quoted(name, 60));
}

std::string operator_place(const std::string& subgraph, std::uint32_t index, std::string_view type) {
  const std::string shown = quoted(type, 60);  // names of custom operators are any bytes
  const bool is_plain = shown.size() == type.size() + 2;
  return subgraph + ": operator " + std::to_string(index) + " " + (is_plain ? std::string(type) : shown);
}

Result<void> check_tflite(TfliteModel& model) {
  if (model.subgraphs.empty()) return invalid("the file has no subgraph", "");
  for (std::uint32_t index = 0; index < model.subgraphs.size(); ++index) {
    TfliteSubgraph& subgraph = model.subgraphs[index];
    const std::string place = subgraph_place(index, subgraph.name);
    for (std::uint32_t at = 0; at < subgraph.tensors.size(); ++at) {
      TfliteTensor& tensor = subgraph.tensors[at];
      mend_axis(tensor);
      LOWTIDE_RETURN_IF_ERROR(check_tensor(model, tensor, tensor_place(place, at, tensor.name)));
    }
    LOWTIDE_RETURN_IF_ERROR(Writes(model, subgraph, place).check());
  }
  LOWTIDE_RETURN_IF_ERROR(check_calls(model));
  LOWTIDE_RETURN_IF_ERROR(check_cycles(model));
  return check_names(model);
}

}  // namespace lowtide::flatbuffer_internal
