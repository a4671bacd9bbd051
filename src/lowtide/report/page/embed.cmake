# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# Called with -DFROM=<this room> -DSCRIPTS=<a|b|c> -DTO=<file.cc>: joins page.html, page.css and the scripts into one
# page and writes it as C++ string literals. The page's Content-Security-Policy admits exactly this style and this
# script, by their digests. So nothing else can run in it, whatever names a model has.

# A policy wants the digest in base64, CMake gives it in hexadecimal.
function(hex_to_base64 hex out)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(APPEND hex "00")  # 32 bytes are 11 groups of three with one byte to fill
  set(text "")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}" ${at} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR sextet "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${sextet} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(REGEX REPLACE "A$" "=" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Removes the licence header of a file, because the page has its own.
function(read_source path out)
  file(READ "${path}" text)
  string(REGEX REPLACE "^(//|/\\*) Copyright 2026 The Lowtide Authors[^\n]*\n[^\n]*\n+" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

read_source("${FROM}/page/page.css" style)
string(REPLACE "|" ";" script_files "${SCRIPTS}")
set(script "'use strict';\n")
foreach(file IN LISTS script_files)
  read_source("${FROM}/${file}" text)
  string(APPEND script "${text}")
endforeach()
foreach(forbidden "</script" "<!--")
  string(FIND "${script}" "${forbidden}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "the page's script contains '${forbidden}', which would end it")
  endif()
endforeach()

string(SHA256 style_hex "${style}")
string(SHA256 script_hex "${script}")
hex_to_base64("${style_hex}" style_digest)
hex_to_base64("${script_hex}" script_digest)

file(READ "${FROM}/page/page.html" html)
string(REPLACE "@STYLE_DIGEST@" "${style_digest}" html "${html}")
string(REPLACE "@SCRIPT_DIGEST@" "${script_digest}" html "${html}")
string(REPLACE "@STYLE@" "${style}" html "${html}")
string(REPLACE "@SCRIPT@" "${script}" html "${html}")

# A plan fills two places, which divide the page into three parts.
string(FIND "${html}" "@TITLE@" title_at)
string(FIND "${html}" "@SHEETS@" sheets_at)
if(title_at EQUAL -1 OR sheets_at LESS title_at)
  message(FATAL_ERROR "page.html must hold @TITLE@ and, after it, @SHEETS@")
endif()
string(SUBSTRING "${html}" 0 ${title_at} before_title)
math(EXPR title_end "${title_at} + 7")
math(EXPR middle_length "${sheets_at} - ${title_end}")
string(SUBSTRING "${html}" ${title_end} ${middle_length} before_sheets)
math(EXPR sheets_end "${sheets_at} + 8")
string(SUBSTRING "${html}" ${sheets_end} -1 after_sheets)

set(literal_begin "R\"lowtide_page(")
set(literal_end ")lowtide_page\"sv")  # the compiler knows its length, and need not count
file(WRITE "${TO}" "// Made by page/embed.cmake; do not edit.
#include \"lowtide/report/html/page_source.h\"

namespace lowtide::report_internal {

const PageSource& page_source() {
  using namespace std::string_view_literals;
  static constexpr PageSource kSource = {
      .before_title = ${literal_begin}${before_title}${literal_end},
      .before_sheets = ${literal_begin}${before_sheets}${literal_end},
      .after_sheets = ${literal_begin}${after_sheets}${literal_end}};
  return kSource;
}

}  // namespace lowtide::report_internal
")
