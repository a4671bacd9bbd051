// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The kernels as the C compiler made them. C and C++ include this header.
#ifdef __cplusplus
extern "C" {
#endif

// A kernel that takes its struct, and its pointers from a list.
struct CompiledCKernel {
  const char* name;
  void (*call)(const void* parameters, void* const* pointers);
};

// In the order of kernel_texts(). The last row has no name.
const struct CompiledCKernel* lowtide_compiled_c_kernels(void);

#ifdef __cplusplus
}
#endif
