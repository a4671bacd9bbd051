// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/earlier/netdef/argument_number.h"
#include "lowtide/earlier/netdef/infer.h"

namespace lowtide::netdef_internal {
namespace {

using Extents = std::vector<std::int64_t>;

bool has_integer_value(const OpView& op) {
  const ProtoMessage* value = op.argument("value");
  const auto number = value == nullptr ? std::nullopt : number_of_argument(*value);
  return number && std::holds_alternative<std::int64_t>(*number);
}

// Inputs of one shape, along a new axis.
void infer_stacked(OpTypes& types, std::size_t axis) {
  BlobType y = *types.input(0);
  for (std::size_t at = 1; at < types.inputs.size(); ++at) {
    if (types.input(at) == nullptr) return;
    if (types.input(at)->extents == y.extents) continue;
    types.fault = "input " + std::to_string(at) + " differs from input 0, beside which it is put on a new axis";
    return;
  }
  y.extents.insert(y.extents.begin() + static_cast<std::ptrdiff_t>(axis),
                   static_cast<std::int64_t>(types.inputs.size()));
  types.set_output(0, std::move(y));
}

}  // namespace

// X [M..., K...], W [N..., K...], b [N...] -> Y [M..., N], where the axes `axis` and `axis_w` divide both.
void infer_fc(OpTypes& types) {
  const BlobType* x = types.input(0);
  const BlobType* w = types.input(1);
  if (w == nullptr || w->extents.empty()) return;
  const std::optional<std::size_t> axis_w = axis_of(types.op.integer("axis_w", 1), w->extents.size());
  const std::optional<std::int64_t> n = axis_w ? product_of(w->extents, 0, *axis_w) : std::nullopt;
  if (!n) return;
  types.suggest_input(2, {w->dtype, {*n}});
  if (x == nullptr) return;
  const std::optional<std::size_t> axis = axis_of(types.op.integer("axis", 1), x->extents.size());
  if (!axis) return;
  const std::optional<std::int64_t> given = product_of(x->extents, *axis, x->extents.size());
  const std::optional<std::int64_t> taken = product_of(w->extents, *axis_w, w->extents.size());
  if (given && taken && *given != *taken) {
    types.fault =
        "the input has rows of " + std::to_string(*given) + " elements, but the weight takes " + std::to_string(*taken);
    return;
  }
  Extents y(x->extents.begin(), x->extents.begin() + static_cast<std::ptrdiff_t>(*axis));
  y.push_back(*n);
  types.set_output(0, x->dtype, std::move(y));
}

void infer_mat_mul(OpTypes& types) {
  const BlobType* a = types.input(0);
  const BlobType* b = types.input(1);
  if (a == nullptr || b == nullptr || a->extents.size() != 2 || b->extents.size() != 2) return;
  const std::size_t row = types.op.integer("trans_a", 0) != 0 ? 1 : 0;
  const std::size_t column = types.op.integer("trans_b", 0) != 0 ? 0 : 1;
  if (a->extents[1 - row] != b->extents[1 - column]) {
    types.fault = "the rows of the first matrix have " + std::to_string(a->extents[1 - row]) +
                  " elements, but the columns of the second have " + std::to_string(b->extents[1 - column]);
    return;
  }
  types.set_output(0, a->dtype, {a->extents[row], b->extents[column]});
}

void infer_batch_mat_mul(OpTypes& types) {
  const BlobType* a = types.input(0);
  const BlobType* b = types.input(1);
  if (a == nullptr || b == nullptr || a->extents.size() < 2 || a->extents.size() != b->extents.size()) return;
  const std::size_t rank = a->extents.size();
  if (!std::equal(a->extents.begin(), a->extents.end() - 2, b->extents.begin())) return;
  Extents y = a->extents;
  y[rank - 2] = a->extents[types.op.integer("trans_a", 0) != 0 ? rank - 1 : rank - 2];
  y[rank - 1] = b->extents[types.op.integer("trans_b", 0) != 0 ? rank - 2 : rank - 1];
  types.set_output(0, a->dtype, std::move(y));
}

// Several inputs -> the joined one, and the extents of the parts (split_info).
void infer_concat(OpTypes& types) {
  types.set_output(1, DType::i32, {static_cast<std::int64_t>(types.inputs.size())});
  if (types.inputs.empty() || types.input(0) == nullptr) return;
  BlobType y = *types.input(0);
  const bool adds = types.op.integer("add_axis", 0) != 0;
  const std::optional<std::size_t> axis = axis_of_parts(types.op, y.extents.size() + (adds ? 1 : 0));
  if (!axis) return;
  if (adds) return infer_stacked(types, *axis);
  for (std::size_t at = 1; at < types.inputs.size(); ++at) {
    const BlobType* part = types.input(at);
    if (part == nullptr) return;
    bool agrees = part->extents.size() == y.extents.size();
    for (std::size_t one = 0; agrees && one < y.extents.size(); ++one) {
      agrees = one == *axis || part->extents[one] == y.extents[one];
    }
    if (!agrees) {
      types.fault = "input " + std::to_string(at) + " differs from input 0 on an axis other than " +
                    std::to_string(*axis) + ", on which they are joined";
      return;
    }
    const std::optional<std::int64_t> sum = checked_add(y.extents[*axis], part->extents[*axis]);
    if (!sum) return;
    y.extents[*axis] = *sum;
  }
  types.set_output(0, std::move(y));
}

// By the argument `split`, or in equal parts. Parts whose extents are a blob stay unknown.
void infer_split(OpTypes& types) {
  if (types.inputs.size() != 1 || types.input(0) == nullptr || types.outputs.empty()) return;
  const BlobType& x = *types.input(0);
  const std::optional<std::size_t> axis = axis_of_parts(types.op, x.extents.size());
  if (!axis) return;
  const std::int64_t whole = x.extents[*axis];
  const auto count = static_cast<std::int64_t>(types.outputs.size());
  Extents parts = types.op.integers("split").value_or(Extents());
  if (parts.empty() && whole % count == 0) parts.assign(types.outputs.size(), whole / count);
  std::int64_t rest = whole;
  for (std::int64_t part : parts) rest = part < 0 || part > rest ? -1 : rest - part;
  if (parts.size() != types.outputs.size() || rest != 0) {
    types.fault =
        "the parts do not add up to the extent " + std::to_string(whole) + " of axis " + std::to_string(*axis);
    return;
  }
  for (std::size_t at = 0; at < parts.size(); ++at) {
    BlobType y = x;
    y.extents[*axis] = parts[at];
    types.set_output(at, std::move(y));
  }
}

void infer_flatten(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr) return;
  const std::int64_t axis = types.op.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(x->extents.size());
  if (axis < 0 || axis > rank) return;
  const std::optional<std::int64_t> rows = product_of(x->extents, 0, static_cast<std::size_t>(axis));
  const std::optional<std::int64_t> columns = product_of(x->extents, static_cast<std::size_t>(axis), x->extents.size());
  if (rows && columns) types.set_output(0, x->dtype, {*rows, *columns});
}

// By the argument `shape`: 0 keeps an extent, and one -1 is what is left. Output 1 is the old shape.
void infer_reshape(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr) return;
  types.set_output(1, DType::i64, {static_cast<std::int64_t>(x->extents.size())});
  std::optional<Extents> shape = types.op.integers("shape");
  const std::optional<std::int64_t> elements = product_of(x->extents, 0, x->extents.size());
  if (!shape || shape->empty() || types.inputs.size() > 1 || !elements) return;
  std::optional<std::size_t> open;
  std::int64_t product = 1;
  for (std::size_t at = 0; at < shape->size(); ++at) {
    if ((*shape)[at] == 0 && at < x->extents.size()) (*shape)[at] = x->extents[at];
    if ((*shape)[at] < 0 && open) return;
    if ((*shape)[at] < 0) {
      open = at;
      continue;
    }
    const std::optional<std::int64_t> next = checked_multiply(product, (*shape)[at]);
    if (!next) return;
    product = *next;
  }
  if (open && product > 0 && *elements % product == 0) (*shape)[*open] = *elements / product;
  if ((!open && product != *elements) || (open && (*shape)[*open] < 0)) {
    types.fault = std::to_string(*elements) + " elements cannot have the given shape, which has " +
                  std::to_string(product) + (open ? " in its known extents" : "");
    return;
  }
  types.set_output(0, x->dtype, *std::move(shape));
}

void infer_transpose(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr) return;
  Extents y = x->extents;
  std::reverse(y.begin(), y.end());
  const std::optional<Extents> axes = types.op.integers("axes");
  if (axes && !axes->empty()) {
    if (axes->size() != y.size()) return;
    Extents sorted = *axes;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t at = 0; at < y.size(); ++at) {
      if (sorted[at] != static_cast<std::int64_t>(at)) return;
      y[at] = x->extents[static_cast<std::size_t>((*axes)[at])];
    }
  }
  types.set_output(0, x->dtype, std::move(y));
}

// ConstantFill, XavierFill, GivenTensorFill and others: by the argument `shape`, or like input 0. A ConstantFill
// without `dtype` has the type of its value.
void infer_fill(OpTypes& types) {
  DType dtype = DType::f32;
  if (types.op.type() == "GivenTensorIntFill") dtype = DType::i32;
  if (types.op.type() == "GivenTensorInt64Fill") dtype = DType::i64;
  if (types.op.type() == "GivenTensorBoolFill") dtype = DType::boolean;
  if (types.op.type() == "GivenTensorDoubleFill") dtype = DType::f64;
  if (types.op.type() == "GivenTensorByteStringToUInt8Fill") dtype = DType::u8;
  if (types.op.argument("dtype") != nullptr) {
    const std::optional<DType> given = dtype_argument(types.op, "dtype");
    if (!given) return;
    dtype = *given;
  } else if (types.op.type() == "ConstantFill" && has_integer_value(types.op)) {
    dtype = DType::i64;
  }
  if (!types.inputs.empty()) {
    if (types.input(0) == nullptr || types.op.integer("input_as_shape", 0) != 0) return;
    if (types.op.integers("extra_shape").value_or(Extents()).empty()) {
      types.set_output(0, dtype, types.input(0)->extents);
    }
    return;
  }
  const Extents shape = types.op.integers("shape").value_or(Extents());
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) return;
  types.set_output(0, dtype, shape);
}

// X, scale, bias, mean, variance -> Y, and in training the new and the saved statistics.
void infer_spatial_bn(OpTypes& types) {
  const BlobType* x = types.input(0);
  if (x == nullptr || x->extents.size() < 2) return;
  const bool is_last = types.op.text("order", "NCHW") == "NHWC";
  const BlobType statistics{DType::f32, {is_last ? x->extents.back() : x->extents[1]}};
  for (std::size_t at = 1; at < types.inputs.size(); ++at) types.suggest_input(at, statistics);
  types.set_output(0, BlobType(*types.input(0)));
  for (std::size_t at = 1; at < types.outputs.size(); ++at) types.set_output(at, statistics);
}

void infer_cast(OpTypes& types) {
  const std::optional<DType> dtype = dtype_argument(types.op, "to");
  if (types.input(0) != nullptr && dtype) types.set_output(0, *dtype, types.input(0)->extents);
}

void infer_expand_dims(OpTypes& types) {
  const BlobType* x = types.input(0);
  Extents dims = types.op.integers("dims").value_or(Extents());
  if (x == nullptr || dims.size() > static_cast<std::size_t>(limits::kMaxRank)) return;
  std::sort(dims.begin(), dims.end());
  BlobType y = *x;
  for (std::int64_t dim : dims) {
    if (dim < 0 || dim > static_cast<std::int64_t>(y.extents.size())) return;
    y.extents.insert(y.extents.begin() + dim, 1);
  }
  types.set_output(0, std::move(y));
}

void infer_squeeze(OpTypes& types) {
  const BlobType* x = types.input(0);
  const Extents dims = types.op.integers("dims").value_or(Extents());
  if (x == nullptr) return;
  BlobType y{x->dtype, {}};
  for (std::size_t at = 0; at < x->extents.size(); ++at) {
    const bool is_left_out = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(at)) != dims.end();
    if (!is_left_out) y.extents.push_back(x->extents[at]);
    if (is_left_out && x->extents[at] != 1) return;
  }
  types.set_output(0, std::move(y));
}

}  // namespace lowtide::netdef_internal
