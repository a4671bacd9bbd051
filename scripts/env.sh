# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Source this before cmake is called:  source scripts/env.sh
# With it, find_package() finds onnx and oneDNN, and the compiler cache is used.
# onnx is built and oneDNN downloaded first if that has not been done yet.

LOWTIDE_ONNX_PREFIX=$("$(dirname "${BASH_SOURCE[0]}")/build_onnx") || return 1
export LOWTIDE_ONNX_PREFIX
LOWTIDE_ONEDNN_PREFIX=$("$(dirname "${BASH_SOURCE[0]}")/get_onednn") ||
  echo "env.sh: continues without oneDNN; configure with -Dlowtide_WITH_ONEDNN=OFF" >&2
export LOWTIDE_ONEDNN_PREFIX

# Sourcing this file twice adds each prefix once.
for lowtide_prefix in "$LOWTIDE_ONEDNN_PREFIX" "$LOWTIDE_ONNX_PREFIX"; do
  case ":${CMAKE_PREFIX_PATH:-}:" in
    *":$lowtide_prefix:"*) ;;
    *) export CMAKE_PREFIX_PATH="$lowtide_prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" ;;
  esac
done
unset lowtide_prefix

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Paths below the checkout count as relative, so that two checkouts share results.
  CCACHE_BASEDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || return 1
  export CCACHE_BASEDIR CCACHE_NOHASHDIR=1
  # Without these two, no file that uses precompiled headers is cached. No source uses __TIME__ or __DATE__.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  # Results are found by the content of all included files, not by preprocessed text. Without this, a precompiled header
  # from before a change of a comment is reused, and g++ then includes the changed file twice, because #pragma once
  # compares contents. The name keeps old results apart, which were stored without it.
  export CCACHE_DEPEND=1 CCACHE_NAMESPACE=by-content
fi
