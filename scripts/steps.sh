# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Source this for steps that print one line each and write their output to a log.

# step NAME LOG COMMAND...: runs the command with its output in build/LOG. A failure shows the end of the log and ends
# the script.
step() {
  local name=$1 log=build/$2 begin=$SECONDS
  shift 2
  mkdir -p build
  printf '%s ... ' "$name" >&2
  if "$@" >"$log" 2>&1; then
    printf 'done (%d s)\n' "$((SECONDS - begin))" >&2
  else
    printf 'failed; the end of %s:\n' "$log" >&2
    tail -n 40 "$log" >&2
    exit 1
  fi
}
