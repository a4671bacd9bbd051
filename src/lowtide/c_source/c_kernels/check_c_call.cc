// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"

namespace lowtide {
namespace {

bool fits(const CMember& member, const CParameter& parameter) {
  if (member.name != parameter.name) return false;
  if (member.is_real) return std::holds_alternative<float>(parameter.value);
  if (!member.length) return std::holds_alternative<std::int32_t>(parameter.value);
  const auto* list = std::get_if<std::vector<std::int32_t>>(&parameter.value);
  return list != nullptr && static_cast<std::int64_t>(list->size()) == *member.length;
}

bool has_type(const CPointer& pointer, CType type) {
  return !pointer.type || *pointer.type == (type == CType::boolean ? CType::uint8 : type);
}

bool is_inside(const CProgram& program, Offset offset, Bytes size) {
  const auto end = checked_add(offset.position(), size.count());
  return offset.position() >= 0 && size.count() >= 0 && end && *end <= program.arena.count();
}

// Whether the operand exists, is in the arena, and may be this pointer.
struct OperandFits {
  const CProgram& program;
  const CPointer& pointer;

  bool operator()(std::monostate /*null*/) const { return pointer.may_be_null; }
  bool operator()(CTensorIndex index) const {
    if (index.value >= program.tensors.size()) return false;
    const CTensor& tensor = program.tensors[index.value];
    return has_type(pointer, tensor.type) && tensor.offset.position() % size_of(tensor.type) == 0 &&
           is_inside(program, tensor.offset, tensor.size);
  }
  bool operator()(CConstantIndex index) const {
    return index.value < program.constants.size() && !pointer.is_written &&
           has_type(pointer, program.constants[index.value].type);
  }
};

}  // namespace

Result<void> check_c_call(const CProgram& program, const CCall& call) {
  const CKernel* kernel = find_c_kernel(call.kernel);
  if (kernel == nullptr)
    return Error{ErrorCode::unsupported, "no kernel is named " + quoted(call.kernel), quoted(call.origin)};
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorCode::invalid, "the call does not fit the kernel " + call.kernel + ": " + what,
                 quoted(call.origin)};
  };
  if (call.parameters.size() != kernel->members.size()) {
    return refuse("it has " + std::to_string(call.parameters.size()) + " parameters, and the kernel has " +
                  std::to_string(kernel->members.size()));
  }
  for (std::size_t at = 0; at < call.parameters.size(); ++at) {
    if (!fits(kernel->members[at], call.parameters[at])) {
      return refuse("parameter " + std::to_string(at) + " is not " + std::string(kernel->members[at].name));
    }
  }
  if (call.operands.size() != kernel->pointers.size()) {
    return refuse("it has " + std::to_string(call.operands.size()) + " operands, and the kernel has " +
                  std::to_string(kernel->pointers.size()));
  }
  for (std::size_t at = 0; at < call.operands.size(); ++at) {
    if (!std::visit(OperandFits{program, kernel->pointers[at]}, call.operands[at])) {
      return refuse("operand " + std::to_string(at) + " cannot be " + std::string(kernel->pointers[at].name));
    }
  }
  return {};
}

}  // namespace lowtide
