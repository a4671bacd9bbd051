// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: scratch

// The mean of each window, by CMSIS-NN. Padding does not count.
struct lowtide_cmsis_average_pool_2d_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t channels;
  int32_t output_rows;
  int32_t output_columns;
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t top;     // rows of padding before the input
  int32_t left;    // columns of padding before the input
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t scratch_bytes;
};

static void lowtide_cmsis_average_pool_2d_i8(const struct lowtide_cmsis_average_pool_2d_i8 *p, const int8_t *input,
                                             uint8_t *scratch, int8_t *output) {
  cmsis_nn_context context;
  context.buf = scratch;
  context.size = p->scratch_bytes;
  cmsis_nn_pool_params how;
  how.stride.w = p->column_stride;
  how.stride.h = p->row_stride;
  how.padding.w = p->left;
  how.padding.h = p->top;
  how.activation.min = p->lowest;
  how.activation.max = p->highest;
  const cmsis_nn_dims from = {p->batches, p->input_rows, p->input_columns, p->channels};
  const cmsis_nn_dims window = {1, p->window_rows, p->window_columns, 1};
  const cmsis_nn_dims to = {p->batches, p->output_rows, p->output_columns, p->channels};
  (void)arm_avgpool_s8(&context, &how, &from, input, &window, &to, output);
}
