// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/classical_sizes.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/import/onnx/inference/sized_node.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

// The entries of the first of these lists that has some.
std::int64_t length_of(const Sized& of, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const onnx::AttributeProto* list = of.attribute(name);
    if (list == nullptr) continue;
    const int length = std::max({list->ints_size(), list->strings_size(), list->floats_size()});
    if (length > 0) return length;
  }
  return 0;
}

std::optional<DType> type_of_input(const Sized& of) {
  return of.has(0) ? of.inputs[0]->known.dtype : std::optional<DType>();
}

KnownExtent exactly(std::int64_t number) { return {Knowledge::exact, number, ""}; }

TensorFact fact_with(std::optional<DType> dtype, std::optional<KnownExtents> extents) {
  TensorFact fact;
  fact.known.dtype = dtype;
  fact.known.extents = std::move(extents);
  return fact;
}

// The extents of a matrix with as many rows as the operand. nullopt if the rank of the operand is not known.
Result<std::optional<KnownExtents>> rows_and(const Sized& of, std::optional<std::int64_t> columns) {
  const KnownExtents* x = of.extents(0);
  if (x == nullptr) return std::optional<KnownExtents>();
  if (x->empty() || x->size() > 2) {
    return Error{ErrorCode::invalid,
                 "the input has " + with_count(static_cast<std::int64_t>(x->size()), "axis") +
                     ", and must be a matrix or one row",
                 ""};
  }
  KnownExtents extents{x->size() == 1 ? exactly(1) : x->front()};
  if (columns) extents.push_back(exactly(*columns));
  return std::optional(std::move(extents));
}

Result<Facts> infer_scores(const Sized& of, std::int64_t columns, std::optional<DType> dtype) {
  auto extents = rows_and(of, columns);
  if (!extents) return extents.error();
  return Facts{fact_with(dtype, *std::move(extents))};
}

// Labels, and the scores of each row.
Result<Facts> infer_classifier(const Sized& of, std::int64_t columns) {
  auto labels = rows_and(of, std::nullopt);
  auto scores = rows_and(of, columns);
  if (!labels || !scores) return (labels ? scores : labels).error();
  const bool are_texts = length_of(of, {"classlabels_strings"}) > 0;
  return Facts{fact_with(are_texts ? DType::string : DType::i64, *std::move(labels)),
               fact_with(DType::f32, *std::move(scores))};
}

std::int64_t targets_of(const Sized& of, std::string_view ids) {
  const onnx::AttributeProto* list = of.attribute(ids);
  std::int64_t most = 0;
  if (list != nullptr) {
    for (std::int64_t id : list->ints()) most = std::max(most, std::min(id, limits::kMaxTensorBytes));
  }
  return std::max<std::int64_t>(of.integer("n_targets", most + 1), 1);
}

// One score per pair of classes if there are support vectors and no probabilities, otherwise one per class.
std::int64_t scores_of_svm(const Sized& of) {
  const std::int64_t classes = std::max<std::int64_t>(length_of(of, {"classlabels_ints", "classlabels_strings"}), 1);
  const bool has_pairs = length_of(of, {"vectors_per_class"}) > 0 && length_of(of, {"prob_a"}) == 0;
  if (!has_pairs) return classes;
  return classes > 2 ? classes * (classes - 1) / 2 : 2;
}

Facts infer_label_encoder(const Sized& of) {
  std::optional<DType> dtype;
  if (const onnx::AttributeProto* values = of.attribute("values_tensor")) {
    const Result<DType> type = dtype_from_onnx(values->t().data_type());
    if (type) dtype = *type;
  } else if (length_of(of, {"values_int64s"}) > 0) {
    dtype = DType::i64;
  } else if (length_of(of, {"values_floats"}) > 0) {
    dtype = DType::f32;
  } else if (length_of(of, {"values_strings"}) > 0) {
    dtype = DType::string;
  } else if (length_of(of, {"classes_strings"}) > 0) {
    dtype = type_of_input(of) == DType::string ? DType::i64 : DType::string;
  }
  const KnownExtents* x = of.extents(0);
  return {fact_with(dtype, x == nullptr ? std::optional<KnownExtents>() : std::optional(*x))};
}

Facts infer_one_hot_encoder(const Sized& of) {
  const KnownExtents* x = of.extents(0);
  if (x == nullptr) return {fact_with(DType::f32, std::nullopt)};
  KnownExtents extents = *x;
  extents.push_back(exactly(length_of(of, {"cats_int64s", "cats_strings"})));
  return {fact_with(DType::f32, std::move(extents))};
}

// The features at the places of input 1, whose number is that of its elements.
Facts infer_extractor(const Sized& of) {
  const KnownExtents* x = of.extents(0);
  const KnownExtents* places = of.extents(1);
  if (x == nullptr || places == nullptr || x->empty()) return {fact_with(type_of_input(of), std::nullopt)};
  KnownExtent chosen = exactly(1);
  for (const KnownExtent& extent : *places) {
    if (extent.knowledge == Knowledge::exact && extent.extent == 1) continue;
    const bool is_first = chosen.knowledge == Knowledge::exact && chosen.extent == 1;
    const bool is_exact = chosen.knowledge == Knowledge::exact && extent.knowledge == Knowledge::exact;
    const Bound both = product(bound_of(chosen), bound_of(extent));
    const Knowledge knowledge = both ? (is_exact ? Knowledge::exact : Knowledge::at_most) : Knowledge::unknown;
    chosen = is_first ? extent : KnownExtent{knowledge, both.value_or(0), ""};
  }
  KnownExtents extents = *x;
  if (extents.size() == 1) extents.insert(extents.begin(), exactly(1));
  extents.back() = std::move(chosen);
  return {fact_with(type_of_input(of), std::move(extents))};
}

Result<Facts> infer_vectorizer(const Sized& of) {
  std::int64_t columns = 0;
  if (const onnx::AttributeProto* widths = of.attribute("inputdimensions")) {
    for (std::int64_t width : widths->ints()) {
      columns = checked_add(columns, std::max<std::int64_t>(width, 0)).value_or(limits::kMaxTensorBytes);
    }
  }
  return infer_scores(of, columns, DType::f32);
}

Facts same_extents(const Sized& of, std::optional<DType> dtype) {
  const KnownExtents* x = of.extents(0);
  return {fact_with(dtype, x == nullptr ? std::optional<KnownExtents>() : std::optional(*x))};
}

Result<Facts> infer_by_type(const Sized& of, std::string_view type) {
  if (type == "TreeEnsemble") return infer_scores(of, targets_of(of, "leaf_targetids"), type_of_input(of));
  if (type == "TreeEnsembleRegressor") return infer_scores(of, targets_of(of, "target_ids"), DType::f32);
  if (type == "LinearRegressor")
    return infer_scores(of, std::max<std::int64_t>(of.integer("targets", 1), 1), DType::f32);
  if (type == "SVMRegressor") return infer_scores(of, 1, DType::f32);
  if (type == "SVMClassifier") return infer_classifier(of, scores_of_svm(of));
  if (type == "TreeEnsembleClassifier" || type == "LinearClassifier") {
    const auto names = {std::string_view("classlabels_int64s"), std::string_view("classlabels_ints"),
                        std::string_view("classlabels_strings")};
    return infer_classifier(of, std::max<std::int64_t>(length_of(of, names), 1));
  }
  if (type == "LabelEncoder" || type == "CategoryMapper") return infer_label_encoder(of);
  if (type == "OneHotEncoder") return infer_one_hot_encoder(of);
  if (type == "ArrayFeatureExtractor") return infer_extractor(of);
  if (type == "FeatureVectorizer") return infer_vectorizer(of);
  if (type == "Scaler" || type == "Normalizer") return same_extents(of, DType::f32);
  if (type == "Binarizer" || type == "Imputer") return same_extents(of, type_of_input(of));
  return Facts(of.outputs.size());
}

}  // namespace

bool is_classical_domain(const std::string& domain) { return domain == "ai.onnx.ml"; }

Result<std::vector<TensorFact>> infer_classical(const onnx::NodeProto& node,
                                                std::span<const TensorFact* const> inputs) {
  Facts none(static_cast<std::size_t>(node.output_size()));
  Result<Facts> facts = infer_by_type(Sized{node, inputs, none}, node.op_type());
  if (facts) facts->resize(static_cast<std::size_t>(node.output_size()));
  return facts;
}

}  // namespace lowtide::import_internal
