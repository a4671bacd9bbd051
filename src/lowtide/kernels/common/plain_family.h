// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/kernels/common/family.h"
#include "lowtide/kernels/common/narrow_floats.h"

namespace lowtide::kernels_internal {

using PreparedResult = Result<std::unique_ptr<PreparedKernel>>;

// A row of a family of plain kernels.
struct PlainOperator {
  SupportedOperator op;
  std::size_t operands = 1;  // inputs that must be present; result 0 must be present, too, unless it may be omitted
  PreparedResult (*prepare)(const PrepareInput& input) = nullptr;
  // Why the node has no kernel although its first operand has a type of `op`, or an empty text. nullptr: never.
  std::string (*missing)(const Graph& graph, const Node& node) = nullptr;
  // What the kernel needs while a team of this many threads runs it. nullptr: nothing.
  Bytes (*scratch)(const Graph& graph, const Node& node, int threads) = nullptr;
  // The kernel computes f32. f16 and bf16 operands and results are converted in scratch (half_kernel.h).
  bool widens_half = false;
  bool may_omit_result = false;  // result 0, if there is another one
  bool copies_others = false;    // further operands and results may have any type, because their bytes are copied
  bool mixes_reals = false;      // with operands of f64, it may have other real numbers
};

template <std::size_t N>
constexpr std::array<SupportedOperator, N> operators_of(const std::array<PlainOperator, N>& table) {
  std::array<SupportedOperator, N> operators{};
  for (std::size_t at = 0; at < N; ++at) operators[at] = table[at].op;
  return operators;
}

// Family::offer and Family::prepare, given the table of the family.
[[nodiscard]] Offer offer_from(std::span<const PlainOperator> table, const OfferInput& input);
[[nodiscard]] PreparedResult prepare_from(std::span<const PlainOperator> table, const PrepareInput& input);

[[nodiscard]] inline const Node& node_of(const PrepareInput& input) { return input.graph.node(input.node); }

// All element types of whole bytes, for kernels that move elements without computing.
inline constexpr std::array kMovedTypes{DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                                        DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                                        DType::u16, DType::u8,  DType::boolean};

inline constexpr std::array kFloatTypes{DType::f32, DType::f16, DType::bf16};
// The same for kernels that also compute f64.
inline constexpr std::array kRealTypes{DType::f64, DType::f32, DType::f16, DType::bf16};

constexpr SupportedOperator on_moved(std::string_view type) { return {"", type, kMovedTypes}; }
constexpr SupportedOperator on_reals(std::string_view type) { return {"", type, kRealTypes}; }
constexpr SupportedOperator on_floats(std::string_view type) { return {"", type, kFloatTypes}; }

// The type in which a kernel computes a tensor of the node's operands, or nullopt if the operand is omitted.
[[nodiscard]] inline std::optional<DType> computed_type(const Graph& graph, const Node& node, std::size_t operand) {
  if (operand >= node.inputs.size() || !node.inputs[operand]) return std::nullopt;
  return computed_type(graph.tensor(*node.inputs[operand]).dtype);
}

}  // namespace lowtide::kernels_internal
