// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_kernels/fixed_point.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/tflite_program/c_type.h"
#include "lowtide/tflite/tflite_program/operator_place.h"
#include "lowtide/tflite/tflite_program/tensor_facts.h"

namespace lowtide::tflite_program_internal {

// An operator whose calls are made: what the file says about it, and the calls so far.
class OperatorContext {
 public:
  OperatorContext(const TfliteOperatorPlace& place, std::span<const COperand> operands,
                  std::vector<CConstant>& constants)
      : place_(place), operands_(operands), constants_(constants) {}

  [[nodiscard]] const std::string& type() const { return op().type; }
  [[nodiscard]] std::size_t input_count() const { return op().inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return op().outputs.size(); }

  // Requires: there is such an operand, as check_operands() has found.
  [[nodiscard]] const TfliteTensor& input(std::size_t at) const { return tensor(*op().inputs[at]); }
  [[nodiscard]] const TfliteTensor& output(std::size_t at = 0) const { return tensor(*op().outputs[at]); }
  [[nodiscard]] bool has_input(std::size_t at) const { return at < input_count() && op().inputs[at].has_value(); }

  // Checks that the first `inputs` inputs and the first `outputs` outputs are there, and that no tensor has 2 GiB.
  [[nodiscard]] Result<void> check_operands(std::size_t inputs, std::size_t outputs) const;

  // Checks that the types of these operands are among the combinations of rows.
  struct Types {
    std::vector<TfliteType> inputs;
    TfliteType output;
  };
  [[nodiscard]] Result<void> check_types(const std::vector<Types>& rows) const;

  // Checks that all these tensors have one scale and one zero point, which fits the type.
  [[nodiscard]] Result<void> check_quantized(std::initializer_list<const TfliteTensor*> tensors) const;

  // The multiplier for a factor, which is made of the scales of the operator. Errors: invalid, if it is not below 2^31
  // after rounding.
  [[nodiscard]] Result<QuantizedMultiplier> multiplier(double factor) const;
  // Checks that the sum of this number of products of 8 bits has 32 bits. Errors: unsupported.
  [[nodiscard]] Result<void> check_products(std::int64_t count) const;
  // An axis of a tensor with this rank, counted from the front. Errors: invalid, if there is no such axis.
  [[nodiscard]] Result<std::size_t> axis(std::int64_t stated, std::size_t rank) const;

  // The options of the operator. Those that the file omits are 0.
  [[nodiscard]] std::int64_t option(std::string_view name) const;
  [[nodiscard]] double real_option(std::string_view name) const;
  [[nodiscard]] std::string_view name_option(std::string_view name) const;

  // The options of a custom operator, as bytes whose meaning it knows.
  [[nodiscard]] std::string_view custom_options() const;

  // The numbers of a constant of type INT32 or INT64. Errors: unsupported, if it is computed.
  [[nodiscard]] Result<std::vector<std::int64_t>> integers(std::size_t input) const;
  // The bytes of a constant.
  [[nodiscard]] Result<std::string_view> bytes(std::size_t input) const;
  // The elements of a constant of type FLOAT32, also of one that is computed when the model is loaded. Errors:
  // unsupported, if a run computes it or it has another type.
  [[nodiscard]] Result<std::vector<float>> floats(std::size_t input) const;

  // The limits of an integer output with the operator's activation.
  [[nodiscard]] Result<Range> activation_range(const TfliteTensor& tensor) const;

  // What operands are in the program. Inputs that are absent are null.
  [[nodiscard]] COperand in(std::size_t at) const;
  [[nodiscard]] COperand out(std::size_t at = 0) const { return operands_[*op().outputs[at]]; }
  // Appends a constant. `what` says for readers what it is.
  [[nodiscard]] COperand constant(const std::string& what, const std::vector<std::int32_t>& values);
  [[nodiscard]] COperand constant(const std::string& what, const std::vector<std::int8_t>& values);
  [[nodiscard]] COperand constant(const std::string& what, const std::vector<std::int16_t>& values);
  [[nodiscard]] COperand constant(const std::string& what, const std::vector<float>& values);
  [[nodiscard]] COperand constant(CConstant constant);

  void call(std::string_view kernel, std::vector<CParameter> parameters, std::vector<COperand> operands);
  [[nodiscard]] std::vector<CCall> take_calls() && { return std::move(calls_); }

  [[nodiscard]] Error unsupported(const std::string& what) const { return error(ErrorCode::unsupported, what); }
  [[nodiscard]] Error invalid(const std::string& what) const { return error(ErrorCode::invalid, what); }

 private:
  [[nodiscard]] const TfliteSubgraph& subgraph() const { return place_.model.subgraphs[place_.subgraph]; }
  [[nodiscard]] const TfliteOperator& op() const { return subgraph().operators[place_.op]; }
  [[nodiscard]] const TfliteTensor& tensor(std::uint32_t index) const { return subgraph().tensors[index]; }
  [[nodiscard]] Error error(ErrorCode code, const std::string& what) const;
  [[nodiscard]] std::string origin() const;

  const TfliteOperatorPlace& place_;
  std::span<const COperand> operands_;
  std::vector<CConstant>& constants_;
  std::vector<CCall> calls_;
};

// A parameter. Requires: the value fits.
[[nodiscard]] CParameter parameter(std::string_view name, std::int64_t value);
[[nodiscard]] CParameter parameter(std::string_view name, const std::vector<std::int64_t>& values);

}  // namespace lowtide::tflite_program_internal
