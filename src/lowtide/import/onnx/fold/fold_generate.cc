// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "lowtide/base/checked.h"
#include "lowtide/import/onnx/fold/fold_node.h"

// Rules of operators that generate a content, and of NonZero.
namespace lowtide::import_internal {
namespace {

KnownElement element_from(DType dtype, std::int64_t number) {
  return is_float(dtype) ? exact_real(rounded(dtype, static_cast<double>(number)))
                         : element_of(dtype, IntegerRange{number, number});
}

template <typename Number>
Content content_from(DType dtype, const std::vector<Number>& numbers, bool is_scalar) {
  std::shared_ptr<KnownContent> result =
      blank(dtype, is_scalar ? Extents{} : Extents{static_cast<std::int64_t>(numbers.size())});
  if (result == nullptr) return nullptr;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if constexpr (std::is_same_v<Number, double>) {
      result->elements[i] = exact_real(rounded(dtype, numbers[i]));
    } else {
      result->elements[i] = exact_integer(numbers[i]);
    }
  }
  return result;
}

Result<Contents> constant(const FoldNode& node) {
  if (Content value = node.content_attribute("value")) return single(value);
  const std::vector<Attribute>& attributes = node.request().attributes;
  if (const auto* number = find_attribute<std::int64_t>(attributes, "value_int")) {
    return single(content_from<std::int64_t>(DType::i64, {*number}, true));
  }
  if (const auto* number = find_attribute<double>(attributes, "value_float")) {
    return single(content_from<double>(DType::f32, {*number}, true));
  }
  if (const auto* numbers = find_attribute<Extents>(attributes, "value_ints")) {
    return single(content_from<std::int64_t>(DType::i64, *numbers, false));
  }
  if (const auto* numbers = find_attribute<std::vector<double>>(attributes, "value_floats")) {
    return single(content_from<double>(DType::f32, *numbers, false));
  }
  return nothing();
}

Result<Contents> constant_of_shape(const FoldNode& node) {
  const std::optional<Extents> extents = node.exact_integers(0);
  if (!extents) return nothing();
  const Content given = node.content_attribute("value");
  if (given != nullptr && given->elements.size() != 1) return nothing();
  // An omitted value is 0 of type f32. If it is given but its type is not foldable, nothing is known.
  const bool is_opaque = std::any_of(node.request().attributes.begin(), node.request().attributes.end(),
                                     [](const Attribute& attribute) { return attribute.name == "value"; });
  if (given == nullptr && is_opaque) return nothing();
  std::shared_ptr<KnownContent> result = blank(given == nullptr ? DType::f32 : given->dtype, *extents);
  if (result == nullptr) return nothing();
  const KnownElement element = given == nullptr ? exact_real(0) : given->elements[0];
  std::fill(result->elements.begin(), result->elements.end(), element);
  return single(result);
}

Error zero_step() { return {ErrorCode::invalid, "the step ('delta') of the Range is 0", ""}; }

Result<Contents> integer_range_rule(DType dtype, std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta == 0) return zero_step();
  const Int128 distance = delta > 0 ? Int128{limit} - start : Int128{start} - limit;
  const Int128 step = delta > 0 ? Int128{delta} : -Int128{delta};
  const Int128 count = distance <= 0 ? Int128{0} : (distance + step - 1) / step;
  if (count > limits::kMaxFoldedElements) return nothing();
  std::shared_ptr<KnownContent> result = blank(dtype, {static_cast<std::int64_t>(count)});
  if (result == nullptr) return nothing();
  for (std::size_t i = 0; i < result->elements.size(); ++i) {
    const Int128 number = start + Int128{delta} * static_cast<std::int64_t>(i);
    result->elements[i] = element_of(dtype, IntegerRange{number, number});
  }
  return single(result);
}

Result<Contents> real_range_rule(DType dtype, double start, double limit, double delta) {
  if (delta == 0) return zero_step();
  const double count = std::ceil((limit - start) / delta);
  if (!std::isfinite(count) || count > static_cast<double>(limits::kMaxFoldedElements)) return nothing();
  std::shared_ptr<KnownContent> result = blank(dtype, {std::max<std::int64_t>(0, static_cast<std::int64_t>(count))});
  if (result == nullptr) return nothing();
  for (std::size_t i = 0; i < result->elements.size(); ++i) {
    result->elements[i] = exact_real(rounded(dtype, start + rounded(dtype, static_cast<double>(i) * delta)));
  }
  return single(result);
}

Result<Contents> range(const FoldNode& node) {
  const KnownElement* numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const Content content = node.content(i);
    if (content == nullptr || content->elements.size() != 1 || content->dtype != node.content(0)->dtype)
      return nothing();
    numbers[i] = &content->elements[0];
    if (numbers[i]->knowledge != Knowledge::exact) return nothing();
  }
  const DType dtype = node.content(0)->dtype;
  if (is_float(dtype)) return real_range_rule(dtype, numbers[0]->real, numbers[1]->real, numbers[2]->real);
  return integer_range_rule(dtype, numbers[0]->integer, numbers[1]->integer, numbers[2]->integer);
}

Result<Contents> eye_like(const FoldNode& node) {
  const std::optional<Extents> extents = node.extents(0);
  if (!extents || extents->size() != 2) return nothing();
  const std::int64_t given = node.integer("dtype", 0);
  const std::optional<DType> dtype = given == 0 ? node.dtype(0) : dtype_of_onnx_number(given);
  if (!dtype) return nothing();
  std::shared_ptr<KnownContent> result = blank(*dtype, *extents);
  if (result == nullptr) return nothing();
  const std::int64_t columns = (*extents)[1];
  const std::int64_t diagonal = node.integer("k", 0);
  for (std::size_t at = 0; at < result->elements.size(); ++at) {
    const auto position = static_cast<std::int64_t>(at);
    result->elements[at] = element_from(*dtype, position % columns - position / columns == diagonal ? 1 : 0);
  }
  return single(result);
}

// One row per axis and one column per element that is not 0, in row-major order.
Result<Contents> non_zero(const FoldNode& node) {
  const Content source = node.content(0);
  if (source == nullptr) return nothing();
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < source->elements.size(); ++at) {
    const KnownElement& element = source->elements[at];
    if (element.knowledge != Knowledge::exact) return nothing();
    if (is_float(source->dtype) ? element.real != 0 : element.integer != 0)
      found.push_back(static_cast<std::int64_t>(at));
  }
  const std::size_t rank = source->extents.size();
  std::shared_ptr<KnownContent> result =
      blank(DType::i64, {static_cast<std::int64_t>(rank), static_cast<std::int64_t>(found.size())});
  if (result == nullptr) return nothing();
  const Extents strides = strides_of(source->extents);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      result->elements[axis * found.size() + i] = exact_integer(found[i] / strides[axis] % source->extents[axis]);
    }
  }
  return single(result);
}

Result<Contents> one_hot(const FoldNode& node) {
  const Content indices = node.content(0);
  const std::optional<std::int64_t> depth = node.exact_scalar(1);
  const Content values = node.content(2);
  if (indices == nullptr || !is_integer(indices->dtype) || !depth || *depth < 1) return nothing();
  if (values == nullptr || values->elements.size() != 2) return nothing();
  const std::size_t rank = indices->extents.size() + 1;
  const std::optional<std::size_t> axis = normal_axis(node.integer("axis", -1), rank);
  if (!axis) return nothing();
  Extents extents = indices->extents;
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(*axis), *depth);
  std::shared_ptr<KnownContent> result = blank(values->dtype, extents);
  if (result == nullptr || result->elements.empty()) return single(result);
  const AxisView view = axis_view(extents, *axis);
  for (std::int64_t block = 0; block < view.outer; ++block) {
    for (std::int64_t within = 0; within < view.inner; ++within) {
      const KnownElement& index = indices->elements[static_cast<std::size_t>(block * view.inner + within)];
      if (index.knowledge != Knowledge::exact) continue;
      // An index outside [-depth, depth) gives only off values.
      const std::int64_t hot = index.integer < 0 && index.integer >= -*depth ? index.integer + *depth : index.integer;
      for (std::int64_t i = 0; i < view.extent; ++i) {
        result->elements[view.at(block, i, within)] = values->elements[i == hot ? 1 : 0];
      }
    }
  }
  return single(result);
}

}  // namespace

std::span<const NamedRule> generate_rules() {
  static constexpr NamedRule kRules[] = {
      {"Constant", constant}, {"ConstantOfShape", constant_of_shape},
      {"Range", range},       {"EyeLike", eye_like},
      {"NonZero", non_zero},  {"OneHot", one_hot},
  };
  return kRules;
}

}  // namespace lowtide::import_internal
