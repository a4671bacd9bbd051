// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The part of CMSIS-NN's interface that exported source uses, for tests on machines without the library. Its functions
// are plain loops, which also overwrite all of the scratch that they are given.
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0 } arm_cmsis_nn_status;

typedef struct {
  int32_t w;
  int32_t h;
} cmsis_nn_tile;

typedef struct {
  void* buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n;
  int32_t h;
  int32_t w;
  int32_t c;
} cmsis_nn_dims;

typedef struct {
  int32_t* multiplier;
  int32_t* shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier;
  int32_t shift;
} cmsis_nn_per_tensor_quant_params;

typedef struct {
  int32_t min;
  int32_t max;
} cmsis_nn_activation;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset;
  int32_t output_offset;
  int32_t ch_mult;
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_tile dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
  cmsis_nn_tile stride;
  cmsis_nn_tile padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
  int32_t input_offset;
  int32_t filter_offset;
  int32_t output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* ctx, const cmsis_nn_conv_params* conv_params,
                                            const cmsis_nn_per_channel_quant_params* quant_params,
                                            const cmsis_nn_dims* input_dims, const int8_t* input_data,
                                            const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
                                            const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
                                            const cmsis_nn_dims* output_dims, int8_t* output_data);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context* ctx,
                                                  const cmsis_nn_dw_conv_params* dw_conv_params,
                                                  const cmsis_nn_per_channel_quant_params* quant_params,
                                                  const cmsis_nn_dims* input_dims, const int8_t* input_data,
                                                  const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
                                                  const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
                                                  const cmsis_nn_dims* output_dims, int8_t* output_data);

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* ctx, const cmsis_nn_fc_params* fc_params,
                                           const cmsis_nn_per_tensor_quant_params* quant_params,
                                           const cmsis_nn_dims* input_dims, const int8_t* input_data,
                                           const cmsis_nn_dims* filter_dims, const int8_t* filter_data,
                                           const cmsis_nn_dims* bias_dims, const int32_t* bias_data,
                                           const cmsis_nn_dims* output_dims, int8_t* output_data);

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* pool_params,
                                   const cmsis_nn_dims* input_dims, const int8_t* input_data,
                                   const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                   int8_t* output_data);

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context* ctx, const cmsis_nn_pool_params* pool_params,
                                    const cmsis_nn_dims* input_dims, const int8_t* input_data,
                                    const cmsis_nn_dims* filter_dims, const cmsis_nn_dims* output_dims,
                                    int8_t* output_data);

#endif
