// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Starts a program on an Arm Cortex-M of QEMU's boards, and talks to the machine that runs QEMU by semihosting.
#include "boot.h"

#include <stdint.h>

extern uint32_t data_source, data_begin, data_end, bss_begin, bss_end, stack_begin, stack_top;
int main(void);

static int semihosting(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void print(const char* text) { (void)semihosting(4, text); }

void print_number(int32_t number) {
  char digits[12];
  char* at = &digits[11];
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  *at = '\0';
  do {
    *--at = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0u);
  if (number < 0) *--at = '-';
  print(at);
}

void quit(int code) {
  const uint32_t stopped[2] = {0x20026u, (uint32_t)code};  // the program has ended by itself
  (void)semihosting(0x20, stopped);
  for (;;) {
  }
}

// Bytes of the stack that were used since the start: the rest still has the pattern.
static const uint32_t pattern = 0x5AC35AC3u;

uint32_t used_stack(void) {
  const uint32_t* at = &stack_begin;
  while (at < &stack_top && *at == pattern) ++at;
  return (uint32_t)((uintptr_t)&stack_top - (uintptr_t)at);
}

void clear_stack(void) {
  uintptr_t here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  for (uint32_t* at = &stack_begin; (uintptr_t)at < here; ++at) *at = pattern;
}

void reset(void);
void reset(void) {
  *(volatile uint32_t*)0xE000ED88u |= 0xFu << 20;  // allows floating point, where there is some
  __asm__ volatile("dsb\nisb" ::: "memory");
  const uint32_t* from = &data_source;
  for (uint32_t* to = &data_begin; to < &data_end; ++to) *to = *from++;
  for (uint32_t* to = &bss_begin; to < &bss_end; ++to) *to = 0;
  clear_stack();
  quit(main());
}

static void fault(void) {
  print("the processor has stopped the program\n");
  quit(99);
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) static const handler vectors[16] = {
    (handler)(uintptr_t)&stack_top, reset, fault, fault, fault, fault, fault};
