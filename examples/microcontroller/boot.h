// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BOOT_H
#define BOOT_H

#include <stdint.h>

void print(const char* text);
void print_number(int32_t number);

// Ends QEMU with this exit code.
void quit(int code);

// Forgets how much of the stack was used, and says how much was used since then.
void clear_stack(void);
uint32_t used_stack(void);

#endif
