// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Before a function: the compiler makes it for wider registers, too, and the program calls the widest one that the
// processor has. All of them give the same bits, because the room is compiled without contraction to fused operations.
// Sanitizers cannot run the choice, which is made before they begin.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LOWTIDE_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LOWTIDE_VECTOR_CLONES
#endif
