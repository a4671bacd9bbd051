// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/data_dependent_sizes.h"

#include <algorithm>

namespace lowtide::import_internal {

void size_non_zero(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  sized.give_rank(0, 2);
  KnownExtents* output = sized.output(0);
  if (data == nullptr || output == nullptr || output->size() != 2) return;
  set_exact((*output)[0], static_cast<std::int64_t>(data->size()));
  set_bound((*output)[1], element_bound(*data));
}

void size_non_max_suppression(const Sized& sized) {
  sized.give_rank(0, 2);
  KnownExtents* output = sized.output(0);
  const KnownExtents* boxes = sized.extents(0);
  const KnownExtents* scores = sized.extents(1);
  if (output == nullptr || output->size() != 2 || scores == nullptr || scores->size() != 3) return;
  set_exact((*output)[1], 3);
  Bound each = bound_of((*scores)[2]);
  if (boxes != nullptr && boxes->size() == 3) each = least(each, bound_of((*boxes)[1]));
  Bound most = 0;  // if max_output_boxes_per_class is omitted, it is 0
  if (sized.has(2)) {
    const KnownElement* given = element_at(sized.content(2), 0);
    most = given == nullptr ? Bound() : bound_of(*given);
    each = least(each, most);
  } else {
    each = 0;
  }
  Bound batches = bound_of((*scores)[0]);
  if (boxes != nullptr && boxes->size() == 3) batches = least(batches, bound_of((*boxes)[0]));
  set_bound((*output)[0], product(product(batches, bound_of((*scores)[1])), each));
}

void size_unique(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const onnx::AttributeProto* given = sized.attribute("axis");
  if (data == nullptr) return;
  Bound most = element_bound(*data);
  if (given != nullptr) {
    const auto axis = axis_in(given->i(), data->size());
    if (!axis) return;
    most = bound_of((*data)[*axis]);
    sized.give_rank(0, data->size());
    KnownExtents* values = sized.output(0);
    if (values == nullptr || values->size() != data->size()) return;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (i == *axis) set_bound((*values)[i], most);
      if (i != *axis && is_open((*values)[i])) (*values)[i] = (*data)[i];
    }
  } else if (KnownExtents* values = sized.output(0); values != nullptr && values->size() == 1) {
    set_bound((*values)[0], most);
  }
  for (const std::size_t index : {std::size_t{1}, std::size_t{3}}) {
    if (KnownExtents* list = sized.output(index); list != nullptr && list->size() == 1) set_bound((*list)[0], most);
  }
  if (KnownExtents* inverse = sized.output(2); inverse != nullptr && inverse->size() == 1) {
    const bool is_exact = std::none_of(data->begin(), data->end(), is_open);
    if (is_exact && most) set_exact((*inverse)[0], *most);
    set_bound((*inverse)[0], most);
  }
}

void size_compress(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownExtents* condition = sized.extents(1);
  if (data == nullptr) return;
  const onnx::AttributeProto* given = sized.attribute("axis");
  const std::size_t rank = given == nullptr ? 1 : data->size();
  const auto axis = axis_in(given == nullptr ? 0 : given->i(), rank);
  if (!axis) return;
  sized.give_rank(0, rank);
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != rank) return;
  Bound most = given == nullptr ? element_bound(*data) : bound_of((*data)[*axis]);
  if (condition != nullptr && condition->size() == 1) most = least(most, bound_of((*condition)[0]));
  const KnownContent* trues = sized.content(1);
  if (trues != nullptr) {
    const auto known = std::count_if(trues->elements.begin(), trues->elements.end(), [](const KnownElement& element) {
      return element.knowledge != Knowledge::exact || element.integer != 0;
    });
    most = least(most, static_cast<std::int64_t>(known));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == *axis) set_bound((*output)[i], most);
    if (i != *axis && is_open((*output)[i])) (*output)[i] = (*data)[i];
  }
}

void size_top_k(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr) return;
  const auto axis = axis_in(sized.integer("axis", -1), data->size());
  if (!axis) return;
  const KnownElement* k = element_at(sized.content(1), 0);
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    sized.give_rank(index, data->size());
    KnownExtents* output = sized.output(index);
    if (output == nullptr || output->size() != data->size()) continue;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (i == *axis) set_bound((*output)[i], least(bound_of((*data)[i]), k == nullptr ? Bound() : bound_of(*k)));
      if (i != *axis && is_open((*output)[i])) (*output)[i] = (*data)[i];
    }
  }
}

}  // namespace lowtide::import_internal
