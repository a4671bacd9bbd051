// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/description.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {
namespace {

MemoryDescription tensor_with_tag(const ExtentList& extents, dnnl_format_tag_t tag) {
  return made_by<MemoryDescription>([&](dnnl_memory_desc_t* made) {
    return dnnl().memory_desc_create_with_tag(made, static_cast<int>(extents.size()), extents.data(), dnnl_f32, tag);
  });
}

ExtentList dense_strides(const ExtentList& extents) {
  ExtentList strides(extents.size(), 1);
  for (std::size_t axis = extents.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

// The name of a tag has one letter per axis, which is a capital if the axis is blocked: ABcd16b16a.
std::size_t axes_of(std::string_view tag) {
  std::set<char> letters;
  for (char letter : tag) {
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0) letters.insert(static_cast<char>(letter | 0x20));
  }
  return letters.size();
}

// The first tag whose name and value `matches` accepts.
template <typename Matches>
std::optional<dnnl_format_tag_t> find_tag(Matches matches) {
  for (int value = dnnl_format_tag_any + 1; value < dnnl_format_tag_last; ++value) {
    const auto tag = static_cast<dnnl_format_tag_t>(value);
    if (matches(std::string_view(dnnl().fmt_tag2str(tag)), tag)) return tag;
  }
  return std::nullopt;
}

}  // namespace

MemoryDescription tensor_with_strides(const ExtentList& extents, const ExtentList& strides) {
  return made_by<MemoryDescription>([&](dnnl_memory_desc_t* made) {
    return dnnl().memory_desc_create_with_strides(made, static_cast<int>(extents.size()), extents.data(), dnnl_f32,
                                                  strides.data());
  });
}

MemoryDescription dense_tensor(const ExtentList& extents) {
  return tensor_with_strides(extents, dense_strides(extents));
}

MemoryDescription transposed_tensor(const ExtentList& extents) {
  ExtentList strides = dense_strides(extents);
  const std::size_t rows = extents.size() - 2;
  strides[rows] = 1;
  strides[rows + 1] = extents[rows];
  return tensor_with_strides(extents, strides);
}

std::string_view order_in(Format format, std::size_t axes) {
  const bool is_line = axes == 3;
  switch (format) {
    case Format::plain: return is_line ? "abc" : "abcd";
    case Format::nchw16c: return is_line ? "aBc16b" : "aBcd16b";
    case Format::nchw8c: return is_line ? "aBc8b" : "aBcd8b";
    case Format::nhwc: return is_line ? "acb" : "acdb";
  }
  return "";
}

MemoryDescription tensor_in_any_order(const ExtentList& extents) {
  return tensor_with_tag(extents, dnnl_format_tag_any);
}

MemoryDescription tensor_in_order(std::string_view order, const ExtentList& extents) {
  const auto tag = find_tag([&](std::string_view name, dnnl_format_tag_t) { return name == order; });
  if (axes_of(order) != extents.size()) return nullptr;
  return tag ? tensor_with_tag(extents, *tag) : nullptr;
}

bool is_order(std::string_view name) {
  // Most other names have a letter that no axis has.
  const auto is_axis = [](char letter) {
    return std::isalpha(static_cast<unsigned char>(letter)) == 0 || (letter | 0x20) <= 'l';
  };
  if (!std::ranges::all_of(name, is_axis)) return false;
  return find_tag([&](std::string_view tag, dnnl_format_tag_t) { return tag == name; }).has_value();
}

std::optional<std::string> order_of(const_dnnl_memory_desc_t tensor) {
  int axes = 0;
  const dnnl_dims_t* extents = nullptr;
  if (dnnl().memory_desc_query(tensor, dnnl_query_ndims_s32, &axes) != dnnl_success ||
      dnnl().memory_desc_query(tensor, dnnl_query_dims, static_cast<void*>(&extents)) != dnnl_success) {
    return std::nullopt;
  }
  const ExtentList own(*extents, *extents + axes);
  const auto tag = find_tag([&](std::string_view name, dnnl_format_tag_t candidate) {
    if (axes_of(name) != own.size()) return false;
    const MemoryDescription with_tag = tensor_with_tag(own, candidate);
    return with_tag != nullptr && dnnl().memory_desc_equal(with_tag.get(), tensor) != 0;
  });
  return tag ? std::optional<std::string>(dnnl().fmt_tag2str(*tag)) : std::nullopt;
}

Bytes size_of(const_dnnl_memory_desc_t tensor) {
  return Bytes(static_cast<std::int64_t>(dnnl().memory_desc_get_size(tensor)));
}

PrimitiveAttributes caller_scratchpad() {
  auto attributes =
      made_by<PrimitiveAttributes>([](dnnl_primitive_attr_t* made) { return dnnl().primitive_attr_create(made); });
  if (attributes == nullptr ||
      dnnl().primitive_attr_set_scratchpad_mode(attributes.get(), dnnl_scratchpad_mode_user) != dnnl_success) {
    return nullptr;
  }
  return attributes;
}

const_dnnl_memory_desc_t tensor_of(const_dnnl_primitive_desc_t primitive, dnnl_query_t which, int number) {
  return dnnl().primitive_desc_query_md(primitive, which, number);
}

Bytes scratch_of(const_dnnl_primitive_desc_t primitive) {
  const_dnnl_memory_desc_t scratchpad = tensor_of(primitive, dnnl_query_scratchpad_md);
  return scratchpad == nullptr ? Bytes() : size_of(scratchpad);
}

std::string_view implementation_of(const PrimitiveDescription& primitive) {
  const char* name = nullptr;
  if (primitive == nullptr || dnnl().primitive_desc_query(primitive.get(), dnnl_query_impl_info_str, 0,
                                                          static_cast<void*>(&name)) != dnnl_success) {
    return "";
  }
  return name;
}

Primitive primitive_of(PrimitiveDescription description) {
  if (description == nullptr) return nullptr;
  return made_by<Primitive>([&](dnnl_primitive_t* made) { return dnnl().primitive_create(made, description.get()); });
}

const_dnnl_primitive_desc_t description_of(const Primitive& primitive) {
  const_dnnl_primitive_desc_t description = nullptr;
  const dnnl_status_t found = dnnl().primitive_get_primitive_desc(primitive.get(), &description);
  LOWTIDE_CHECK(found == dnnl_success, "a primitive has a description");
  return description;
}

PrimitiveDescription first_suitable(PrimitiveDescription primitive) {
  constexpr std::array<std::string_view, 6> kSuitable = {"jit:", "jit_1x1:", "jit_dw:", "brg:", "brgconv", "brdgmm"};
  while (primitive != nullptr) {
    const std::string_view name = implementation_of(primitive);
    if (std::ranges::any_of(kSuitable, [&](std::string_view prefix) { return name.starts_with(prefix); })) {
      return primitive;
    }
    if (with_memory(dnnl().primitive_desc_next_impl(primitive.get())) != dnnl_success) break;
  }
  return nullptr;
}

}  // namespace lowtide::kernels_internal
