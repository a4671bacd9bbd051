// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Makes all elements, and only from text, so that names in a model are never read as HTML. The page's policy also
// forbids scripts to assign HTML.

// make('button', {class: 'tool', onclick: zoomIn}, 'Zoom in'): properties that are functions become listeners; null and
// false are left out. Children are elements or texts; null is skipped.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === false || value === undefined) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

function fill(host, ...children) {
  host.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

// A link inside a sentence. A button would not break across lines.
function textButton(text, title, onclick) {
  return make(
    'a',
    {
      class: 'inline',
      role: 'button',
      href: '#',
      title,
      onclick: (event) => {
        event.preventDefault();
        onclick();
      },
    },
    text,
  );
}

// Copies a text. A page that may not write to the clipboard selects the text before the button instead.
function copyButton(text, title) {
  const copy = async (event) => {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
      announce('Copied');
    } catch {
      getSelection().selectAllChildren(button.parentElement);
    }
  };
  return make('button', {type: 'button', class: 'copy', title, 'aria-label': title, onclick: copy}, 'copy');
}

// Announces a text to screen readers without moving the focus.
function announce(text) {
  byId('announcer').textContent = text;
}
