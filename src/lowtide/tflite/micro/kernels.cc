// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/micro/kernels.h"

#include <array>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/tflite/micro/cmsis_scratch.h"
#include "lowtide/tflite/micro/rows.h"

namespace lowtide {
namespace micro_internal {
namespace {

using Requests = std::optional<std::vector<std::int64_t>>;

// The operands of one operator. A kernel refuses operators without the operands that it needs, so their scratch does
// not matter then.
class Operands {
 public:
  Operands(const TfliteSubgraph& subgraph, const TfliteOperator& op) : subgraph_(subgraph), op_(op) {}

  [[nodiscard]] const TfliteTensor* input(std::size_t at) const { return tensor(op_.inputs, at); }
  [[nodiscard]] const TfliteTensor* output(std::size_t at) const { return tensor(op_.outputs, at); }
  [[nodiscard]] const TfliteOperator& op() const { return op_; }

 private:
  [[nodiscard]] const TfliteTensor* tensor(const std::vector<std::optional<std::uint32_t>>& of, std::size_t at) const {
    return at < of.size() && of[at] ? &subgraph_.tensors[*of[at]] : nullptr;
  }

  const TfliteSubgraph& subgraph_;
  const TfliteOperator& op_;
};

// count x bytes; nullopt if the count is not known.
std::optional<std::int64_t> sized(std::optional<std::int64_t> count, std::int64_t bytes) {
  return count ? checked_multiply(*count, bytes) : std::nullopt;
}

Requests all_of(std::initializer_list<std::optional<std::int64_t>> sizes) {
  std::vector<std::int64_t> known;
  for (const std::optional<std::int64_t>& size : sizes) {
    if (!size) return std::nullopt;
    known.push_back(*size);
  }
  return known;
}

bool is_integer_activation(const TfliteTensor& tensor) {
  return tensor.type == TfliteType::int8 || tensor.type == TfliteType::int16;
}

Requests none(const Operands& /*operands*/) { return std::vector<std::int64_t>(); }

// Weights of 4 bits are unpacked.
Requests unpacked_filter(const Operands& operands) {
  const TfliteTensor* filter = operands.input(1);
  if (filter == nullptr || filter->type != TfliteType::int4) return none(operands);
  return all_of({elements(*filter)});
}

Requests svdf(const Operands& operands) {
  const TfliteTensor* input = operands.input(0);
  const TfliteTensor* weights = operands.input(1);
  const auto* rank = find_option<std::int64_t>(operands.op(), "rank");
  const bool fits = input != nullptr && weights != nullptr && !input->shape.empty() && !weights->shape.empty() &&
                    rank != nullptr && *rank > 0;
  if (!fits) return none(operands);
  const std::int64_t batch = input->shape[0];
  const std::int64_t filters = weights->shape[0];
  const auto sums = sized(checked_multiply(batch, filters), 4);
  if (weights->type == TfliteType::float32) return all_of({sums});
  return all_of({sums, sized(checked_multiply(batch, filters / *rank), 4)});
}

// Four gates of the state.
Requests lstm(const Operands& operands) {
  const TfliteTensor* hidden = operands.input(18);
  const TfliteTensor* cell = operands.input(19);
  if (hidden == nullptr || cell == nullptr) return none(operands);
  const auto gate = sized(elements(*hidden), element_bytes(cell->type).value_or(4));
  return all_of({gate, gate, gate, gate});
}

// Sums of the result, and a bias that is widened.
Requests transpose_conv(const Operands& operands) {
  const TfliteTensor* input = operands.input(2);
  const TfliteTensor* output = operands.output(0);
  if (input == nullptr || output == nullptr || !is_integer_activation(*input)) return none(operands);
  if (input->type == TfliteType::int8) return all_of({sized(elements(*output), 4)});
  const TfliteTensor* bias = operands.input(3);
  const auto sums = sized(elements(*output), 8);
  if (bias != nullptr && bias->type == TfliteType::int16) return all_of({sized(elements(*bias), 8), sums});
  return all_of({sums});
}

Requests reduction(const Operands& operands) {
  const TfliteTensor* input = operands.input(0);
  const TfliteTensor* axes = operands.input(1);
  if (input == nullptr || axes == nullptr) return none(operands);
  return all_of({static_cast<std::int64_t>(input->shape.size()) * 4, sized(elements(*axes), 4)});
}

Requests sums_of_axes(const Operands& operands) {
  const TfliteTensor* input = operands.input(0);
  const TfliteTensor* output = operands.output(0);
  Requests requests = reduction(operands);
  if (!requests || input == nullptr || output == nullptr || !is_integer_activation(*input)) return requests;
  const auto sums = sized(elements(*output), 4);
  if (!sums) return std::nullopt;
  requests->insert(requests->begin(), *sums);
  return requests;
}

Requests mirror_pad(const Operands& operands) {
  const TfliteTensor* input = operands.input(0);
  if (input == nullptr) return none(operands);
  const auto bytes = static_cast<std::int64_t>(input->shape.size()) * 4;
  return all_of({bytes, bytes});
}

// Pointers of 64 bits, so that the number is never too small.
Requests add_n(const Operands& operands) {
  return all_of({static_cast<std::int64_t>(operands.op().inputs.size()) * 8});
}

// The result has length / 2 + 1 complex numbers.
Requests rfft(const Operands& operands) {
  const TfliteTensor* output = operands.output(0);
  if (output == nullptr || output->shape.empty()) return none(operands);
  const auto length = checked_subtract(output->shape.back(), 2);
  return all_of({sized(length, element_bytes(output->type).value_or(4))});
}

// Which operands may have the place of the first result.
enum class InPlace : std::uint8_t { none, first, any_of_two };

struct KernelRow {
  std::string_view type;
  Requests (*scratch)(const Operands& operands) = &none;
  InPlace in_place = InPlace::none;  // of the reference kernels
  // Whether CMSIS-NN has a kernel of its own for it. What that one may do in place is not known.
  bool is_in_cmsis = false;
};

constexpr KernelRow in_place(std::string_view type, InPlace which = InPlace::first) {
  return {.type = type, .in_place = which};
}

// The operators of the reference kernels, sorted by name (checked below). In place are those for which a run of the
// runtime with both at one place gave the same bits.
// clang-format off
constexpr auto kRows = std::to_array<KernelRow>({
    {"ABS"}, {"ADD", &none, InPlace::any_of_two, true}, {"ADD_N", &add_n, InPlace::any_of_two}, {"ARG_MAX"},
    {"ARG_MIN"}, {"ASSIGN_VARIABLE"}, {"AVERAGE_POOL_2D", &none, InPlace::none, true},
    {"BATCH_MATMUL", &none, InPlace::none, true}, {"BATCH_TO_SPACE_ND"}, {"BROADCAST_ARGS"}, {"BROADCAST_TO"},
    {"CALL_ONCE"}, {"CAST"}, {"CEIL"}, {"CONCATENATION"}, {"CONV_2D", &unpacked_filter, InPlace::none, true}, {"COS"},
    {"CUMSUM"}, {"DEPTHWISE_CONV_2D", &unpacked_filter, InPlace::none, true}, {"DEPTH_TO_SPACE"}, {"DEQUANTIZE"},
    {"DIV"}, {"DYNAMIC_UPDATE_SLICE"}, {"ELU"}, {"EMBEDDING_LOOKUP"}, {"EQUAL"}, {"EXP"},
    in_place("EXPAND_DIMS"), {"FILL"}, {"FLOOR"}, {"FLOOR_DIV"}, {"FLOOR_MOD"},
    {"FULLY_CONNECTED", &unpacked_filter, InPlace::none, true}, {"GATHER"}, {"GATHER_ND"}, {"GREATER"},
    {"GREATER_EQUAL"}, in_place("HARD_SWISH"), {"IF"}, {"L2_NORMALIZATION"}, {"L2_POOL_2D"},
    in_place("LEAKY_RELU"), {"LESS"}, {"LESS_EQUAL"}, {"LOG"}, {"LOGICAL_AND"}, {"LOGICAL_NOT"}, {"LOGICAL_OR"},
    in_place("LOGISTIC"), {"LOG_SOFTMAX"}, {"MAXIMUM", &none, InPlace::any_of_two, true},
    {"MAX_POOL_2D", &none, InPlace::none, true}, {"MEAN", &sums_of_axes},
    {"MINIMUM", &none, InPlace::any_of_two, true}, {"MIRROR_PAD", &mirror_pad},
    {"MUL", &none, InPlace::any_of_two, true}, {"NEG"}, {"NOT_EQUAL"}, {"PACK"}, {"PAD", &none, InPlace::none, true},
    {"PADV2", &none, InPlace::none, true}, in_place("PRELU"), in_place("QUANTIZE"), {"READ_VARIABLE"},
    {"REDUCE_ALL", &reduction}, {"REDUCE_MAX", &reduction}, {"REDUCE_MIN", &reduction}, in_place("RELU"),
    in_place("RELU6"), in_place("RESHAPE"), {"RESIZE_BILINEAR"}, {"RESIZE_NEAREST_NEIGHBOR"}, {"REVERSE_V2"},
    {"ROUND"}, {"RSQRT"}, {"SELECT_V2"}, {"SHAPE"}, {"SIN"}, {"SLICE"}, {"SOFTMAX", &none, InPlace::first, true},
    {"SPACE_TO_BATCH_ND"}, {"SPACE_TO_DEPTH"}, {"SPLIT"}, {"SPLIT_V"}, {"SQRT"}, {"SQUARE"}, {"SQUARED_DIFFERENCE"},
    in_place("SQUEEZE"), {"STRIDED_SLICE"}, in_place("SUB", InPlace::any_of_two), {"SUM", &sums_of_axes},
    {"SVDF", &svdf, InPlace::none, true}, in_place("TANH"), {"TRANSPOSE", &none, InPlace::none, true},
    {"TRANSPOSE_CONV", &transpose_conv, InPlace::none, true},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", &lstm, InPlace::none, true}, {"UNPACK"}, {"VAR_HANDLE"}, {"WHILE"},
    {"ZEROS_LIKE"},
});
// Custom operators for audio, which the runtime has beside its kernels. Sorted by name.
constexpr auto kCustomRows = std::to_array<KernelRow>({
    {"CIRCULAR_BUFFER"}, {"SignalDelay"}, {"SignalEnergy"}, {"SignalFftAutoScale"}, {"SignalFilterBank"},
    {"SignalFilterBankLog"}, {"SignalFilterBankSpectralSubtraction"}, {"SignalFilterBankSquareRoot"},
    {"SignalFramer"}, {"SignalIrfft"}, {"SignalOverlapAdd"}, {"SignalPCAN"}, {"SignalRfft", &rfft},
    {"SignalStacker"}, {"SignalWindow"},
});
// clang-format on

static_assert(is_sorted_by_type(kRows) && is_sorted_by_type(kCustomRows));

const KernelRow* row_of(const TfliteOperator& op) {
  return op.builtin == kTfliteCustom ? row_in(kCustomRows, op.type) : row_in(kRows, op.type);
}

}  // namespace

std::optional<std::int64_t> element_bytes(TfliteType type) {
  switch (type) {
    case TfliteType::int4: return 1;
    case TfliteType::resource: return 4;
    case TfliteType::string:
    case TfliteType::variant:
    case TfliteType::int2:
    case TfliteType::uint4:
    case TfliteType::float8_e4m3fn:
    case TfliteType::float8_e5m2: return std::nullopt;
    default: return *bits_of(type) / 8;
  }
}

std::optional<std::int64_t> elements(const TfliteTensor& tensor) {
  std::optional<std::int64_t> count = 1;
  for (std::int64_t extent : tensor.shape) {
    if (extent == 0) return 0;
    if (count) count = checked_multiply(*count, extent);
  }
  return count && *count <= std::numeric_limits<std::int32_t>::max() ? count : std::nullopt;
}

std::optional<std::vector<std::int64_t>> scratch_requests(const TfliteSubgraph& subgraph, const TfliteOperator& op,
                                                          MicroKernels kernels) {
  const KernelRow* row = row_of(op);
  if (row == nullptr) return std::nullopt;
  if (kernels == MicroKernels::cmsis_nn && row->is_in_cmsis) {
    CmsisRequests requests = cmsis_requests(subgraph, op);
    if (!requests.is_reference) return std::move(requests.sizes);
  }
  return row->scratch(Operands(subgraph, op));
}

bool is_in_cmsis(const TfliteOperator& op) {
  const KernelRow* row = row_of(op);
  return row != nullptr && row->is_in_cmsis;
}

}  // namespace micro_internal

std::vector<std::size_t> operands_in_place(const TfliteOperator& op, MicroKernels kernels) {
  using micro_internal::InPlace;
  const micro_internal::KernelRow* row = micro_internal::row_of(op);
  if (row == nullptr || (kernels == MicroKernels::cmsis_nn && row->is_in_cmsis)) return {};
  switch (row->in_place) {
    case InPlace::none: return {};
    case InPlace::first: return {0};
    case InPlace::any_of_two: return {0, 1};
  }
  return {};
}

}  // namespace lowtide
