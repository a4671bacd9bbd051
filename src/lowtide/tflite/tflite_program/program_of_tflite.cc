// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/program_of_tflite.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/c_source/c_kernels/c_kernel.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/tflite/tflite_program/c_type.h"
#include "lowtide/tflite/tflite_program/cmsis_call.h"
#include "lowtide/tflite/tflite_program/folded_constants.h"
#include "lowtide/tflite/tflite_program/operator_call.h"
#include "lowtide/tflite/tflite_program/plan_arena.h"
#include "lowtide/tflite/tflite_program/refusals.h"
#include "lowtide/tflite/tflite_program/resource_variables.h"
#include "lowtide/tflite/tflite_program/tensor_facts.h"
#include "lowtide/tflite/tflite_program/used_constants.h"

namespace lowtide {
namespace tflite_program_internal {
namespace {

constexpr std::string_view kCopy = "copy";

// What TensorFlow Lite Micro fills a variable with before the first run: 0 as a real number for INT8, otherwise zeros.
// Requires: the tensor has no zero_point_fault().
std::string initial_bytes(const TfliteTensor& tensor, Bytes size) {
  const std::vector<std::int64_t>& zero_points = tensor.quantization.zero_points;
  if (tensor.type != TfliteType::int8 || zero_points.empty() || zero_points.front() == 0) return "";
  return std::string(static_cast<std::size_t>(size.count()), static_cast<char>(zero_points.front()));
}

// Whether a call after the first one touches other tensors than the output.
bool touches_more(const CCall& call, std::uint32_t output) {
  return std::ranges::any_of(call.operands, [&](const COperand& operand) {
    const auto* index = std::get_if<CTensorIndex>(&operand);
    return index != nullptr && index->value != output;
  });
}

// The inputs whose bytes the first result may have, because the first call of the operator allows it, and those after
// it only change the result.
std::vector<std::size_t> inputs_in_place(const TfliteOperator& op, const std::vector<CCall>& calls) {
  if (calls.empty() || op.outputs.empty() || !op.outputs.front()) return {};
  for (const CCall& call : calls) {
    if (&call != &calls.front() && touches_more(call, *op.outputs.front())) return {};
  }
  const std::vector<CPointer>& pointers = find_c_kernel(calls.front().kernel)->pointers;
  const std::vector<COperand>& operands = calls.front().operands;
  // Whether all pointers to a tensor, except for the output, may be equal to the output.
  const auto may_be_output = [&](std::uint32_t tensor) {
    bool is_there = false;
    for (std::size_t at = 0; at + 1 < pointers.size(); ++at) {
      const auto* index = std::get_if<CTensorIndex>(&operands[at]);
      if (index == nullptr || index->value != tensor) continue;
      if (!pointers[at].may_be_output) return false;
      is_there = true;
    }
    return is_there;
  };
  const auto* output = std::get_if<CTensorIndex>(&operands.back());
  if (output == nullptr || output->value != *op.outputs.front()) return {};
  std::vector<std::size_t> inputs;
  for (std::size_t at = 0; at < op.inputs.size(); ++at) {
    if (op.inputs[at] && may_be_output(*op.inputs[at])) inputs.push_back(at);
  }
  return inputs;
}

class Making {
 public:
  Making(const TfliteModel& model, std::string_view bytes, const ProgramOfTfliteOptions& options)
      : model_(model), bytes_(bytes), options_(options), main_(model.subgraphs.front()) {
    program_.name = options.name;
    program_.cmsis = options.cmsis;
  }

  Result<ProgramOfTflite> make() && {
    LOWTIDE_TRY(resources_, resource_variables(model_, bytes_));
    folded_ = fold_constants(model_, bytes_, resources_.is_done_before);
    LOWTIDE_RETURN_IF_ERROR(make_calls());
    LOWTIDE_TRY(const ArenaPlan plan, plan_arena(folded_.model, bytes_, rules(),
                                                 {.alignment = kCAlignment,
                                                  .order_effort = options_.order_effort,
                                                  .allocate_effort = options_.allocate_effort,
                                                  .stop = options_.stop}));
    program_.arena = plan.arena;
    add_calls(plan);
    LOWTIDE_RETURN_IF_ERROR(add_tensors(plan));
    LOWTIDE_RETURN_IF_ERROR(add_ports());
    keep_used_constants(tensor_constants_, program_);
    return ProgramOfTflite{.program = std::move(program_), .bound = plan.bound + (program_.arena - plan.arena)};
  }

 private:
  // The operand of each tensor: a constant, or the number of the tensor in the file until add_tensors().
  void make_operands(std::vector<std::string>& without_type) {
    operands_.resize(main_.tensors.size());
    for (std::size_t at = 0; at < main_.tensors.size(); ++at) {
      const TfliteTensor& tensor = main_.tensors[at];
      const std::optional<CType> type = c_type(tensor.type);
      if (folded_.contents[at] && !type) {
        without_type[at] = "C source has no constants of type " + std::string(to_string(tensor.type));
      } else if (folded_.contents[at]) {
        operands_[at] = CConstantIndex{program_.constants.size()};
        program_.constants.push_back(
            {.name = tensor.name, .type = *type, .shape = tensor.shape, .bytes = *folded_.contents[at]});
      } else if (is_constant(model_, tensor)) {
        Result<CConstant> constant = c_constant(model_, bytes_, tensor);
        if (!constant) {
          without_type[at] = constant.error().message;
          continue;
        }
        operands_[at] = CConstantIndex{program_.constants.size()};
        program_.constants.push_back(*std::move(constant));
      } else {
        // Variables have numbers behind those of the tensors.
        const std::optional<std::size_t> variable = resources_.of_tensor[at];
        operands_[at] = CTensorIndex{variable ? main_.tensors.size() + *variable : at};
      }
    }
    tensor_constants_ = program_.constants.size();
  }

  // Copies from and to variables, and what operator_call.h knows.
  Result<std::vector<CCall>> calls_of(std::uint32_t number, const std::vector<COperand>& operands) {
    const TfliteOperator& op = main_.operators[number];
    const bool reads = is_builtin(op, "READ_VARIABLE") && op.inputs.size() == 1 && op.outputs.size() == 1;
    const bool assigns = is_builtin(op, "ASSIGN_VARIABLE") && op.inputs.size() == 2;
    const std::optional<std::uint32_t> handle = reads || assigns ? op.inputs.front() : std::nullopt;
    const std::optional<std::uint32_t> tensor = reads ? op.outputs.front() : assigns ? op.inputs.back() : std::nullopt;
    if (!handle || !tensor || !resources_.of_tensor[*handle]) {
      return calls_of_operator({model_, bytes_, 0, number}, operands, program_.constants);
    }
    LOWTIDE_TRY(const CTensor copied, tensor_of(*tensor));
    const std::string& name = resources_.variables[*resources_.of_tensor[*handle]].name;
    CCall call{.kernel = std::string(kCopy),
               .parameters = {{"bytes", static_cast<std::int32_t>(copied.size.count())}},
               .operands = {operands[*handle], operands[*tensor]},
               .origin = op.type + " " + std::to_string(number) + " (" + name + ")"};
    if (assigns) std::swap(call.operands.front(), call.operands.back());
    return std::vector<CCall>{std::move(call)};
  }

  // Scratch has numbers behind those of variables.
  [[nodiscard]] std::size_t number_of_scratch(std::size_t kept) const {
    return main_.tensors.size() + resources_.variables.size() + kept;
  }

  // Calls CMSIS-NN where it has a function. Returns the scratch that one of the calls needs.
  Bytes call_cmsis(std::vector<CCall>& calls, std::size_t kept) {
    Bytes most;
    for (CCall& call : calls) {
      if (!options_.cmsis) break;
      std::optional<CmsisCall> made =
          cmsis_call(call, *options_.cmsis, CTensorIndex{number_of_scratch(kept)}, program_.constants);
      if (!made) continue;
      call = std::move(made->call);
      most = std::max(most, made->scratch);
    }
    return most;
  }

  // Errors: those of all operators together.
  Result<void> make_calls() {
    std::vector<std::string> without_type(main_.tensors.size());
    make_operands(without_type);
    Refusals refused;
    for (const std::uint32_t op : folded_.kept) {
      std::string why;
      for (const std::optional<std::uint32_t>& input : main_.operators[op].inputs) {
        if (input && !without_type[*input].empty()) why = without_type[*input];
      }
      Result<std::vector<CCall>> calls = calls_of(op, operands_);
      if (!calls) {
        refused.add(main_.operators[op].type, op, calls.error());
      } else if (!why.empty()) {
        refused.add(main_.operators[op].type, op, {ErrorCode::unsupported, why, ""});
      }
      calls_.push_back(calls ? *std::move(calls) : std::vector<CCall>());
      scratch_.push_back(call_cmsis(calls_.back(), scratch_.size()));
    }
    if (refused.is_empty()) return {};
    return refused.error();
  }

  [[nodiscard]] std::vector<OperatorRules> rules() const {
    std::vector<OperatorRules> all;
    for (std::size_t at = 0; at < folded_.kept.size(); ++at) {
      const std::vector<CCall>& calls = calls_[at];
      all.push_back({.in_place = inputs_in_place(main_.operators[folded_.kept[at]], calls),
                     .is_copy = calls.size() == 1 && calls.front().kernel == kCopy,
                     .scratch = scratch_[at]});
    }
    return all;
  }

  // The calls in the order of the plan.
  void add_calls(const ArenaPlan& plan) {
    first_calls_ = {0};
    for (std::size_t at = 0; at < plan.calls.size(); ++at) {
      for (CCall& call : calls_[plan.calls[at]]) program_.calls.push_back(std::move(call));
      first_calls_.push_back(static_cast<std::int64_t>(program_.calls.size()));
    }
  }

  Result<CTensor> tensor_of(std::uint32_t number) const {
    const TfliteTensor& tensor = main_.tensors[number];
    const std::string what = "tensor " + quoted(tensor.name, 60);
    const std::string place = "subgraph 0: tensor " + std::to_string(number);
    const std::optional<CType> type = c_type(tensor.type);
    if (!type) {
      return Error{ErrorCode::unsupported,
                   what + " has type " + std::string(to_string(tensor.type)) + ", which C source does not have", place};
    }
    if (!bounded_bytes(tensor)) return Error{ErrorCode::over_limit, what + " has 2 GiB or more", place};
    if (const auto fault = zero_point_fault(tensor)) return Error{ErrorCode::invalid, *fault, place};
    CTensor made{.name = tensor.name, .type = *type, .shape = tensor.shape, .size = {}};
    made.size = Bytes(elements_of(tensor.shape) * size_of(*type));
    if (tensor.quantization.scales.size() == 1) {
      made.quantization = CQuantization{.scale = scale_of(tensor), .zero_point = zero_point_of(tensor)};
    }
    return made;
  }

  // Makes the tensors that have a place, and turns the numbers in calls into their indexes. States follow the rest.
  Result<void> add_tensors(const ArenaPlan& plan) {
    index_of_.resize(number_of_scratch(scratch_.size()));
    const std::vector<bool> is_used = used_numbers();
    for (std::uint32_t number = 0; number < main_.tensors.size(); ++number) {
      const bool is_state = main_.tensors[number].is_variable && is_used[number];
      if (!is_state && !plan.tensors[number]) continue;
      LOWTIDE_TRY(CTensor tensor, tensor_of(number));
      if (is_state) {
        tensor.initial = initial_bytes(main_.tensors[number], tensor.size);
        place_state(tensor);
      } else {
        const auto& [begin, end] = plan.tensors[number]->lifespan;
        tensor.offset = plan.tensors[number]->offset;
        tensor.lifespan = {first_calls_[static_cast<std::size_t>(begin)], first_calls_[static_cast<std::size_t>(end)]};
      }
      index_of_[number] = program_.tensors.size();
      program_.tensors.push_back(std::move(tensor));
    }
    LOWTIDE_RETURN_IF_ERROR(add_variables());
    add_scratch(plan);
    for (CCall& call : program_.calls) {
      for (COperand& operand : call.operands) {
        auto* tensor = std::get_if<CTensorIndex>(&operand);
        if (tensor == nullptr) continue;
        LOWTIDE_CHECK(index_of_[tensor->value].has_value(), "a tensor that a call uses has a place");
        tensor->value = *index_of_[tensor->value];
      }
    }
    return {};
  }

  void add_scratch(const ArenaPlan& plan) {
    for (std::size_t at = 0; at < plan.calls.size(); ++at) {
      if (!plan.scratch[at]) continue;
      const std::uint32_t kept = plan.calls[at];
      index_of_[number_of_scratch(kept)] = program_.tensors.size();
      program_.tensors.push_back(
          {.name = "scratch of " + main_.operators[folded_.kept[kept]].type + " " + std::to_string(folded_.kept[kept]),
           .type = CType::uint8,
           .shape = {scratch_[kept].count()},
           .size = scratch_[kept],
           .offset = *plan.scratch[at],
           .lifespan = {first_calls_[at], first_calls_[at + 1]}});
    }
  }

  void place_state(CTensor& state) {
    state.is_state = true;
    state.lifespan = {0, static_cast<std::int64_t>(program_.calls.size())};
    state.offset = Offset() + program_.arena;
    program_.arena += round_up(state.size, kCAlignment);
  }

  Result<void> add_variables() {
    for (std::size_t at = 0; at < resources_.variables.size(); ++at) {
      const ResourceVariable& variable = resources_.variables[at];
      if (!variable.like) continue;
      LOWTIDE_TRY(CTensor state, tensor_of(*variable.like));
      state.name = variable.name;
      state.initial = variable.initial.value_or(initial_bytes(main_.tensors[*variable.like], state.size));
      if (!state.initial.empty() && static_cast<std::int64_t>(state.initial.size()) != state.size.count()) {
        return Error{ErrorCode::invalid,
                     "variable " + quoted(variable.name, 60) + " of " + std::to_string(state.size.count()) +
                         " bytes begins with " + std::to_string(state.initial.size()) + " bytes",
                     "subgraph 0"};
      }
      place_state(state);
      index_of_[main_.tensors.size() + at] = program_.tensors.size();
      program_.tensors.push_back(std::move(state));
    }
    return {};
  }

  // Which numbers of tensors, variables and scratch are in calls.
  [[nodiscard]] std::vector<bool> used_numbers() const {
    std::vector<bool> used(number_of_scratch(scratch_.size()), false);
    for (const CCall& call : program_.calls) {
      for (const COperand& operand : call.operands) {
        if (const auto* tensor = std::get_if<CTensorIndex>(&operand)) used[tensor->value] = true;
      }
    }
    return used;
  }

  // Outputs that are constants are copied to places behind all else, after all other calls.
  void add_constant_outputs() {
    const auto last = static_cast<std::int64_t>(program_.calls.size());
    for (const std::uint32_t number : main_.outputs) {
      const auto* constant = std::get_if<CConstantIndex>(&operands_[number]);
      if (index_of_[number] || constant == nullptr) continue;
      Result<CTensor> made = tensor_of(number);
      if (!made) continue;
      const auto call = static_cast<std::int64_t>(program_.calls.size());
      made->lifespan = {call, call + 1};
      made->offset = Offset() + program_.arena;
      program_.arena += round_up(made->size, kCAlignment);
      index_of_[number] = program_.tensors.size();
      program_.calls.push_back({.kernel = std::string(kCopy),
                                .parameters = {{"bytes", static_cast<std::int32_t>(made->size.count())}},
                                .operands = {*constant, CTensorIndex{program_.tensors.size()}},
                                .origin = "copy of " + quoted(made->name, 60)});
      program_.tensors.push_back(*std::move(made));
    }
    // States and outputs are live to the end.
    const auto end = static_cast<std::int64_t>(program_.calls.size());
    for (CTensor& tensor : program_.tensors) {
      if (tensor.lifespan.end >= last) tensor.lifespan.end = end;
    }
  }

  using Names = std::vector<std::pair<std::string, std::uint32_t>>;

  Result<std::vector<CPort>> ports_of(const std::vector<std::uint32_t>& numbers, const Names& names,
                                      const std::string& what) const {
    std::map<std::uint32_t, std::string_view> name_of;
    for (const auto& [name, tensor] : names) name_of[tensor] = name;
    std::vector<CPort> ports;
    for (const std::uint32_t number : numbers) {
      const auto known = name_of.find(number);
      std::string name(known != name_of.end() ? known->second : main_.tensors[number].name);
      if (!index_of_[number]) {
        return Error{ErrorCode::unsupported,
                     what + " " + quoted(name, 60) + " is a constant, which C source cannot have", "subgraph 0"};
      }
      ports.push_back({.name = std::move(name), .tensor = *index_of_[number]});
    }
    return ports;
  }

  Result<void> add_ports() {
    const auto signature = std::ranges::find(model_.signatures, 0U, &TfliteSignature::subgraph);
    const bool is_signed = signature != model_.signatures.end();
    LOWTIDE_TRY(program_.inputs, ports_of(main_.inputs, is_signed ? signature->inputs : Names(), "input"));
    add_constant_outputs();
    LOWTIDE_TRY(program_.outputs, ports_of(main_.outputs, is_signed ? signature->outputs : Names(), "output"));
    return {};
  }

  const TfliteModel& model_;
  const std::string_view bytes_;
  const ProgramOfTfliteOptions& options_;
  const TfliteSubgraph& main_;
  ResourceVariables resources_;
  FoldedConstants folded_;
  std::vector<COperand> operands_;                    // per tensor of the file
  std::size_t tensor_constants_ = 0;                  // the first constants are tensors of the file
  std::vector<std::vector<CCall>> calls_;             // per kept operator
  std::vector<Bytes> scratch_;                        // per kept operator
  std::vector<std::int64_t> first_calls_;             // per operator in the order of the plan, and the end
  std::vector<std::optional<std::size_t>> index_of_;  // per tensor of the file, variable and scratch
  CProgram program_;
};

}  // namespace
}  // namespace tflite_program_internal

Result<ProgramOfTflite> program_of_tflite(const TfliteModel& model, std::string_view bytes,
                                          const ProgramOfTfliteOptions& options) {
  return tflite_program_internal::Making(model, bytes, options).make();
}

}  // namespace lowtide
