// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx_of_graph.h"

#include <new>

#ifdef LOWTIDE_WITH_ONNX
#include "lowtide/base/no_memory.h"
#include "lowtide/export/onnx/write_model.h"
#endif

namespace lowtide {

Result<OnnxOfGraph> onnx_of_graph([[maybe_unused]] const Graph& graph) {
#ifdef LOWTIDE_WITH_ONNX
  try {
    OnnxOfGraph made;
    LOWTIDE_RETURN_IF_ERROR(export_internal::write_model(graph, made.bytes, made.lost));
    return made;
  } catch (const std::bad_alloc&) {
    return no_memory_error([] { return Error{ErrorCode::no_memory, "there is not enough memory for the model", ""}; });
  }
#else
  return Error{ErrorCode::unsupported, "this build of Lowtide writes no ONNX", ""};
#endif
}

}  // namespace lowtide
