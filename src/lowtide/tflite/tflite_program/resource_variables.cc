// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/resource_variables.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/flatbuffer/resource_variable.h"
#include "lowtide/tflite/tflite_program/tensor_facts.h"

namespace lowtide::tflite_program_internal {
namespace {

// "container/name", for people.
std::string text_of(const TfliteVariable& variable) {
  const bool has_container = variable.container && !variable.container->empty();
  return (has_container ? *variable.container + "/" : "") + variable.name;
}

// "INT8 [1, 4]"
std::string kind_of(const TfliteTensor& tensor) {
  return std::string(to_string(tensor.type)) + " " + shape_text(tensor.shape);
}

Error refusal(ErrorCode code, std::uint32_t op, const TfliteOperator& of, const std::string& why) {
  return {code, why, "subgraph 0: operator " + std::to_string(op) + " " + of.type};
}

class Search {
 public:
  Search(const TfliteModel& model, std::string_view bytes) : model_(model), bytes_(bytes) {
    found_.of_tensor.resize(main().tensors.size());
    found_.is_done_before.resize(main().operators.size(), false);
  }

  Result<ResourceVariables> run() && {
    for (std::uint32_t at = 0; at < main().operators.size(); ++at) {
      const TfliteOperator& op = main().operators[at];
      if (has_handle(op)) {
        found_.of_tensor[*op.outputs.front()] = number_of(variable_of(op));
        found_.is_done_before[at] = true;
      } else if (is_builtin(op, "CALL_ONCE") && op.calls.size() == 1) {
        LOWTIDE_RETURN_IF_ERROR(call_once(at, op));
        found_.is_done_before[at] = true;
      } else if (is_builtin(op, "READ_VARIABLE") && op.inputs.size() == 1 && op.outputs.size() == 1) {
        LOWTIDE_RETURN_IF_ERROR(use(at, op, op.inputs.front(), op.outputs.front()));
      } else if (is_builtin(op, "ASSIGN_VARIABLE") && op.inputs.size() == 2) {
        LOWTIDE_RETURN_IF_ERROR(use(at, op, op.inputs.front(), op.inputs.back()));
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] const TfliteSubgraph& main() const { return model_.subgraphs.front(); }

  static bool has_handle(const TfliteOperator& op) {
    return is_var_handle(op) && op.outputs.size() == 1 && op.outputs.front();
  }

  std::size_t number_of(const TfliteVariable& variable) {
    const std::size_t number = numbers_.number_of(variable);
    if (number == found_.variables.size()) {
      found_.variables.push_back({.name = text_of(variable), .like = std::nullopt, .initial = std::nullopt});
    }
    return number;
  }

  Result<void> use(std::uint32_t at, const TfliteOperator& op, std::optional<std::uint32_t> handle,
                   std::optional<std::uint32_t> tensor) {
    if (!handle || !tensor || !found_.of_tensor[*handle]) return {};  // the operator is refused later
    ResourceVariable& variable = found_.variables[*found_.of_tensor[*handle]];
    if (!variable.like) variable.like = tensor;
    const TfliteTensor& first = variable.constant != nullptr ? *variable.constant : main().tensors[*variable.like];
    const TfliteTensor& other = main().tensors[*tensor];
    if (first.type == other.type && first.shape == other.shape) return {};
    return refusal(ErrorCode::invalid, at, op,
                   "variable " + quoted(variable.name, 60) + " is " + kind_of(first) + " before and " + kind_of(other) +
                       " here; C source needs one type and one shape for it");
  }

  // The subgraph of a CALL_ONCE gives variables their first content.
  Result<void> call_once(std::uint32_t at, const TfliteOperator& op) {
    const TfliteSubgraph& called = model_.subgraphs[op.calls.front().subgraph];
    std::vector<std::optional<TfliteVariable>> handles(called.tensors.size());
    for (const TfliteOperator& one : called.operators) {
      if (has_handle(one)) {
        handles[*one.outputs.front()] = variable_of(one);
        continue;
      }
      const bool is_assignment = is_builtin(one, "ASSIGN_VARIABLE") && one.inputs.size() == 2 && one.inputs.front() &&
                                 one.inputs.back() && handles[*one.inputs.front()];
      if (!is_assignment || !is_constant(model_, called.tensors[*one.inputs.back()])) {
        return refusal(ErrorCode::unsupported, at, op,
                       "C source needs a subgraph that only assigns constants to variables, and it has the operator " +
                           quoted(one.type, 60));
      }
      ResourceVariable& target = found_.variables[number_of(*handles[*one.inputs.front()])];
      if (target.like) {
        return refusal(ErrorCode::unsupported, at, op,
                       "variable " + quoted(target.name, 60) + " is used before it has its first content");
      }
      target.constant = &called.tensors[*one.inputs.back()];
      if (target.constant->is_sparse) {
        return refusal(ErrorCode::unsupported, at, op,
                       "variable " + quoted(target.name, 60) + " begins with a sparse constant; supported are others");
      }
      const TfliteBytes& where = model_.buffers[target.constant->buffer];
      target.initial = bytes_.substr(static_cast<std::size_t>(where.offset), static_cast<std::size_t>(where.size));
    }
    return {};
  }

  const TfliteModel& model_;
  const std::string_view bytes_;
  TfliteVariableNumbers numbers_;
  ResourceVariables found_;
};

}  // namespace

Result<ResourceVariables> resource_variables(const TfliteModel& model, std::string_view bytes) {
  return Search(model, bytes).run();
}

}  // namespace lowtide::tflite_program_internal
