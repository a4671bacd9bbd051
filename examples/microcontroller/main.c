// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Asks a keyword model what it hears in a made-up sound, and prints the answer.
#include <stdint.h>

#include "boot.h"
#include "model.h"

static const char* const words[] = {"down",  "go",   "left", "no",  "off",     "on",
                                    "right", "stop", "up",   "yes", "silence", "unknown"};

int main(void) {
  kws_init();
  int8_t* sound = kws_input_input_1();
  for (int32_t i = 0; i < KWS_INPUT_INPUT_1_ELEMENTS; ++i) sound[i] = (int8_t)(i * 37 % 251 - 125);
  clear_stack();
  kws_run();
  const uint32_t stack = used_stack();
  const int8_t* scores = kws_output_identity();
  int32_t best = 0;
  for (int32_t i = 1; i < KWS_OUTPUT_IDENTITY_ELEMENTS; ++i) best = scores[i] > scores[best] ? i : best;
  print("the model hears: ");
  print(words[best]);
  print(", with a score of ");
  print_number((scores[best] - KWS_OUTPUT_IDENTITY_ZERO_POINT) * 100 / 256);
  print(" %\narena ");
  print_number(KWS_ARENA_BYTES);
  print(" bytes, constants ");
  print_number(KWS_WEIGHTS_BYTES);
  print(" bytes, stack of the run ");
  print_number((int32_t)stack);
  print(" bytes\n");
  return 0;
}
