// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/onednn.h"
#include "lowtide/kernels/onednn/dnnl.h"

namespace lowtide::kernels_internal {
namespace {

std::string name_of(dnnl_cpu_isa_t isa) {
  switch (isa) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    case dnnl_cpu_isa_avx2_vnni_2: return "avx2_vnni_2";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_fp16: return "avx512_core_fp16";
    case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
    case dnnl_cpu_isa_avx512_core_amx_fp16: return "avx512_core_amx_fp16";
    default: return "isa" + std::to_string(isa);
  }
}

}  // namespace

OnednnKey onednn_key() {
  if (find_dnnl() == nullptr) return {.isa = "any", .version = "none"};
  const dnnl_version_t& version = *dnnl().version();
  return {.isa = name_of(dnnl().get_effective_cpu_isa()),
          .version = "onednn " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                     std::to_string(version.patch)};
}

}  // namespace lowtide::kernels_internal
