// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/c_source/c_program/c_program.h"

// The kernels of generated C source: C99 text for the program of a user, which is also compiled into this library. A
// kernel is a function of a struct with its parameters, and of pointers:
//
//     struct lowtide_copy {
//       int32_t bytes;
//     };
//
//     static void lowtide_copy(const struct lowtide_copy *p, const void *input, void *output) { ... }
//
// A text needs <stdint.h>, and <math.h> if it is about floating point. It allocates nothing and has no recursion.
// Kernels that call CMSIS-NN need its header arm_nnfunctions.h. They are not compiled into this library.
namespace lowtide {

// A member of the struct.
struct CMember {
  std::string_view name;
  bool is_real = false;                // a float; otherwise of type int32_t
  std::optional<std::int64_t> length;  // of an array; nullopt: no array
  friend bool operator==(const CMember&, const CMember&) = default;
};

// A pointer that the function takes after that to the struct.
struct CPointer {
  std::string_view name;
  std::optional<CType> type;  // nullopt: bytes of any type. uint8 stands for boolean, too
  bool is_written = false;
  bool may_be_null = false;
  // It may be equal to the last pointer, the output, if it has as many elements. All others must not overlap it.
  bool may_be_output = false;
  friend bool operator==(const CPointer&, const CPointer&) = default;
};

struct CKernel {
  std::string_view name;                  // "conv_2d_i8"; its struct and its function are lowtide_conv_2d_i8
  std::string_view text;                  // the struct and the function, without its helpers
  std::vector<std::string_view> helpers;  // that the text calls; these may call others
  std::vector<CMember> members;
  std::vector<CPointer> pointers;
  bool calls_cmsis = false;  // it is a call of CMSIS-NN
};

}  // namespace lowtide
