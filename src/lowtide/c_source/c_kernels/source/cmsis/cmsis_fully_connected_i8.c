// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: bias

// Products of each row of the input with the weights, by CMSIS-NN. The weights are [unit][depth].
struct lowtide_cmsis_fully_connected_i8 {
  int32_t rows;
  int32_t depth;
  int32_t units;
  int32_t input_zero_point;
  int32_t weights_zero_point;
  int32_t output_zero_point;
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t output_multiplier;
  int32_t output_shift;
};

static void lowtide_cmsis_fully_connected_i8(const struct lowtide_cmsis_fully_connected_i8 *p, const int8_t *input,
                                             const int8_t *weights, const int32_t *bias, int8_t *output) {
  const cmsis_nn_context none = {0, 0};
  cmsis_nn_fc_params how;
  how.input_offset = -p->input_zero_point;
  how.filter_offset = -p->weights_zero_point;
  how.output_offset = p->output_zero_point;
  how.activation.min = p->lowest;
  how.activation.max = p->highest;
  cmsis_nn_per_tensor_quant_params scale;
  scale.multiplier = p->output_multiplier;
  scale.shift = p->output_shift;
  const cmsis_nn_dims from = {p->rows, 1, 1, p->depth};
  const cmsis_nn_dims window = {p->depth, 1, 1, p->units};
  const cmsis_nn_dims addends = {1, 1, 1, p->units};
  const cmsis_nn_dims to = {p->rows, 1, 1, p->units};
  (void)arm_fully_connected_s8(&none, &how, &scale, &from, input, &window, weights, &addends, bias, &to, output);
}
