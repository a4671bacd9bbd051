// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The head of the page: the graph and the main figures.

function metric(label, value, detail, {title = null, tone = null} = {}) {
  return make(
    'div',
    {class: tone ? `metric ${tone}` : 'metric', title},
    make('span', {class: 'label'}, label),
    make('span', {class: 'value'}, value),
    make('span', {class: 'detail'}, detail),
  );
}

// "was 5.1 MiB, −37 %" if there is another plan, otherwise the detail.
function against(now, before, detail) {
  if (before === null) return detail;
  if (before === now) return `${detail ? `${detail}, ` : ''}as before`;
  return `was ${shortBytes(before)}, ${now > before ? '+' : ''}${percentText(now - before, before)}`;
}

function gapMetric(now) {
  if (now.gap === null) return metric('Gap', '-', 'no bound');
  const title = 'Distance from the proven lower bound: (arena − bound) / bound';
  if (now.gap <= 0) return metric('Gap', '0 %', 'nothing left to gain', {title, tone: 'good'});
  return metric('Gap', percentText(now.arena - now.bound, now.bound), `${shortBytes(now.arena - now.bound)} above`, {
    title,
  });
}

// A plan file alone does not show whether the plan is correct; that needs the model.
function checkMetric() {
  return state.isVerified
    ? metric('Check', 'verified', 'against the model', {
        title: 'The plan was replayed against the model, step by step, when this page was made',
        tone: 'good word',
      })
    : metric('Check', 'not verified here', 'run lowtide verify', {
        title: 'This page was made from a plan file only. lowtide verify MODEL PLAN checks it against its model.',
        tone: 'word',
      });
}

function metricsOf(sheet, other) {
  const now = totals(sheet);
  const before = other === null ? null : totals(other);
  const {facts} = sheet;
  const was = (key) => (before === null ? null : before[key]);
  const waste = now.arena - now.load;
  const saved = now.loadAsGiven - now.arena;
  return [
    metric('Arena', shortBytes(now.arena), against(now.arena, was('arena'), exactBytes(now.arena)), {
      title: `Bytes to reserve: ${bothBytes(now.arena)}`,
      tone: 'main',
    }),
    metric(
      'Peak',
      shortBytes(now.load),
      against(now.load, was('load'), `${waste > 0 ? shortBytes(waste) : 'nothing'} lost to fragmentation`),
      {title: `Largest number of live bytes: ${bothBytes(now.load)}`},
    ),
    metric('Bound', shortBytes(now.bound), against(now.bound, was('bound'), facts.bound_name || 'lower bound'), {
      title: `${noPlanText(facts)} needs less than ${bothBytes(now.bound)} (${facts.bound_name || 'unnamed bound'})`,
    }),
    gapMetric(now),
    now.loadAsGiven > 0
      ? metric(
          'Peak as given',
          shortBytes(now.loadAsGiven),
          `arena ${percentText(Math.abs(saved), now.loadAsGiven)} ${saved < 0 ? 'higher' : 'lower'}`,
          {title: `In the model's own order, without sharing: ${bothBytes(now.loadAsGiven)}`},
        )
      : null,
    metric('Program', plural(sheet.stepCount, 'step'), programNote(facts, now), {
      title:
        (facts.streams ? `${facts.streams} streams run at the same time; the axis is the list of steps. ` : '') +
        (facts.extra_work ? `${facts.extra_work}. ` : '') +
        `A step runs a node or copies bytes: ${plural(facts.nodes, 'node')}, ${plural(sheet.stepCount, 'step')}. ` +
        `A buffer is a block of bytes: ${countText(now.placed)} are placed in an arena, ` +
        `${countText(sheet.bufferCount - now.placed)} belong to the caller or the model.`,
      tone: 'extra',
    }),
    metric('Order', facts.schedule || '-', facts.schedule_optimal ? 'proven optimal' : 'best found', {
      title: facts.schedule_optimal ? `${noPlanText(facts)} has a lower load` : 'The best order found',
      tone: facts.schedule_optimal ? 'good word extra' : 'word extra',
    }),
    metric('Offsets', facts.allocate || '-', facts.allocate_optimal ? 'proven optimal' : 'best found', {
      tone: facts.allocate_optimal ? 'good word extra' : 'word extra',
    }),
    checkMetric(),
  ];
}

// The plans that the bound holds for.
function noPlanText(facts) {
  return facts.bound_scope === 'all_plans' ? 'No plan' : 'No plan that runs each node once';
}

function programNote(facts, now) {
  const placed = `${plural(now.placed, 'buffer')} placed`;
  return facts.streams ? `on ${facts.streams} streams, ${placed}` : placed;
}

function provenanceText(facts) {
  const digest = facts.model_sha256 ? `sha256 ${facts.model_sha256.slice(0, 12)}` : null;
  return [facts.dims.join(', ') || null, facts.target ? `target ${facts.target}` : null, digest, facts.tool || null]
    .filter((text) => text !== null)
    .join('  ·  ');
}

// The path from the graph to the body in sight. Each part except the last is a button.
function breadcrumb(sheet) {
  const path = sheet.path(state.sheets);
  return path.flatMap((part, at) => {
    const name = part.parent ? part.parent[2] || 'body' : part.facts.graph || 'graph';
    const where = part.parent ? ` of ${path[at - 1].stepText(part.parent[1])}` : '';
    const text = elide(name + where, 60);
    const crumb =
      at + 1 === path.length
        ? make('span', {class: 'here', 'aria-current': 'page', title: name}, text)
        : make(
            'button',
            {class: 'crumb', type: 'button', title: `Back to ${name}`, onclick: () => openSheet(part)},
            text,
          );
    return at === 0 ? [crumb] : [make('span', {class: 'muted', 'aria-hidden': 'true'}, '›'), crumb];
  });
}

function drawHeader() {
  const sheet = state.inSight.at(-1);
  const isComparison = isRootComparison() && sheet === state.shown;
  fill(byId('crumbs'), breadcrumb(sheet));
  byId('provenance').textContent = sheet.isPacking ? sheet.facts.tool : provenanceText(sheet.facts);
  fill(
    byId('metrics'),
    sheet.isPacking ? packingMetrics(sheet) : metricsOf(sheet, isComparison ? state.against : null),
  );
}
