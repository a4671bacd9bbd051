// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/kernel_data.h"

#include <array>
#include <optional>
#include <vector>

#include "lowtide/base/checked.h"
#include "lowtide/tflite/micro/kernels.h"
#include "lowtide/tflite/micro/rows.h"

namespace lowtide::micro_internal {
namespace {

bool is_true(const TfliteOperator& op, std::string_view option) {
  const auto* value = find_option<std::int64_t>(op, option);
  return value != nullptr && *value != 0;
}

// An array of the runtime: a count, then that many integers.
std::int64_t integer_array(const TfliteTensor& of) { return 4 + 4 * static_cast<std::int64_t>(of.shape.size()); }

bool has_type(const TfliteTensor* tensor, TfliteType type) { return tensor != nullptr && tensor->type == type; }

// A multiplier and a shift per channel of the filter.
void keep_channels(Preparation& preparation, std::size_t axis) {
  const TfliteTensor* filter = preparation.input(1);
  if (filter == nullptr || axis >= filter->shape.size()) return;
  for (int i = 0; i < 2; ++i) preparation.keep(4 * filter->shape[axis]);
}

void conv(Preparation& preparation) {
  keep_channels(preparation, 0);
  preparation.describe("abcA");
}

void depthwise_conv(Preparation& preparation) {
  keep_channels(preparation, 3);
  preparation.describe("abcA");
}

// The kernels of CMSIS-NN have nothing per channel for floating-point numbers.
bool is_quantized(const Preparation& preparation) {
  return has_type(preparation.input(0), TfliteType::int8) || has_type(preparation.input(0), TfliteType::int16);
}

void cmsis_conv(Preparation& preparation) {
  if (is_quantized(preparation)) keep_channels(preparation, 0);
  preparation.describe("abcA");
}

void cmsis_depthwise_conv(Preparation& preparation) {
  if (is_quantized(preparation)) keep_channels(preparation, 3);
  preparation.describe("abcA");
}

void transpose_conv(Preparation& preparation) {
  keep_channels(preparation, 0);
  if (!has_type(preparation.input(2), TfliteType::float32)) preparation.describe("cbdA");
}

void fully_connected(Preparation& preparation) {
  const TfliteTensor* filter = preparation.input(1);
  if (filter == nullptr || has_type(preparation.input(0), TfliteType::float32)) return;
  const bool is_quantized = !filter->quantization.zero_points.empty();
  const auto channels = static_cast<std::int64_t>(filter->quantization.scales.size());
  if (!is_quantized || channels < 2) return;
  for (int i = 0; i < 2; ++i) preparation.keep(4 * channels);
}

// The kernel writes into the shape of its result, so the result gets a shape of its own.
void own_shape(Preparation& preparation) {
  if (const TfliteTensor* result = preparation.output(0); result != nullptr) preparation.keep(integer_array(*result));
}

void embedding_lookup(Preparation& preparation) {
  own_shape(preparation);
  preparation.keep(preparation.is_python() ? 16 : 8);
}

// Memory for the transposed operand.
void keep_transposed(Preparation& preparation, std::size_t at) {
  const TfliteTensor* operand = preparation.input(at);
  if (operand == nullptr) return;
  preparation.keep(preparation.is_python() ? 24 : 12);
  preparation.keep(integer_array(*operand));
  const auto count = elements(*operand);
  const auto width = element_bytes(operand->type);
  if (count && width) preparation.keep(must_multiply(*count, *width));
}

void batch_matmul(Preparation& preparation) {
  if (is_quantized(preparation)) preparation.keep(28);
  if (is_true(preparation.op(), "adj_x")) keep_transposed(preparation, 0);
  if (!is_true(preparation.op(), "adj_y")) keep_transposed(preparation, 1);
  own_shape(preparation);
}

void cumsum(Preparation& preparation) {
  if (has_type(preparation.output(0), TfliteType::int8)) preparation.keep(36);
}

void log_softmax(Preparation& preparation) {
  if (has_type(preparation.input(0), TfliteType::int8)) preparation.keep(preparation.is_python() ? 40 : 28);
}

// Two tables of 513 numbers of 16 bits.
void softmax(Preparation& preparation) {
  if (!has_type(preparation.input(0), TfliteType::int16)) return;
  for (int i = 0; i < 2; ++i) preparation.keep(1026);
}

void result_of_int8(Preparation& preparation) {
  if (has_type(preparation.input(0), TfliteType::int8)) preparation.describe("A");
}

void extreme(Preparation& preparation) {
  result_of_int8(preparation);
  preparation.describe("aAb");
}

void add_n(Preparation& preparation) {
  for (std::size_t at = 1; at < preparation.op().inputs.size(); ++at) preparation.describe_input(at);
  if (has_type(preparation.output(0), TfliteType::int8)) preparation.keep(40);
}

void assign_variable(Preparation& preparation) { preparation.assign(); }

// The kernels, sorted by name (checked below): options for both builds, data for both builds, and the preparation.
// clang-format off
constexpr auto kData = std::to_array<KernelData>({
    {"ABS", {}, {}, 28, 28, "aA"}, {"ADD", {2, 1}, {8, 4}, 60, 60, "abA"}, {"ADD_N", {}, {}, 0, 0, "aA", &add_n},
    {"ARG_MAX", {1, 1}, {4, 4}}, {"ARG_MIN", {1, 1}, {4, 4}},
    {"ASSIGN_VARIABLE", {}, {}, 0, 4, "b", &assign_variable}, {"AVERAGE_POOL_2D", {40, 4}, {40, 4}, 32, 32, "aA"},
    {"BATCH_MATMUL", {3, 1}, {3, 1}, 16, 32, "abA", &batch_matmul}, {"BATCH_TO_SPACE_ND", {}, {}, 0, 0, "aA"},
    {"BROADCAST_ARGS", {}, {}, 0, 0, "abA"}, {"BROADCAST_TO", {}, {}, 0, 0, "abA"},
    {"CALL_ONCE", {4, 4}, {4, 4}, 8, 8}, {"CAST", {2, 1}, {8, 4}, 0, 0, "aA"}, {"CEIL", {}, {}, 0, 0, "aA"},
    {"CONCATENATION", {8, 4}, {8, 4}, 24, 80, "aA*"}, {"CONV_2D", {28, 4}, {28, 4}, 56, 80, "Aab", &conv},
    {"COS", {}, {}, 0, 0, "aA"}, {"CUMSUM", {2, 1}, {2, 1}, 0, 0, "abA", &cumsum},
    {"DEPTHWISE_CONV_2D", {28, 4}, {28, 4}, 56, 80, "Aab", &depthwise_conv},
    {"DEPTH_TO_SPACE", {4, 4}, {4, 4}, 0, 0, "aA", &own_shape}, {"DEQUANTIZE", {}, {}, 32, 32, "aA"},
    {"DIV", {1, 1}, {4, 4}, 28, 28, "abA"}, {"DYNAMIC_UPDATE_SLICE", {}, {}, 0, 0, "abcA"},
    {"ELU", {}, {}, 256, 256, "aA"}, {"EMBEDDING_LOOKUP", {}, {}, 0, 0, "abA", &embedding_lookup},
    {"EQUAL", {}, {}, 32, 32, "ab"}, {"EXP", {}, {}, 0, 0, "aA"}, {"EXPAND_DIMS", {}, {}, 0, 0, "abA"},
    {"FILL", {}, {}, 0, 0, "abA"}, {"FLOOR"}, {"FLOOR_DIV", {}, {}, 0, 0, "abA"}, {"FLOOR_MOD", {}, {}, 0, 0, "abA"},
    {"FULLY_CONNECTED", {16, 4}, {32, 8}, 48, 72, "abcA", &fully_connected},
    {"GATHER", {8, 4}, {8, 4}, 0, 0, "abA", &own_shape}, {"GATHER_ND", {}, {}, 0, 0, "abA", &own_shape},
    {"GREATER", {}, {}, 32, 32, "ab"}, {"GREATER_EQUAL", {}, {}, 32, 32, "ab"}, {"HARD_SWISH", {}, {}, 20, 20, "aA"},
    {"IF", {8, 4}, {8, 4}, 8, 8, "a"}, {"L2_NORMALIZATION", {1, 1}, {4, 4}, 4, 4, "aA"},
    {"L2_POOL_2D", {40, 4}, {40, 4}, 0, 0, "Aa", &own_shape}, {"LEAKY_RELU", {4, 4}, {4, 4}, 24, 24, "aA"},
    {"LESS", {}, {}, 32, 32, "ab"}, {"LESS_EQUAL", {}, {}, 32, 32, "ab"}, {"LOG", {}, {}, 0, 0, "aA"},
    {"LOGICAL_AND"}, {"LOGICAL_NOT", {}, {}, 0, 0, "aA"}, {"LOGICAL_OR"}, {"LOGISTIC", {}, {}, 16, 16, "aA"},
    {"LOG_SOFTMAX", {}, {}, 0, 0, "aA", &log_softmax}, {"MAXIMUM"}, {"MAX_POOL_2D", {40, 4}, {40, 4}, 32, 32, "aA"},
    {"MEAN", {1, 1}, {1, 1}, 44, 44, "aAbab", &result_of_int8}, {"MINIMUM"},
    {"MIRROR_PAD", {1, 1}, {4, 4}, 20, 20, "abA"}, {"MUL", {1, 1}, {4, 4}, 36, 36, "abA"}, {"NEG"},
    {"NOT_EQUAL", {}, {}, 32, 32, "ab"}, {"PACK", {8, 4}, {8, 4}}, {"PAD", {}, {}, 56, 56, "abcA"},
    {"PADV2", {}, {}, 56, 56, "abcA"}, {"PRELU", {}, {}, 28, 28, "abA"}, {"QUANTIZE", {}, {}, 32, 32, "aA"},
    {"READ_VARIABLE", {}, {}, 0, 0, "a"}, {"REDUCE_ALL", {1, 1}, {1, 1}, 44, 44, "aAbab", &result_of_int8},
    {"REDUCE_MAX", {1, 1}, {1, 1}, 44, 44, "ab", &extreme}, {"REDUCE_MIN", {1, 1}, {1, 1}, 44, 44, "ab", &extreme},
    {"RELU", {}, {}, 28, 28, "aA"}, {"RELU6", {}, {}, 8, 8, "a"}, {"RESHAPE", {36, 4}, {36, 4}, 0, 0, "aA"},
    {"RESIZE_BILINEAR", {2, 1}, {2, 1}, 0, 0, "abA"}, {"RESIZE_NEAREST_NEIGHBOR", {2, 1}, {2, 1}, 0, 0, "abA"},
    {"REVERSE_V2", {}, {}, 0, 0, "abA"}, {"ROUND", {}, {}, 0, 0, "aA"}, {"RSQRT", {}, {}, 28, 28, "aA"},
    {"SELECT_V2", {}, {}, 1, 1, "abcA"}, {"SHAPE", {1, 1}, {4, 4}}, {"SIN", {}, {}, 0, 0, "aA"},
    {"SLICE", {}, {}, 0, 0, "abcA"}, {"SOFTMAX", {4, 4}, {4, 4}, 56, 80, "aA", &softmax},
    {"SPACE_TO_BATCH_ND", {}, {}, 4, 4, "aA"}, {"SPACE_TO_DEPTH", {4, 4}, {4, 4}, 0, 0, "aA", &own_shape},
    {"SPLIT", {4, 4}, {4, 4}, 0, 0, "a"}, {"SPLIT_V", {4, 4}, {4, 4}, 0, 0, "c"}, {"SQRT", {}, {}, 0, 0, "aA"},
    {"SQUARE", {}, {}, 0, 0, "aA"}, {"SQUARED_DIFFERENCE", {}, {}, 112, 112, "abA"},
    {"SQUEEZE", {36, 4}, {36, 4}, 0, 0, "aA"}, {"STRIDED_SLICE", {24, 4}, {24, 4}, 84, 84, "abcdA"},
    {"SUB", {2, 1}, {8, 4}, 52, 52, "abA"}, {"SUM", {1, 1}, {1, 1}, 44, 44, "aAbab", &result_of_int8},
    {"SVDF", {8, 4}, {12, 4}, 36, 36, "abcdeA"}, {"TANH", {}, {}, 16, 16, "aaA"}, {"TRANSPOSE", {}, {}, 0, 0, "abA"},
    {"TRANSPOSE_CONV", {16, 4}, {20, 4}, 72, 88, "Acb", &transpose_conv},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", {16, 4}, {16, 4}, 688, 688, "*A"}, {"UNPACK", {8, 4}, {8, 4}},
    {"VAR_HANDLE", {8, 4}, {16, 8}, 4, 4}, {"WHILE", {8, 4}, {8, 4}, 8, 8}, {"ZEROS_LIKE", {}, {}, 0, 0, "aA"},
});
// Custom operators, sorted by name. Those for audio that keep a state of their own size are not known.
constexpr auto kCustomData = std::to_array<KernelData>({
    {"CIRCULAR_BUFFER", {}, {}, 8, 8, "aA"}, {"SignalEnergy", {}, {}, 8, 8, "aA"},
    {"SignalFftAutoScale", {}, {}, 0, 0, "aAB"}, {"SignalFilterBankLog", {}, {}, 8, 8, "aA"},
    {"SignalFilterBankSquareRoot", {}, {}, 0, 0, "abA"}, {"SignalPCAN", {}, {}, 4, 4, "abcA"},
    {"SignalWindow", {}, {}, 8, 8, "abA"},
});
// The kernels of CMSIS-NN that differ from the reference kernels, or are like them, sorted by name. Those that are in
// no row are not known.
constexpr auto kCmsisData = std::to_array<KernelData>({
    {"ADD", {2, 1}, {}, 60, 0, "abA"}, {"AVERAGE_POOL_2D", {40, 4}, {}, 36, 0, "aAaA"},
    {"CONV_2D", {28, 4}, {}, 60, 0, "abA", &cmsis_conv},
    {"DEPTHWISE_CONV_2D", {28, 4}, {}, 60, 0, "abA", &cmsis_depthwise_conv},
    {"FULLY_CONNECTED", {16, 4}, {}, 72, 0, "abcA", &fully_connected}, {"MAXIMUM"},
    {"MAX_POOL_2D", {40, 4}, {}, 36, 0, "aA"}, {"MINIMUM"}, {"MUL", {1, 1}, {}, 36, 0, "abA"},
    {"PAD", {}, {}, 56, 0, "abcA"}, {"PADV2", {}, {}, 56, 0, "abcA"},
    {"SOFTMAX", {4, 4}, {}, 64, 0, "aA", &softmax}, {"TRANSPOSE", {}, {}, 0, 0, "abA"},
});
// clang-format on

static_assert(is_sorted_by_type(kData) && is_sorted_by_type(kCustomData) && is_sorted_by_type(kCmsisData));

const TfliteTensor* tensor_in(const TfliteSubgraph& subgraph, const std::vector<std::optional<std::uint32_t>>& of,
                              std::size_t at) {
  return at < of.size() && of[at] ? &subgraph.tensors[*of[at]] : nullptr;
}

}  // namespace

const TfliteTensor* Preparation::input(std::size_t at) const { return tensor_in(subgraph_, op_.inputs, at); }

const TfliteTensor* Preparation::output(std::size_t at) const { return tensor_in(subgraph_, op_.outputs, at); }

void Preparation::describe_input(std::size_t at) {
  if (const TfliteTensor* tensor = input(at); tensor != nullptr) describe_tensor(*tensor);
}

void Preparation::describe(std::string_view letters) {
  for (const char letter : letters) {
    if (letter == '*') {
      for (std::size_t at = 0; at < op_.inputs.size(); ++at) describe_input(at);
    } else if (letter >= 'a') {
      describe_input(static_cast<std::size_t>(letter - 'a'));
    } else if (const TfliteTensor* result = output(static_cast<std::size_t>(letter - 'A')); result != nullptr) {
      describe_tensor(*result);
    }
  }
}

const KernelData* kernel_data(const TfliteOperator& op, const MicroFirmware& firmware) {
  if (firmware.kernels == MicroKernels::cmsis_nn && is_in_cmsis(op)) {
    return firmware.build == MicroBuild::cortex_m ? row_in(kCmsisData, op.type) : nullptr;
  }
  return op.builtin == kTfliteCustom ? row_in(kCustomData, op.type) : row_in(kData, op.type);
}

}  // namespace lowtide::micro_internal
