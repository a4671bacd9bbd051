// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/enum_names.h"

// A model of TensorFlow Lite as plain data. read_tflite() makes it, and what it states holds then: all indexes are in
// range, and no subgraph runs itself. An index of a tensor counts the tensors of one subgraph.
namespace lowtide {

// Element types, with the numbers that files have for them.
enum class TfliteType : std::int8_t {
  float32 = 0,
  float16 = 1,
  int32 = 2,
  uint8 = 3,
  int64 = 4,
  string = 5,
  boolean = 6,
  int16 = 7,
  complex64 = 8,
  int8 = 9,
  float64 = 10,
  complex128 = 11,
  uint64 = 12,
  resource = 13,
  variant = 14,
  uint32 = 15,
  uint16 = 16,
  int4 = 17,
  bfloat16 = 18,
  int2 = 19,
  uint4 = 20,
  float8_e4m3fn = 21,
  float8_e5m2 = 22,
};

// The names in messages, as in the file format.
template <>
inline constexpr auto kEnumNames<TfliteType> = enum_names<TfliteType>({{TfliteType::float32, "FLOAT32"},
                                                                       {TfliteType::float16, "FLOAT16"},
                                                                       {TfliteType::int32, "INT32"},
                                                                       {TfliteType::uint8, "UINT8"},
                                                                       {TfliteType::int64, "INT64"},
                                                                       {TfliteType::string, "STRING"},
                                                                       {TfliteType::boolean, "BOOL"},
                                                                       {TfliteType::int16, "INT16"},
                                                                       {TfliteType::complex64, "COMPLEX64"},
                                                                       {TfliteType::int8, "INT8"},
                                                                       {TfliteType::float64, "FLOAT64"},
                                                                       {TfliteType::complex128, "COMPLEX128"},
                                                                       {TfliteType::uint64, "UINT64"},
                                                                       {TfliteType::resource, "RESOURCE"},
                                                                       {TfliteType::variant, "VARIANT"},
                                                                       {TfliteType::uint32, "UINT32"},
                                                                       {TfliteType::uint16, "UINT16"},
                                                                       {TfliteType::int4, "INT4"},
                                                                       {TfliteType::bfloat16, "BFLOAT16"},
                                                                       {TfliteType::int2, "INT2"},
                                                                       {TfliteType::uint4, "UINT4"},
                                                                       {TfliteType::float8_e4m3fn, "FLOAT8_E4M3FN"},
                                                                       {TfliteType::float8_e5m2, "FLOAT8_E5M2"}});

// Bytes of the file.
struct TfliteBytes {
  std::int64_t offset = 0;  // from the start of the file
  std::int64_t size = 0;
  friend bool operator==(const TfliteBytes&, const TfliteBytes&) = default;
};

// real = scale x (stored - zero point). Without scales, the tensor is not quantized.
struct TfliteQuantization {
  std::vector<double> scales;             // one, or one per index of `axis`; each is a float of the file
  std::vector<std::int64_t> zero_points;  // none (all are 0), one, or as many as scales
  std::int32_t axis = 0;                  // < rank, if there are several scales
};

// A level of a sparse tensor. Each entry of a dense level has `extent` entries of the next level. Entry i of a sparse
// one has those from segments[i] to segments[i + 1], and their places are in `indices`.
struct TfliteSparseLevel {
  bool is_sparse = false;
  std::int64_t extent = 0;
  std::vector<std::int64_t> segments;
  std::vector<std::int64_t> indices;
};

// How the bytes of a sparse tensor are encoded, as the file states it; nothing is checked. Levels are axes of a tensor
// and blocks, into which axes are cut.
struct TfliteSparsity {
  std::vector<std::int64_t> order;       // per level, its axis; block i has the number i behind those of the axes
  std::vector<std::int64_t> block_axes;  // per block, the axis that it cuts
  std::vector<TfliteSparseLevel> levels;
};

struct TfliteTensor {
  std::string name;  // any bytes; may be empty or used by several tensors
  TfliteType type = TfliteType::float32;
  std::vector<std::int64_t> shape;  // each >= 0; empty: a scalar
  std::vector<bool> is_open;        // by axis: the file says that a run may have another extent; empty: none
  std::uint32_t buffer = 0;         // < buffers.size(); buffer 0 is empty
  TfliteQuantization quantization;
  bool is_variable = false;  // keeps its content from one run to the next
  bool is_sparse = false;    // the bytes of its buffer are encoded
  TfliteSparsity sparsity;   // if it is sparse
};

// A field of the options of an operator.
struct TfliteOption {
  std::string name;  // as in the file format: "stride_w"
  // Booleans are 0 and 1. Enumerations are names such as "SAME", or numbers that have no name as text.
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>> value;
};

// A subgraph that an operator runs.
struct TfliteCall {
  std::string name;            // the option that names it: "then_subgraph_index"
  std::uint32_t subgraph = 0;  // < subgraphs.size()
};

struct TfliteOperator {
  std::string type;          // "CONV_2D", or the name of a custom operator
  std::int32_t builtin = 0;  // its number in the file format; kTfliteCustom for custom operators
  std::int32_t version = 1;
  // Each is < tensors.size() of the subgraph, or nullopt for an input that is omitted.
  std::vector<std::optional<std::uint32_t>> inputs;
  std::vector<std::optional<std::uint32_t>> outputs;
  std::vector<std::uint32_t> intermediates;  // tensors that only state the quantization inside the operator
  std::vector<TfliteOption> options;
  bool has_unread_options = false;  // it has options of a table that Lowtide does not read
  TfliteBytes custom_options;       // of a custom operator; size 0: none
  std::vector<TfliteCall> calls;    // of IF, WHILE, CALL_ONCE and CALL, in the order of the options
};
inline constexpr std::int32_t kTfliteCustom = 32;

// Whether it is the builtin operator of this type. Custom operators may have the names of builtin ones.
[[nodiscard]] inline bool is_builtin(const TfliteOperator& op, std::string_view type) {
  return op.builtin != kTfliteCustom && op.type == type;
}

struct TfliteSubgraph {
  std::string name;
  std::vector<TfliteTensor> tensors;
  std::vector<std::uint32_t> inputs;  // < tensors.size()
  std::vector<std::uint32_t> outputs;
  std::vector<TfliteOperator> operators;  // in the order in which they run
};

struct TfliteMetadata {
  std::string name;
  std::uint32_t buffer = 0;  // < buffers.size()
};

// The names that a caller uses for the inputs and outputs of a subgraph.
struct TfliteSignature {
  std::string key;
  std::uint32_t subgraph = 0;                                  // < subgraphs.size()
  std::vector<std::pair<std::string, std::uint32_t>> inputs;   // name and tensor
  std::vector<std::pair<std::string, std::uint32_t>> outputs;  // name and tensor
};

struct TfliteModel {
  std::uint32_t version = 0;
  std::string description;
  std::vector<TfliteSubgraph> subgraphs;  // at least one; the first is the model
  std::vector<TfliteBytes> buffers;
  std::vector<TfliteMetadata> metadata;
  std::vector<TfliteSignature> signatures;
};

// The value of the option with this name. nullptr: there is none, or it has another type.
template <typename T>
[[nodiscard]] const T* find_option(const TfliteOperator& op, std::string_view name) {
  for (const TfliteOption& option : op.options) {
    if (option.name == name) return std::get_if<T>(&option.value);
  }
  return nullptr;
}

// The bits of one element as files store it. nullopt for strings and variants.
[[nodiscard]] std::optional<int> bits_of(TfliteType type);

// Whether the tensor has bytes in the file. A variable has none that count.
[[nodiscard]] inline bool is_constant(const TfliteModel& model, const TfliteTensor& tensor) {
  return !tensor.is_variable && model.buffers[tensor.buffer].size > 0;
}

}  // namespace lowtide
