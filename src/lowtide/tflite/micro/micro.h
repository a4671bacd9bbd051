// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/interval.h"
#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

// How TensorFlow Lite Micro lays out its arena. The *head* of the arena has the tensors that operators compute, the
// inputs, and the scratch of kernels; Lowtide plans it. The *tail* has what lasts, such as variables and the tables of
// kernels, and depends on the build. Facts about the runtime are those of its sources of August 2026.
namespace lowtide {

// The kernels that a build of the runtime has. They differ in their scratch and in what they may do in place.
enum class MicroKernels : std::uint8_t { reference, cmsis_nn };
template <>
inline constexpr auto kEnumNames<MicroKernels> = enum_names<MicroKernels>({{MicroKernels::reference, "tflm-reference"},
                                                                           {MicroKernels::cmsis_nn, "tflm-cmsis-nn"}});

// Sizes in the head are multiples of this.
inline constexpr Bytes kMicroAlignment = Bytes(16);

// An operator of a model.
struct MicroPlace {
  std::uint32_t subgraph = 0;
  std::uint32_t op = 0;
  friend auto operator<=>(const MicroPlace&, const MicroPlace&) = default;
};

// A buffer of the head.
struct MicroBuffer {
  std::optional<std::uint32_t> tensor;  // its number among the tensors of all subgraphs; nullopt: scratch
  MicroPlace requester;                 // of scratch: the operator whose kernel requests it
  Bytes size;                           // a multiple of kMicroAlignment, above 0
  // The steps at which the runtime takes it to be live. Step 0 is before the first operator, and operators of
  // subgraphs have steps of their own. [-1, 0): no operator that runs uses it.
  Interval<std::int64_t> lifespan;
};

// What the head has to hold.
struct MicroHead {
  std::vector<MicroBuffer> buffers;  // tensors in the order of their numbers, then scratch
  // Operators of which it is not known how much scratch they request, because the kernels do not include them: their
  // types, sorted, each once. Their scratch is not among the buffers.
  std::vector<std::string> unknown_operators;
};

// The offset of each tensor of all subgraphs that a file states. nullopt: the runtime chooses.
using MicroOffsets = std::vector<std::optional<Offset>>;

// Lists the buffers of the head. Tensors with an offset in `given` are among them also if they are variables.
// Requires: `given` is empty or has an entry per tensor of all subgraphs. Errors: over_limit, for sizes above those
// that the runtime can count, or for subgraphs that run too often. O(steps + tensors).
[[nodiscard]] Result<MicroHead> micro_head(const TfliteModel& model, MicroKernels kernels,
                                           const MicroOffsets& given = {});

struct MicroLayout {
  std::vector<Offset> offsets;  // by buffer
  Bytes size;                   // of the head: the largest end of a buffer
};

// Places the buffers as the runtime's planner does, GreedyMemoryPlanner: first those with an offset in `given`, where
// it says. The others follow, the largest one first, and of equal ones the last one of the list. Each gets the lowest
// gap among the buffers that are live at the same time. O(buffers^2). Errors: over_limit.
[[nodiscard]] Result<MicroLayout> place_as_micro(const std::vector<MicroBuffer>& buffers,
                                                 const MicroOffsets& given = {});

// The most bytes that are live at one step. No layout of these buffers is smaller. O(buffers log buffers).
[[nodiscard]] Bytes live_bytes(const std::vector<MicroBuffer>& buffers);

// The operands of which one may have the place of the operator's first result, because the kernel then computes the
// same. The result and the operand must have equally many bytes. Ascending.
[[nodiscard]] std::vector<std::size_t> operands_in_place(const TfliteOperator& op, MicroKernels kernels);

// The number of the first tensor of a subgraph among those of all subgraphs.
[[nodiscard]] std::vector<std::uint32_t> first_tensors(const TfliteModel& model);

}  // namespace lowtide
