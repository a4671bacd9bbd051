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

// `exceeds`: the plan is larger than what was asked for, so that even a proof is no good news.
function gapMetric(now, uncounted = [], exceeds = false) {
  if (uncounted.length > 0) {
    return metric('Gap', 'not proven', 'uncounted operators', {
      title: `The memory inside these operators is unknown and not counted: ${uncounted.join(', ')}`,
      tone: 'bad word',
    });
  }
  if (now.gap === null) return metric('Gap', '-', 'no bound');
  const title = `Distance from the proven lower bound: (${now.hasOneRegion ? 'arena' : 'peak'} − bound) / bound`;
  if (now.gap <= 0) {
    const words = now.isPacking ? 'no offsets need less' : 'no order needs less';
    const more = now.isPacking
      ? 'No choice of offsets needs less.'
      : 'No order and no layout of this graph needs less. Fused operators, recomputation, swaps or smaller types may.';
    return metric('Gap', '0 %', words, {title: `${title}. ${more}`, tone: exceeds ? null : 'good'});
  }
  const excess = now.reached - now.bound;
  return metric('Gap', percentText(excess, now.bound), `${shortBytes(excess)} above`, {title});
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

function limitMetric(sheet) {
  const limits = arenaRegions(sheet).map((region) => regionFacts(sheet, region));
  if (limits.length !== 1 || limits[0].limit === null) return null;
  const [{arena, limit, limitName}] = limits;
  const name = limitName[0].toUpperCase() + limitName.slice(1);
  return arena > limit
    ? metric(name, shortBytes(limit), `exceeded by ${shortBytes(arena - limit)}`, {tone: 'bad'})
    : metric(name, shortBytes(limit), `${shortBytes(limit - arena)} free`);
}

function wasteWords(facts, waste) {
  if (facts.execution === 'dataflow') return `${shortBytes(waste)} more to allow any order`;
  return `${waste > 0 ? shortBytes(waste) : 'nothing'} lost to fragmentation`;
}

function metricsOf(sheet) {
  const now = totals(sheet);
  const {facts} = sheet;
  const saved = now.loadAsGiven - now.arena;
  const outside = memoryParts(sheet).slice(1);
  return [
    verdictMetric(sheet),
    ...workMetrics(sheet),
    metric('Arena', shortBytes(now.arena), exactBytes(now.arena), {
      title: `Bytes to reserve: ${bothBytes(now.arena)}`,
      tone: 'main',
    }),
    metric('Peak', shortBytes(now.load), wasteWords(facts, now.waste), {
      title: `Largest number of live bytes: ${bothBytes(now.load)}`,
    }),
    ...boundMetrics(sheet, now),
    now.loadAsGiven > 0 && facts.recomputed === undefined
      ? metric(
          'Peak as given',
          shortBytes(now.loadAsGiven),
          `arena ${percentText(Math.abs(saved), now.loadAsGiven)} ${saved < 0 ? 'higher' : 'lower'}`,
          {title: `In the model's own order, without sharing: ${bothBytes(now.loadAsGiven)}`},
        )
      : null,
    outside.length > 0
      ? metric(
          'Memory in all',
          shortBytes(memoryInAll(sheet)),
          `with ${outside.map(({name, region = name}) => region).join(', ')}`,
          {
            title: memoryParts(sheet)
              .map(({name, bytes}) => `${name} ${bothBytes(bytes)}`)
              .join(', '),
            tone: 'extra',
          },
        )
      : null,
    metric('Program', plural(sheet.stepCount, 'step'), programNote(facts, now), {
      title:
        (facts.streams ? `${facts.streams} streams run at the same time. ` : '') +
        (facts.extra_work ? `${facts.extra_work}. ` : '') +
        `A step runs a node or copies bytes: ${plural(facts.nodes, 'node')}, ` +
        `${plural(sheet.stepCount, 'step')}, counted from 0. ` +
        `A buffer is a block of bytes: ${countText(now.placed)} are placed in an arena, ` +
        `${countText(sheet.bufferCount - now.placed)} belong to the caller or the model.`,
      tone: 'extra',
    }),
    checkMetric(),
  ];
}

// The plans that the bound holds for.
function noPlanText(facts) {
  if (facts.bound_scope === 'all_plans') return 'No plan';
  const kernels = facts.bound_scope === 'chosen_kernels' ? ' with these kernels and' : '';
  return `No plan${kernels} without recomputation or extra copies`;
}

function programNote(facts, now) {
  const placed = `${plural(now.placed, 'buffer')} placed`;
  return facts.streams ? `on ${facts.streams} streams, ${placed}` : placed;
}

// The name of the model file, or of the graph if it has no file.
function fileName(sheet) {
  return sheet.facts.model || sheet.facts.graph;
}

function provenanceText(facts) {
  const digest = facts.model_sha256 ? `sha256 ${facts.model_sha256.slice(0, 12)}` : null;
  const graph = facts.model && facts.graph ? `graph ${elide(facts.graph, 40)}` : null;
  const parts = [facts.dims.join(', ') || null, graph, facts.target ? `target ${facts.target}` : null, digest];
  return [...parts, facts.tool || null].filter((text) => text !== null).join('  ·  ');
}

// The path from the graph to the body in sight. Each part except the last is a button.
function breadcrumb(sheet) {
  const path = sheet.path(state.sheets);
  return path.flatMap((part, at) => {
    const name = part.parent ? part.parent[2] || 'body' : fileName(part) || 'graph';
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
  fill(byId('crumbs'), breadcrumb(sheet));
  byId('provenance').textContent = sheet.isPacking ? sheet.facts.tool : provenanceText(sheet.facts);
  fill(byId('metrics'), sheet.isPacking ? packingMetrics(sheet) : metricsOf(sheet));
}
