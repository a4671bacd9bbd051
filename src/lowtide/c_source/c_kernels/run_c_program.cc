// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_kernels/run_c_program.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/c_source/c_kernels/c_kernels.h"
#include "lowtide/c_source/c_kernels/compiled_kernels.h"

namespace lowtide {
namespace {

using Compiled = void (*)(const void*, void* const*);

const std::map<std::string_view, Compiled>& compiled_kernels() {
  static const std::map<std::string_view, Compiled> kernels = [] {
    std::map<std::string_view, Compiled> found;
    for (const CompiledCKernel* row = lowtide_compiled_c_kernels(); row->name != nullptr; ++row) {
      found[row->name] = row->call;
    }
    return found;
  }();
  return kernels;
}

// The struct of a kernel. All of its members have 4 bytes.
std::vector<std::int32_t> struct_of(const CCall& call) {
  std::vector<std::int32_t> words;
  for (const CParameter& parameter : call.parameters) {
    if (const auto* number = std::get_if<std::int32_t>(&parameter.value)) words.push_back(*number);
    if (const auto* real = std::get_if<float>(&parameter.value)) words.push_back(std::bit_cast<std::int32_t>(*real));
    if (const auto* list = std::get_if<std::vector<std::int32_t>>(&parameter.value)) {
      words.insert(words.end(), list->begin(), list->end());
    }
  }
  return words;
}

// The address of an operand. A kernel does not write through those of constants.
struct AddressOf {
  const CProgram& program;
  std::span<std::byte> arena;

  void* operator()(std::monostate /*null*/) const { return nullptr; }
  void* operator()(CTensorIndex index) const { return at(program.tensors[index.value].offset); }
  void* operator()(CConstantIndex index) const {
    return const_cast<char*>(program.constants[index.value].bytes.data());  // NOLINT(*-const-cast)
  }

  [[nodiscard]] void* at(Offset offset) const { return arena.data() + offset.position(); }
};

}  // namespace

void set_initial_states(const CProgram& program, std::span<std::byte> arena) {
  LOWTIDE_CHECK(static_cast<std::int64_t>(arena.size()) >= program.arena.count(), "the arena has the program's size");
  for (const CTensor& tensor : program.tensors) {
    if (!tensor.is_state) continue;
    const std::span<std::byte> bytes = arena.subspan(tensor.offset.position(), tensor.size.count());
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    std::memcpy(bytes.data(), tensor.initial.data(), std::min(bytes.size(), tensor.initial.size()));
  }
}

Result<void> run_c_program(const CProgram& program, std::span<std::byte> arena) {
  LOWTIDE_CHECK(static_cast<std::int64_t>(arena.size()) >= program.arena.count(), "the arena has the program's size");
  LOWTIDE_CHECK(reinterpret_cast<std::uintptr_t>(arena.data()) % 16 == 0, "the arena is aligned");
  for (const CCall& call : program.calls) LOWTIDE_RETURN_IF_ERROR(check_c_call(program, call));
  std::vector<void*> pointers;
  for (const CCall& call : program.calls) {
    pointers.clear();
    for (const COperand& operand : call.operands) pointers.push_back(std::visit(AddressOf{program, arena}, operand));
    compiled_kernels().at(call.kernel)(struct_of(call).data(), pointers.data());
  }
  return {};
}

}  // namespace lowtide
