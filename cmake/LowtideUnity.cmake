# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles several sources of a target as one translation unit, because most of the time of a small file goes into its
# headers. CMAKE_UNITY_BUILD does the same, but it writes absolute paths, so two checkouts could not share the compiler
# cache.

# lowtide_unite_sources(<target> [BATCH <files>])
# Unites the sources that the target has when its folder has been read. At most BATCH files are together, by default
# lowtide_UNITY_BATCH. A file with compile options of its own, a generated file, and a file with the property
# SKIP_UNITY_BUILD_INCLUSION stay alone.
function(lowtide_unite_sources target)
  cmake_parse_arguments(UNITE "" "BATCH" "" ${ARGN})
  set(batch ${lowtide_UNITY_BATCH})
  if(UNITE_BATCH AND batch)
    set(batch ${UNITE_BATCH})
  endif()
  if(batch GREATER 1)
    # A deferred call expands variables late, so the words are written out.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL lowtide_write_batches [[${target}]] ${batch})")
  endif()
endfunction()

# Replaces the target's sources by files that include up to `batch` of them.
function(lowtide_write_batches target batch)
  get_target_property(sources ${target} SOURCES)
  set(alone)
  set(together)
  foreach(source IN LISTS sources)
    lowtide_may_unite(may_unite path "${source}")
    if(may_unite)
      list(APPEND together "${path}")
    else()
      list(APPEND alone "${source}")
    endif()
  endforeach()
  lowtide_split_into_batches("${together}" ${batch})
  set(kept ${alone})
  foreach(number RANGE 1 ${BATCHES})
    list(LENGTH BATCH_${number} length)
    if(length EQUAL 1)
      list(APPEND kept "${PROJECT_SOURCE_DIR}/${BATCH_${number}}")
      continue()
    endif()
    set(text)
    foreach(path IN LISTS BATCH_${number})
      # Sources are included as their headers are: below src/ or below the root.
      string(REGEX REPLACE "^src/" "" path "${path}")
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    set(file "${CMAKE_CURRENT_BINARY_DIR}/unity/${target}_${number}.cc")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)  # writes only what has changed
    list(APPEND kept "${file}")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()

# Sets `path` to the source's path below the root, and `answer` to whether it may be compiled together with others.
function(lowtide_may_unite answer path source)
  set(${answer} FALSE PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE absolute)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${absolute}" is_inside)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${absolute}" is_built)
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS GENERATED SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(value "${absolute}" ${property})
    if(value)
      return()
    endif()
  endforeach()
  if(is_inside AND NOT is_built AND absolute MATCHES "\\.cc$")
    cmake_path(RELATIVE_PATH absolute BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(${path} "${absolute}" PARENT_SCOPE)
    set(${answer} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Sets BATCH_1 ... BATCH_<BATCHES>. A folder is divided evenly, and small folders that follow each other share a batch,
# so that a new file changes few batches.
function(lowtide_split_into_batches paths batch)
  set(folders)
  foreach(path IN LISTS paths)
    cmake_path(GET path PARENT_PATH folder)
    list(APPEND folders "${folder}")
    list(APPEND in_${folder} "${path}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(number 0)
  set(length ${batch})  # of the last batch; the first piece begins a new one
  foreach(folder IN LISTS folders)
    list(LENGTH in_${folder} files)
    math(EXPR pieces "(${files} + ${batch} - 1) / ${batch}")
    foreach(piece RANGE 1 ${pieces})
      math(EXPR begin "${files} * (${piece} - 1) / ${pieces}")
      math(EXPR size "${files} * ${piece} / ${pieces} - ${begin}")
      list(SUBLIST in_${folder} ${begin} ${size} part)
      math(EXPR length "${length} + ${size}")
      if(length GREATER batch)
        math(EXPR number "${number} + 1")
        set(BATCH_${number})
        set(length ${size})
      endif()
      list(APPEND BATCH_${number} ${part})
    endforeach()
  endforeach()
  foreach(done RANGE 1 ${number})
    set(BATCH_${done} "${BATCH_${done}}" PARENT_SCOPE)
  endforeach()
  set(BATCHES ${number} PARENT_SCOPE)
endfunction()
