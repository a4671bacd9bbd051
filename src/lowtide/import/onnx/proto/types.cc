// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/types.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/fold/numbers.h"

namespace lowtide::import_internal {
namespace {

using onnx::TensorProto;
using onnx::TypeProto;

const onnx::TensorShapeProto* shape_of(const TypeProto& type) {
  return type.tensor_type().has_shape() ? &type.tensor_type().shape() : nullptr;
}

Result<KnownExtent> extent_from(const onnx::TensorShapeProto_Dimension& dimension, int axis, const Dims& dims) {
  if (dimension.has_dim_value()) {
    if (dimension.dim_value() < -1) {
      return Error{ErrorCode::invalid,
                   "extent " + std::to_string(axis) + " is " + std::to_string(dimension.dim_value()) +
                       "; an extent must be at least 0, or -1 if it is unknown",
                   ""};
    }
    if (dimension.dim_value() == -1) return KnownExtent{};
    return KnownExtent{Knowledge::exact, dimension.dim_value(), {}};
  }
  const std::string& symbol = dimension.dim_param();
  if (static_cast<std::int64_t>(symbol.size()) > limits::kMaxSymbolBytes) {
    return Error{ErrorCode::over_limit,
                 "the symbol of extent " + std::to_string(axis) + " has " + std::to_string(symbol.size()) +
                     " bytes; the limit is " + std::to_string(limits::kMaxSymbolBytes) + " (kMaxSymbolBytes)",
                 ""};
  }
  if (!is_symbol(symbol)) return KnownExtent{};
  const auto bound = dims.find(symbol);
  if (bound != dims.end()) return KnownExtent{Knowledge::exact, bound->second, {}};
  if (symbol.starts_with("<=")) {
    const std::optional<std::int64_t> most = parse_number(std::string_view(symbol).substr(2));
    if (most && *most >= 0) return KnownExtent{Knowledge::at_most, *most, {}};
  }
  return KnownExtent{Knowledge::unknown, 0, symbol};
}

Error contradiction(const TypeProto& declared, const TensorFact& fact) {
  return Error{ErrorCode::invalid, "is declared as " + describe(declared) + ", but is computed as " + describe(fact),
               ""};
}

// Merges a declared extent into an inferred one. Returns false if their numbers contradict each other.
bool merge_extent(const KnownExtent& declared, bool is_from_symbol, KnownExtent& inferred) {
  if (inferred.knowledge == Knowledge::unknown) {
    if (declared.knowledge != Knowledge::unknown || inferred.symbol.empty()) inferred = declared;
    return true;
  }
  if (declared.knowledge == Knowledge::unknown || is_from_symbol) return true;
  if (inferred.knowledge == Knowledge::exact) return inferred.extent == declared.extent;
  return declared.extent <= inferred.extent;  // the bound stays, because the declared number may be that of other data
}

}  // namespace

bool is_symbol(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c != '?' && c != ' '; }) && text != "-1";
}

std::string describe(const KnownExtent& extent) {
  switch (extent.knowledge) {
    case Knowledge::exact: return std::to_string(extent.extent);
    case Knowledge::at_most: return "<=" + std::to_string(extent.extent);
    case Knowledge::unknown: break;
  }
  if (extent.symbol.empty()) return "?";
  const std::string shown = quoted(extent.symbol, 40);
  return shown.substr(1, shown.rfind('\'') - 1);
}

Result<DType> dtype_from_onnx(int data_type) {
  if (const std::optional<DType> dtype = dtype_of_onnx_number(data_type)) return *dtype;
  if (data_type == TensorProto::UNDEFINED) return Error{ErrorCode::invalid, "the element type is missing", ""};
  if (TensorProto::DataType_IsValid(data_type)) {
    return Error{ErrorCode::unsupported,
                 "element type " + TensorProto::DataType_Name(static_cast<TensorProto::DataType>(data_type)) +
                     " is not supported",
                 ""};
  }
  return Error{ErrorCode::invalid, "element type " + std::to_string(data_type) + " does not exist", ""};
}

std::string describe(const TensorFact& fact) {
  if (!fact.is_tensor) return describe(fact.type);
  const std::string dtype = fact.known.dtype ? std::string(to_string(*fact.known.dtype)) : "a tensor of unknown type";
  if (!fact.known.extents) return dtype + ", rank unknown";
  std::string text = dtype + "[";
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    text += (axis == 0 ? "" : ",") + describe((*fact.known.extents)[axis]);
  }
  return text + "]";
}

std::string describe(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType: {
      const Result<TensorFact> fact = fact_from_type(type, {});
      return fact ? describe(*fact) : "a tensor";
    }
    case TypeProto::kSequenceType: return "a sequence";
    case TypeProto::kMapType: return "a map";
    case TypeProto::kOptionalType: return "an optional";
    case TypeProto::kSparseTensorType: return "a sparse tensor";
    case TypeProto::kOpaqueType: return "an opaque value";
    case TypeProto::VALUE_NOT_SET: break;
  }
  return "a value of no type";
}

Result<TensorFact> fact_from_type(const TypeProto& type, const Dims& dims) {
  TensorFact fact;
  if (type.value_case() == TypeProto::VALUE_NOT_SET) return fact;
  if (type.value_case() != TypeProto::kTensorType) {
    fact.is_tensor = false;
    fact.type = type;
    return fact;
  }
  if (type.tensor_type().elem_type() != TensorProto::UNDEFINED) {
    LOWTIDE_TRY(DType dtype, dtype_from_onnx(type.tensor_type().elem_type()));
    fact.known.dtype = dtype;
  }
  const onnx::TensorShapeProto* shape = shape_of(type);
  if (shape == nullptr) return fact;
  if (shape->dim_size() > limits::kMaxRank) {
    return Error{ErrorCode::over_limit,
                 "rank " + std::to_string(shape->dim_size()) + " is above the limit of " +
                     std::to_string(limits::kMaxRank) + " (kMaxRank)",
                 ""};
  }
  fact.known.extents.emplace();
  fact.known.extents->reserve(static_cast<std::size_t>(shape->dim_size()));
  for (int axis = 0; axis < shape->dim_size(); ++axis) {
    LOWTIDE_TRY(KnownExtent extent, extent_from(shape->dim(axis), axis, dims));
    fact.known.extents->push_back(std::move(extent));
  }
  return fact;
}

Result<void> merge_declared(const TypeProto& declared, const Dims& dims, TensorFact& fact) {
  LOWTIDE_TRY(TensorFact wanted, fact_from_type(declared, dims));
  if (declared.value_case() == TypeProto::VALUE_NOT_SET) return {};
  if (!wanted.is_tensor || !fact.is_tensor) {
    const bool is_open = fact.is_tensor && !fact.known.dtype && !fact.known.extents;
    if (is_open) {
      fact = std::move(wanted);
    } else if (wanted.is_tensor || fact.is_tensor) {
      return contradiction(declared, fact);
    }
    return {};
  }
  if (!fact.known.dtype) fact.known.dtype = wanted.known.dtype;
  if (wanted.known.dtype && *wanted.known.dtype != *fact.known.dtype) return contradiction(declared, fact);
  if (!wanted.known.extents) return {};
  if (!fact.known.extents) {
    fact.known.extents = std::move(wanted.known.extents);
    return {};
  }
  if (wanted.known.extents->size() != fact.known.extents->size()) return contradiction(declared, fact);
  for (std::size_t axis = 0; axis < fact.known.extents->size(); ++axis) {
    const bool is_from_symbol = !shape_of(declared)->dim(static_cast<int>(axis)).has_dim_value();
    if (!merge_extent((*wanted.known.extents)[axis], is_from_symbol, (*fact.known.extents)[axis])) {
      return contradiction(declared, fact);
    }
  }
  return {};
}

bool is_sized(const TensorFact& fact) {
  return fact.is_tensor && fact.known.extents &&
         std::all_of(fact.known.extents->begin(), fact.known.extents->end(),
                     [](const KnownExtent& extent) { return extent.knowledge != Knowledge::unknown; });
}

bool same_fact(const TensorFact& a, const TensorFact& b) {
  if (a.is_tensor != b.is_tensor || a.known.dtype != b.known.dtype || a.known.extents != b.known.extents) return false;
  if (!a.is_tensor && a.type.SerializeAsString() != b.type.SerializeAsString()) return false;
  if (a.known.content == b.known.content) return true;
  return a.known.content != nullptr && b.known.content != nullptr && a.known.content->dtype == b.known.content->dtype &&
         a.known.content->extents == b.known.content->extents && a.known.content->elements == b.known.content->elements;
}

TensorFact fact_of(DType dtype, const std::vector<std::int64_t>& extents) {
  TensorFact fact;
  fact.known.dtype = dtype;
  fact.known.extents.emplace();
  fact.known.extents->reserve(extents.size());
  for (std::int64_t extent : extents) fact.known.extents->push_back({Knowledge::exact, extent, {}});
  return fact;
}

}  // namespace lowtide::import_internal
