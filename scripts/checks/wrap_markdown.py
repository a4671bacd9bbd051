# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Wraps the paragraphs of a Markdown document that are too wide, for scripts/checks/prose.py."""
import re
import textwrap

ITEM = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+)")


def keep_together(text):
    """Blanks at which no line may end become zeros: those of code, and those before what would begin a list."""
    text = re.sub(r"`[^`]*`", lambda code: code.group(0).replace(" ", "\0"), text)
    return re.sub(r" (?=(?:[-+*>|#]|\d+[.)])(?: |$))", "\0", text)


def wrapped_block(lines, columns):
    """A paragraph or an item of a list."""
    item = ITEM.match(lines[0])
    indent = item.group(1) if item else re.match(r"\s*", lines[0]).group(0)
    mark = item.group(2) if item else ""
    words = " ".join([lines[0][len(indent) + len(mark):].strip(), *(line.strip() for line in lines[1:])])
    made = textwrap.wrap(keep_together(words), columns, initial_indent=indent + mark,
                         subsequent_indent=indent + " " * len(mark), break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in made]


def wrapped(text, columns):
    """The text with no wide line, except in tables, headings and code, and where a line has no blank to break at."""
    made, block = [], []
    is_fenced = is_in_list = False

    def end_block():
        is_wide = any(len(line) > columns for line in block)
        made.extend(wrapped_block(block, columns) if is_wide else block)
        block.clear()

    for line in text.split("\n"):
        words = line.strip()
        is_fence = words.startswith("```")
        is_code = line.startswith("    ") and not block and not is_in_list
        if is_fence or is_fenced or is_code or not words or words.startswith(("|", "#", "<!--")):
            end_block()
            made.append(line)
            is_fenced ^= is_fence
            is_in_list = is_in_list and (not words or line.startswith(" "))
            continue
        if ITEM.match(line):
            end_block()
            is_in_list = True
        elif not block and not line.startswith(" "):
            is_in_list = False
        block.append(line)
    end_block()
    return "\n".join(made)
