// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/interval.h"

// A planned model as a program in C: one arena, constants, and kernels that run one after another. It is what
// generated C source states, and it can also be run as it is. For example, a convolution and a softmax are
//
//     conv_2d_i8(&parameters, arena + 0, weights, bias, multipliers, shifts, arena + 1024);
//     softmax_i8(&parameters, arena + 1024, table, arena + 0);
namespace lowtide {

// Element types of C programs.
enum class CType : std::uint8_t { int8, uint8, int16, int32, int64, float32, boolean };
// The names of these types in C. A boolean is a byte that is 0 or 1.
template <>
inline constexpr auto kEnumNames<CType> = enum_names<CType>({{CType::int8, "int8_t"},
                                                             {CType::uint8, "uint8_t"},
                                                             {CType::int16, "int16_t"},
                                                             {CType::int32, "int32_t"},
                                                             {CType::int64, "int64_t"},
                                                             {CType::float32, "float"},
                                                             {CType::boolean, "uint8_t"}});

// The bytes of one element.
[[nodiscard]] std::int64_t size_of(CType type);

// real = scale x (stored - zero point).
struct CQuantization {
  float scale = 0;
  std::int32_t zero_point = 0;
};

// A tensor in the arena.
struct CTensor {
  std::string name;  // as in the model; may be empty or used by several tensors
  CType type = CType::int8;
  std::vector<std::int64_t> shape;  // each >= 0
  Bytes size;                       // of its elements, without padding
  Offset offset;                    // in the arena; a multiple of the bytes of an element
  // The calls at which it is live. A state is live at all of them.
  Interval<std::int64_t> lifespan;
  std::optional<CQuantization> quantization;
  bool is_state = false;  // keeps its content from one run to the next
  std::string initial;    // of a state: its bytes before the first run; empty: zeros
};

// An array that runs read and never write, such as weights, biases and multipliers.
struct CConstant {
  std::string name;  // what it is, for readers: "weights of conv1"; need not be unique
  CType type = CType::int8;
  std::vector<std::int64_t> shape;  // with as many elements as `bytes` has
  std::string bytes;                // little endian
};

// What a call passes as a pointer: an index of CProgram::tensors, of CProgram::constants, or a null pointer.
struct CTensorIndex {
  std::size_t value = 0;  // < tensors.size()
};
struct CConstantIndex {
  std::size_t value = 0;  // < constants.size()
};
using COperand = std::variant<std::monostate, CTensorIndex, CConstantIndex>;

// A member of the struct that a kernel takes its parameters from.
struct CParameter {
  std::string name;
  std::variant<std::int32_t, float, std::vector<std::int32_t>> value;  // a list is an array
};

// A call of a kernel.
struct CCall {
  std::string kernel;                  // the name of a kernel of room c_kernels: "conv_2d_i8"
  std::vector<CParameter> parameters;  // all members of the kernel's struct, in their order
  std::vector<COperand> operands;      // in the order of the kernel's pointers
  std::string origin;                  // the operator of the model: "CONV_2D 3 (MobilenetV1/Conv2d_1)"
};

// An input or output of the model.
struct CPort {
  std::string name;        // as callers of the model know it
  std::size_t tensor = 0;  // < tensors.size(); its bytes are in the arena
};

// The arena, and the bytes of constants, begin at multiples of this.
inline constexpr Bytes kCAlignment = Bytes(16);

// The processors for which the scratch of kernels that call CMSIS-NN is enough.
enum class CmsisSet : std::uint8_t {
  scalar_or_dsp,  // without the vector extension: Cortex-M0 to M7, M33
  vector          // with it (Helium): Cortex-M52, M55, M85
};

struct CProgram {
  std::string name;               // of the model; any text
  Bytes arena;                    // all offsets plus sizes are at most this
  std::optional<CmsisSet> cmsis;  // nullopt: no kernel calls CMSIS-NN
  std::vector<CTensor> tensors;
  std::vector<CConstant> constants;
  std::vector<CCall> calls;
  // Inputs hold what the caller wrote from the first call on. Outputs are valid after the last call.
  std::vector<CPort> inputs;
  std::vector<CPort> outputs;
};

}  // namespace lowtide
