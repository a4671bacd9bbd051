// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/target/formats.h"

#include <utility>

#include "lowtide/base/check.h"

namespace lowtide {

std::int64_t block_of(Format format) {
  if (format == Format::nchw16c) return 16;
  return format == Format::nchw8c ? 8 : 1;
}

Shape shape_in(Format format, const Shape& model) {
  if (format == Format::plain) return model;
  LOWTIDE_CHECK(model.rank() == 3 || model.rank() == 4, "a tensor with a format has one or two spatial axes");
  std::vector<std::int64_t> extents = model.extents();
  if (format == Format::nhwc) {
    extents.erase(extents.begin() + 1);
    extents.push_back(model[1]);
  } else {
    const std::int64_t block = block_of(format);
    extents[1] = model[1] / block + (model[1] % block == 0 ? 0 : 1);
    extents.push_back(block);
  }
  return Shape(std::move(extents));
}

std::optional<Shape> model_shape(Format format, const Shape& shape, std::int64_t channels) {
  std::vector<std::int64_t> extents = shape.extents();
  const std::size_t added = block_of(format) == 1 ? 0 : 1;
  if (channels < 0 || (extents.size() != 3 + added && extents.size() != 4 + added)) return std::nullopt;
  if (format != Format::plain) extents.pop_back();
  if (format == Format::nhwc) {
    extents.insert(extents.begin() + 1, channels);
  } else {
    extents[1] = channels;
  }
  Shape model(std::move(extents));
  if (shape.has_upper_bounds() || shape_in(format, model) != shape) return std::nullopt;
  return model;
}

}  // namespace lowtide
