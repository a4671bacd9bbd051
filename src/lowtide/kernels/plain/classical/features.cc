// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/try.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/classical/lists.h"
#include "lowtide/kernels/plain/classical/matrix.h"

namespace lowtide::kernels_internal {
namespace {

// The type in which numbers of a type are compared with attributes, or become f32.
template <typename T>
using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;

// What an element-wise operator has per feature, the last axis: one number for all of them, or one for each.
struct PerFeature {
  std::vector<double> numbers;
  [[nodiscard]] double at(std::int64_t feature) const {
    return numbers.size() == 1 ? numbers.front() : numbers[static_cast<std::size_t>(feature)];
  }
  [[nodiscard]] bool fits(std::int64_t features) const {
    return numbers.size() == 1 || static_cast<std::int64_t>(numbers.size()) == features;
  }
};

std::int64_t features_of(const BoundTensor& operand) {
  return operand.rank == 0 ? 1 : operand.extents[operand.rank - 1];
}

struct ScalerParameters {
  PerFeature offset;
  PerFeature scale;
};

RunStatus run_scaler(const ScalerParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const std::int64_t features = features_of(x);
  if (!parameters.offset.fits(features) || !parameters.scale.fits(features)) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(operands.writes[0], Extents(extents_of(x)));
  if (status.code != RunCode::ok) return status;
  auto* const y = mutable_elements<float>(operands.writes[0]);
  const RunCode code = run_in_parts(team, count_of(x), count_of(x), [&](std::int64_t begin, std::int64_t end) {
    visit_elements(x, [&]<typename T>(const T* from) {
      using C = Compared<T>;
      for (std::int64_t at = begin; at < end; ++at) {
        const std::int64_t feature = at % features;
        const C offset = static_cast<C>(parameters.offset.at(feature));
        y[at] = static_cast<float>((static_cast<C>(from[at]) - offset) * static_cast<C>(parameters.scale.at(feature)));
      }
    });
    return RunCode::ok;
  });
  return {code, 0};
}

Error wrong_features(const char* name, std::size_t numbers, std::int64_t features) {
  return {ErrorCode::invalid,
          "attribute '" + std::string(name) + "' has " + with_count(static_cast<std::int64_t>(numbers), "number") +
              " for " + with_count(features, "feature"),
          ""};
}

Result<void> check_features(const PrepareInput& input, const char* name, const PerFeature& of) {
  const std::optional<std::int64_t> columns = input_columns(input.graph, node_of(input));
  if (of.numbers.empty() || (columns && !of.fits(*columns))) {
    return wrong_features(name, of.numbers.size(), columns.value_or(0));
  }
  return {};
}

PreparedResult prepare_scaler(const PrepareInput& input) {
  ScalerParameters of;
  LOWTIDE_TRY(of.offset.numbers, reals_in(node_of(input), "offset"));
  LOWTIDE_TRY(of.scale.numbers, reals_in(node_of(input), "scale"));
  if (of.offset.numbers.empty()) of.offset.numbers = {0};
  if (of.scale.numbers.empty()) of.scale.numbers = {1};
  LOWTIDE_RETURN_IF_ERROR(check_features(input, "offset", of.offset));
  LOWTIDE_RETURN_IF_ERROR(check_features(input, "scale", of.scale));
  return plain_kernel(input, &run_scaler, std::move(of));
}

struct ImputerParameters {
  PerFeature imputed;
  double replaced = 0;
  std::optional<std::int64_t> replaced_integer = std::nullopt;  // present: integers are compared with it
};

RunStatus run_imputer(const ImputerParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const std::int64_t features = features_of(x);
  if (!parameters.imputed.fits(features)) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(operands.writes[0], Extents(extents_of(x)));
  if (status.code != RunCode::ok) return status;
  const bool replaces_nan = std::isnan(parameters.replaced);
  const std::optional<std::int64_t>& integer = parameters.replaced_integer;
  const RunCode code = run_in_parts(team, count_of(x), count_of(x), [&](std::int64_t begin, std::int64_t end) {
    visit_elements(x, [&]<typename T>(const T* from) {
      auto* const to = mutable_elements<T>(operands.writes[0]);
      using C = Compared<T>;
      const C replaced = static_cast<C>(parameters.replaced);
      for (std::int64_t at = begin; at < end; ++at) {
        const C number = static_cast<C>(from[at]);
        bool is_missing = replaces_nan ? std::isnan(number) : number == replaced;
        if constexpr (std::is_integral_v<T>) {
          if (integer) is_missing = static_cast<std::int64_t>(from[at]) == *integer;
        }
        to[at] = is_missing ? static_cast<T>(parameters.imputed.at(at % features)) : from[at];
      }
    });
    return RunCode::ok;
  });
  return {code, 0};
}

// Integers that a run writes as such are exact as f64.
constexpr double kMostExact = 0x1p53;

PreparedResult prepare_imputer(const PrepareInput& input) {
  const Node& node = node_of(input);
  ImputerParameters of;
  LOWTIDE_TRY(of.imputed.numbers, reals_in(node, "imputed_value_floats"));
  of.replaced = number_attribute(node, "replaced_value_float", 0);
  if (of.imputed.numbers.empty()) {
    LOWTIDE_TRY(of.imputed.numbers, reals_in(node, "imputed_value_int64s"));
    of.replaced_integer = integer_attribute(node, "replaced_value_int64", 0);
    of.replaced = static_cast<double>(*of.replaced_integer);
  }
  LOWTIDE_RETURN_IF_ERROR(check_features(input, "imputed_value_floats", of.imputed));
  const DType dtype = *computed_type(input.graph, node, 0);
  const auto is_out_of_range = [&](double number) {
    const double most = dtype == DType::i32 ? 0x1p31 : kMostExact;
    return (dtype == DType::i32 || dtype == DType::i64) && !(std::abs(number) < most);
  };
  if (std::ranges::any_of(of.imputed.numbers, is_out_of_range)) {
    return Error{ErrorCode::invalid, "an imputed value is no " + std::string(to_string(dtype)), ""};
  }
  return plain_kernel(input, &run_imputer, std::move(of));
}

RunStatus run_binarizer(const double& threshold, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const RunStatus status = set_extents(operands.writes[0], Extents(extents_of(x)));
  if (status.code != RunCode::ok) return status;
  const RunCode code = run_in_parts(team, count_of(x), count_of(x), [&](std::int64_t begin, std::int64_t end) {
    visit_elements(x, [&]<typename T>(const T* from) {
      auto* const to = mutable_elements<T>(operands.writes[0]);
      for (std::int64_t at = begin; at < end; ++at) to[at] = static_cast<double>(from[at]) > threshold ? T{1} : T{0};
    });
    return RunCode::ok;
  });
  return {code, 0};
}

PreparedResult prepare_binarizer(const PrepareInput& input) {
  return plain_kernel(input, &run_binarizer, number_attribute(node_of(input), "threshold", 0));
}

enum class FeatureNorm : std::uint8_t { max, l1, l2 };

template <typename C>
C divisor_of(FeatureNorm norm, const auto* row, std::int64_t count) {
  C divisor = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    const C magnitude = std::abs(static_cast<C>(row[at]));
    if (norm == FeatureNorm::max) divisor = std::max(divisor, magnitude);
    if (norm == FeatureNorm::l1) divisor += magnitude;
    if (norm == FeatureNorm::l2) divisor += magnitude * magnitude;
  }
  if (norm == FeatureNorm::l2) divisor = std::sqrt(divisor);
  return divisor == 0 ? C{1} : divisor;  // a row of zeros stays as it is
}

RunStatus run_normalizer(const FeatureNorm& norm, const Operands& operands, Team& team) {
  const BoundTensor& x = operands.reads[0];
  const std::optional<Matrix> matrix = matrix_of(x);
  if (!matrix) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(operands.writes[0], Extents(extents_of(x)));
  if (status.code != RunCode::ok) return status;
  auto* const y = mutable_elements<float>(operands.writes[0]);
  const RunCode code = run_in_parts(team, matrix->rows, 2 * count_of(x), [&](std::int64_t begin, std::int64_t end) {
    visit_elements(x, [&]<typename T>(const T* from) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* const own = from + row * matrix->columns;
        using C = Compared<T>;
        const C divisor = divisor_of<C>(norm, own, matrix->columns);
        for (std::int64_t at = 0; at < matrix->columns; ++at) {
          y[row * matrix->columns + at] = static_cast<float>(static_cast<C>(own[at]) / divisor);
        }
      }
    });
    return RunCode::ok;
  });
  return {code, 0};
}

PreparedResult prepare_normalizer(const PrepareInput& input) {
  constexpr std::array<std::string_view, 3> kFeatureNorms{"MAX", "L1", "L2"};
  const std::string name = text_attribute(node_of(input), "norm", "MAX");
  const auto at = static_cast<std::size_t>(std::ranges::find(kFeatureNorms, name) - kFeatureNorms.begin());
  if (at == kFeatureNorms.size()) return Error{ErrorCode::invalid, "attribute 'norm' is not MAX, L1 or L2", ""};
  return plain_kernel(input, &run_normalizer, static_cast<FeatureNorm>(at));
}

using Widths = std::vector<std::int64_t>;

// Copies as many features of each operand as its width says, and fills the rest with zeros.
RunStatus run_vectorizer(const Widths& widths, const Operands& operands, Team& /*team*/) {
  std::int64_t columns = 0;
  for (std::int64_t width : widths) columns += width;
  const std::optional<Matrix> first = matrix_of(operands.reads[0]);
  if (!first) return {RunCode::bad_extents, 0};
  const RunStatus status = set_extents(operands.writes[0], Extents{first->rows, columns});
  if (status.code != RunCode::ok) return status;
  auto* const y = mutable_elements<float>(operands.writes[0]);
  std::int64_t begin = 0;
  for (std::uint32_t at = 0; at < operands.reads.size(); begin += widths[at++]) {
    const std::optional<Matrix> matrix = matrix_of(operands.reads[at]);
    if (!matrix || matrix->rows != first->rows) return {RunCode::bad_extents, at};
    const std::int64_t copied = std::min(widths[at], matrix->columns);
    for (std::int64_t row = 0; row < matrix->rows; ++row) {
      float* const to = y + row * columns + begin;
      read_reals(operands.reads[at], row * matrix->columns, copied, to);
      std::fill(to + copied, to + widths[at], 0.0F);
    }
  }
  return {};
}

PreparedResult prepare_vectorizer(const PrepareInput& input) {
  const Node& node = node_of(input);
  LOWTIDE_TRY(Widths widths, integers_in(node, "inputdimensions"));
  if (widths.size() != node.inputs.size()) {
    return Error{ErrorCode::invalid,
                 "attribute 'inputdimensions' has " + std::to_string(widths.size()) + " entries for " +
                     with_count(static_cast<std::int64_t>(node.inputs.size()), "input"),
                 ""};
  }
  const std::int64_t most = input.graph.tensor(*node.outputs[0]).shape.extents().back();
  std::int64_t sum = 0;
  for (std::int64_t width : widths) {
    if (width < 0 || width > most - sum) {
      return Error{ErrorCode::invalid, "attribute 'inputdimensions' does not have the columns of the output", ""};
    }
    sum += width;
  }
  return plain_kernel(input, &run_vectorizer, std::move(widths));
}

std::string missing_vectorizer(const Graph& graph, const Node& node) {
  if (graph.tensor(*node.outputs[0]).shape.rank() != 2) return "its output is no matrix";
  const auto has_type = [&](const std::optional<TensorId>& id) {
    return id && std::ranges::find(kMatrixTypes, graph.tensor(*id).dtype) != kMatrixTypes.end();
  };
  if (!std::ranges::all_of(node.inputs, has_type)) return "its inputs are not all f64, f32, i64 or i32";
  return missing_matrix(graph, node);
}

struct NoParameters {};

RunStatus run_extractor(const NoParameters& /*parameters*/, const Operands& operands, Team& /*team*/) {
  const BoundTensor& x = operands.reads[0];
  const BoundTensor& places = operands.reads[1];
  if (x.rank == 0) return {RunCode::bad_extents, 0};
  const std::int64_t features = features_of(x);
  const std::int64_t chosen = count_of(places);
  Extents extents(extents_of(x));
  const std::int64_t rows = extents.product(0, x.rank - 1);
  extents[x.rank - 1] = chosen;
  const RunStatus status = set_extents(operands.writes[0], x.rank == 1 ? Extents{1, chosen} : extents);
  if (status.code != RunCode::ok) return status;
  const auto* const at = elements<std::int64_t>(places);
  if (std::any_of(at, at + chosen, [&](std::int64_t place) { return place < 0 || place >= features; })) {
    return {RunCode::index_out_of_range, 1};
  }
  const int unit = element_bytes(x.dtype);
  std::byte* to = *operands.writes[0].bytes;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t next = 0; next < chosen; ++next, to += unit) {
      std::memcpy(to, *x.bytes + (row * features + at[next]) * unit, static_cast<std::size_t>(unit));
    }
  }
  return {};
}

std::string missing_extractor(const Graph& graph, const Node& node) {
  return graph.tensor(*node.inputs[1]).dtype == DType::i64 ? "" : "the places are not i64";
}

PreparedResult prepare_extractor(const PrepareInput& input) {
  return plain_kernel(input, &run_extractor, NoParameters{});
}

constexpr PlainOperator feature_operator(std::string_view type, PreparedResult (*prepare)(const PrepareInput&)) {
  return {.op = {kClassicalDomain, type, kMatrixTypes}, .prepare = prepare};
}

constexpr std::array kFeatureTable{
    PlainOperator{.op = {kClassicalDomain, "ArrayFeatureExtractor", kMatrixTypes},
                  .operands = 2,
                  .prepare = &prepare_extractor,
                  .missing = &missing_extractor},
    feature_operator("Binarizer", &prepare_binarizer),
    PlainOperator{.op = {kClassicalDomain, "FeatureVectorizer", kMatrixTypes},
                  .prepare = &prepare_vectorizer,
                  .missing = &missing_vectorizer},
    feature_operator("Imputer", &prepare_imputer),
    PlainOperator{.op = {kClassicalDomain, "Normalizer", kMatrixTypes},
                  .prepare = &prepare_normalizer,
                  .missing = &missing_matrix},
    feature_operator("Scaler", &prepare_scaler),
};
constexpr std::array kFeatureOperators = operators_of(kFeatureTable);

}  // namespace

Family feature_family() {
  return {.name = "features",
          .operators = kFeatureOperators,
          .offer = [](const OfferInput& input) { return offer_from(kFeatureTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kFeatureTable, input); }};
}

}  // namespace lowtide::kernels_internal
