// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0
// null: bias scratch

// A convolution by CMSIS-NN. Each output channel has a multiplier and a shift.
struct lowtide_cmsis_conv_2d_i8 {
  int32_t batches;
  int32_t input_rows;
  int32_t input_columns;
  int32_t input_channels;
  int32_t output_rows;
  int32_t output_columns;
  int32_t output_channels;
  int32_t window_rows;
  int32_t window_columns;
  int32_t row_stride;
  int32_t column_stride;
  int32_t row_dilation;
  int32_t column_dilation;
  int32_t top;   // rows of padding before the input
  int32_t left;  // columns of padding before the input
  int32_t input_zero_point;
  int32_t output_zero_point;
  int32_t lowest;  // limits of the output
  int32_t highest;
  int32_t scratch_bytes;
};

static void lowtide_cmsis_conv_2d_i8(const struct lowtide_cmsis_conv_2d_i8 *p, const int8_t *input,
                                     const int8_t *weights, const int32_t *bias, const int32_t *multipliers,
                                     const int32_t *shifts, uint8_t *scratch, int8_t *output) {
  cmsis_nn_context context;
  context.buf = scratch;
  context.size = p->scratch_bytes;
  cmsis_nn_conv_params how;
  how.input_offset = -p->input_zero_point;
  how.output_offset = p->output_zero_point;
  how.stride.w = p->column_stride;
  how.stride.h = p->row_stride;
  how.padding.w = p->left;
  how.padding.h = p->top;
  how.dilation.w = p->column_dilation;
  how.dilation.h = p->row_dilation;
  how.activation.min = p->lowest;
  how.activation.max = p->highest;
  // CMSIS-NN does not write what these point to.
  cmsis_nn_per_channel_quant_params scales;
  scales.multiplier = (int32_t *)multipliers;
  scales.shift = (int32_t *)shifts;
  const cmsis_nn_dims from = {p->batches, p->input_rows, p->input_columns, p->input_channels};
  const cmsis_nn_dims window = {p->output_channels, p->window_rows, p->window_columns, p->input_channels};
  const cmsis_nn_dims addends = {1, 1, 1, p->output_channels};
  const cmsis_nn_dims to = {p->batches, p->output_rows, p->output_columns, p->output_channels};
  (void)arm_convolve_wrapper_s8(&context, &how, &scales, &from, input, &window, weights, &addends, bias, &to, output);
}
