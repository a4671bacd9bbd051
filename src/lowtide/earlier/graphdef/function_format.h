// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/earlier/proto/schema.h"

// The messages of a GraphDef beside its nodes and their values, as TensorFlow's .proto files number and name their
// fields. They are only read and written again.
namespace lowtide::graphdef_internal {

extern const ProtoSchema kLibrarySchema;         // FunctionDefLibrary
extern const ProtoSchema kFullTypeSchema;        // FullTypeDef
extern const ProtoSchema kDebugInfoSchema;       // GraphDebugInfo
extern const ProtoSchema kNodeDebugInfoSchema;   // NodeDef.ExperimentalDebugInfo
extern const ProtoSchema kResourceHandleSchema;  // ResourceHandleProto
extern const ProtoSchema kVariantSchema;         // VariantTensorDataProto

}  // namespace lowtide::graphdef_internal
