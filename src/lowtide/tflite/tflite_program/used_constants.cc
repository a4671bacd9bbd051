// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/used_constants.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/c_source/c_kernels/c_kernel.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"

namespace lowtide::tflite_program_internal {
namespace {

std::string name_of(const CConstant& constant, const CCall& call, std::size_t operand) {
  const std::string op = call.origin.substr(0, call.origin.find(" ("));
  const std::string name = std::string(find_c_kernel(call.kernel)->pointers[operand].name) + " of " + op;
  return constant.name.empty() ? name : name + " (" + constant.name + ")";
}

// Constants, each once.
class Kept {
 public:
  // The index of a kept constant with this type and these bytes.
  [[nodiscard]] std::optional<std::size_t> find(const CConstant& constant) const {
    const auto [begin, end] = by_hash_.equal_range(std::hash<std::string>()(constant.bytes));
    for (auto at = begin; at != end; ++at) {
      const CConstant& other = constants_[at->second];
      if (other.type == constant.type && other.bytes == constant.bytes) return at->second;
    }
    return std::nullopt;
  }

  std::size_t add(CConstant constant) {
    by_hash_.emplace(std::hash<std::string>()(constant.bytes), constants_.size());
    constants_.push_back(std::move(constant));
    return constants_.size() - 1;
  }

  [[nodiscard]] std::vector<CConstant> take() && { return std::move(constants_); }

 private:
  std::vector<CConstant> constants_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;
};

}  // namespace

void keep_used_constants(std::size_t tensors, CProgram& program) {
  std::vector<std::optional<std::size_t>> index_of(program.constants.size());
  Kept kept;
  for (CCall& call : program.calls) {
    for (std::size_t at = 0; at < call.operands.size(); ++at) {
      auto* constant = std::get_if<CConstantIndex>(&call.operands[at]);
      if (constant == nullptr) continue;
      std::optional<std::size_t>& index = index_of[constant->value];
      if (!index) {
        CConstant& given = program.constants[constant->value];
        index = kept.find(given);
        if (!index) {
          if (constant->value < tensors) given.name = name_of(given, call, at);
          index = kept.add(std::move(given));
        }
      }
      constant->value = *index;
    }
  }
  program.constants = std::move(kept).take();
}

}  // namespace lowtide::tflite_program_internal
