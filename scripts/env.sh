# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Source this before cmake is called:  source scripts/env.sh
# With it, find_package() finds onnx, and the compiler cache is used. onnx is
# built first if that has not been done yet.

LOWTIDE_ONNX_PREFIX=$("$(dirname "${BASH_SOURCE[0]}")/build_onnx") || return 1
export LOWTIDE_ONNX_PREFIX

# Sourcing this file twice adds the prefix once.
case ":${CMAKE_PREFIX_PATH:-}:" in
  *":$LOWTIDE_ONNX_PREFIX:"*) ;;
  *) export CMAKE_PREFIX_PATH="$LOWTIDE_ONNX_PREFIX${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" ;;
esac

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Paths below the checkout count as relative, so that two checkouts share results.
  CCACHE_BASEDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || return 1
  export CCACHE_BASEDIR CCACHE_NOHASHDIR=1
  # Without these two, no file that uses precompiled headers is cached. No source uses __TIME__ or __DATE__.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
fi
