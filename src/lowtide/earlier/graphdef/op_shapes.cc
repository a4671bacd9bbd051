// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/graphdef/shape_math.h"
#include "lowtide/graph/shape.h"

namespace lowtide::graphdef_internal {
void infer_broadcast(NodeTypes& types) {
  if (types.extents(0) == nullptr || types.extents(1) == nullptr) return;
  const bool has_open = is_open(*types.extents(0)) || is_open(*types.extents(1));
  std::optional<Extents> extents = has_open ? open_broadcast(*types.extents(0), *types.extents(1))
                                            : broadcast_extents(*types.extents(0), *types.extents(1));
  if (extents) return types.set(0, *std::move(extents));
  types.fault = "the inputs with the shapes " + to_string(Shape(*types.extents(0))) + " and " +
                to_string(Shape(*types.extents(1))) + " do not fit together";
}

void infer_mat_mul(NodeTypes& types) {
  const Extents* a = types.extents(0);
  const Extents* b = types.extents(1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return;
  const std::size_t row = types.node.is_set("transpose_a") ? 1 : 0;
  const std::size_t column = types.node.is_set("transpose_b") ? 0 : 1;
  const bool is_unknown = (*a)[1 - row] == kOpen || (*b)[1 - column] == kOpen;
  if (!is_unknown && (*a)[1 - row] != (*b)[1 - column]) {
    types.fault = "the rows of the first matrix have " + std::to_string((*a)[1 - row]) +
                  " elements, but the columns of the second have " + std::to_string((*b)[1 - column]);
    return;
  }
  types.set(0, {(*a)[row], (*b)[column]});
}

// The batches are broadcast, which BatchMatMul without a version does not need.
void infer_batch_mat_mul(NodeTypes& types) {
  const Extents* a = types.extents(0);
  const Extents* b = types.extents(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return;
  std::optional<Extents> y = open_broadcast({a->begin(), a->end() - 2}, {b->begin(), b->end() - 2});
  if (!y) return;
  y->push_back((*a)[a->size() - (types.node.is_set("adj_x") ? 1 : 2)]);
  y->push_back((*b)[b->size() - (types.node.is_set("adj_y") ? 2 : 1)]);
  types.set(0, *std::move(y));
}

// One -1 is what is left. The given shape is that of the result, whatever is known of the operand.
void infer_reshape(NodeTypes& types) {
  if (const Extents* partial = types.partial(1)) return types.set(0, *partial);
  if (types.content(1) == nullptr) return;
  Extents shape = *types.content(1);
  if (std::ranges::any_of(shape, [](std::int64_t one) { return one < kOpen; })) return;
  if (std::ranges::count(shape, kOpen) > 1) return;
  const bool is_unknown = types.extents(0) == nullptr || is_open(*types.extents(0));
  if (is_unknown) return types.set(0, std::move(shape));  // its -1 is an open extent
  const std::optional<std::int64_t> elements = product(*types.extents(0));
  const auto open = std::find(shape.begin(), shape.end(), kOpen);
  const bool has_open = open != shape.end();
  if (has_open) *open = 1;
  const std::optional<std::int64_t> known = product(shape);
  if (!elements || !known || *known < 0) return;
  if (has_open && *known > 0 && *elements % *known == 0) {
    *open = *elements / *known;
  } else if (has_open || *known != *elements) {
    types.fault = std::to_string(*elements) + " elements cannot have the given shape with " + std::to_string(*known);
    return;
  }
  types.set(0, std::move(shape));
}

void infer_transpose(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axes = types.content(1);
  if (x == nullptr || axes == nullptr || axes->size() != x->size()) return;
  Extents y;
  for (std::int64_t axis : *axes) {
    const std::optional<std::size_t> at = index_of_axis(axis, x->size());
    if (!at) return;
    y.push_back((*x)[*at]);
  }
  types.set(0, std::move(y));
}

// The condition, and the two results between which it chooses.
void infer_select(NodeTypes& types) {
  std::optional<Extents> y = Extents();
  for (std::size_t input = 0; input < 3 && y; ++input) {
    if (types.extents(input) == nullptr) return;
    y = open_broadcast(*std::move(y), *types.extents(input));
  }
  if (y) types.set(0, *std::move(y));
}

void infer_reduce(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axes = types.content(1);
  if (x == nullptr || axes == nullptr) return;
  std::vector<bool> is_reduced(x->size(), false);
  for (std::int64_t axis : *axes) {
    const std::optional<std::size_t> at = index_of_axis(axis, x->size());
    if (!at) return;
    is_reduced[*at] = true;
  }
  const bool keeps = types.node.is_set("keep_dims");
  Extents y;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (!is_reduced[at]) y.push_back((*x)[at]);
    if (is_reduced[at] && keeps) y.push_back(1);
  }
  types.set(0, std::move(y));
}

// One axis is left out, and the result has indices.
void infer_arg_reduce(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const std::optional<std::int64_t> axis = types.number(1);
  if (x == nullptr || !axis) return;
  const std::optional<std::size_t> at = index_of_axis(*axis, x->size());
  if (!at) return;
  Extents y = *x;
  y.erase(y.begin() + static_cast<std::ptrdiff_t>(*at));
  types.set(0, std::move(y));
}

void infer_expand_dims(NodeTypes& types) {
  const Extents* x = types.extents(0);
  const Extents* axis = types.content(1);
  if (x == nullptr || axis == nullptr || axis->size() != 1) return;
  const std::optional<std::size_t> at = index_of_axis(axis->front(), x->size() + 1);
  if (!at) return;
  Extents y = *x;
  y.insert(y.begin() + static_cast<std::ptrdiff_t>(*at), 1);
  types.set(0, std::move(y));
}

void infer_squeeze(NodeTypes& types) {
  const Extents* x = types.extents(0);
  if (x == nullptr) return;
  const Extents dims = types.node.integers("squeeze_dims");
  std::vector<bool> is_left_out(x->size(), false);
  for (std::int64_t dim : dims) {
    const std::optional<std::size_t> at = index_of_axis(dim, x->size());
    if (!at || ((*x)[*at] != 1 && (*x)[*at] != kOpen)) return;
    is_left_out[*at] = true;
  }
  if (dims.empty() && is_open(*x)) return;  // so that the rank is not known
  Extents y;
  for (std::size_t at = 0; at < x->size(); ++at) {
    if (dims.empty() ? (*x)[at] != 1 : !is_left_out[at]) y.push_back((*x)[at]);
  }
  types.set(0, std::move(y));
}

// A wider type takes the last axis together, and a narrower one adds an axis.
void infer_bitcast(NodeTypes& types) {
  const Extents* x = types.extents(0);
  if (x == nullptr || types.inputs.empty() || !types.inputs[0]->dtype || types.outputs.empty()) return;
  const std::optional<DType> to = types.outputs[0].dtype;
  const int from_bits = bits_of(*types.inputs[0]->dtype).value_or(0);
  const int to_bits = to ? bits_of(*to).value_or(0) : 0;
  if (from_bits == 0 || to_bits == 0) return;
  Extents y = *x;
  if (from_bits > to_bits) y.push_back(from_bits / to_bits);
  if (from_bits < to_bits) {
    if (y.empty() || y.back() != to_bits / from_bits) return;
    y.pop_back();
  }
  types.set(0, std::move(y));
}

// All inputs have one shape, so an extent is known if one of them states it.
void infer_add_n(NodeTypes& types) {
  std::optional<Extents> sum;
  for (std::size_t at = 0; at < types.inputs.size(); ++at) {
    const Extents* operand = types.extents(at);
    if (operand == nullptr) continue;
    if (!sum) sum = *operand;
    if (extents_contradict(*sum, *operand)) {
      types.fault = "its operand " + std::to_string(at) + " is " + shown_extents(*operand) +
                    ", but the operands before it are " + shown_extents(*sum) + "; all must have one shape";
      return;
    }
    for (std::size_t axis = 0; axis < sum->size(); ++axis) (*sum)[axis] = std::max((*sum)[axis], (*operand)[axis]);
  }
  if (sum) types.set(0, *std::move(sum));
}

}  // namespace lowtide::graphdef_internal
