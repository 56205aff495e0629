'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const get = id => document.getElementById(id);
const span = Math.max(data.end - data.begin, 1e-6);
const colors = { good: 'finished', bad: 'failed, lost or refused', wait: 'no answer, note', link: 'link',
  scan: 'scan', value: 'notification', seen: 'advertising and RSSI', control: 'control of the test' };
const foldWidth = 56;
let zoom = 1;
// Without latencies, most events have the time of another one, and their order is shown instead.
let isByOrder = new Set(data.lines.map(line => line.time)).size * 3 < data.lines.length;

function element(name, fields = {}, parent = null, text = null) {
  const isSVG = ['svg', 'rect', 'line', 'path', 'circle', 'polyline', 'text', 'title'].includes(name);
  const made = isSVG ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(fields)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

const seconds = time => time.toFixed(6).replace(/0{1,3}$/, '') + ' s';
const width = () => Math.max(320, get('chart').clientWidth) * zoom - 32;

function duration(time) {
  if (time >= 7200) return `${(time / 3600).toFixed(1)} h`;
  if (time >= 120) return `${(time / 60).toFixed(1)} min`;
  return time >= 1 ? `${time.toFixed(1)} s` : `${(time * 1000).toFixed(0)} ms`;
}

// The times at which something happens, and the stretches without events that would flatten the rest: each is longer than
// ten times the average of the other gaps, and than a third of what is not folded yet.
const times = [...new Set([data.begin, data.end, ...data.lines.map(line => line.time),
  ...(data.failure ? [data.failure.begin, data.failure.end] : [])])].sort((one, other) => one - other);
const folds = findFolds();
const busy = span - folds.reduce((sum, fold) => sum + fold.length, 0);

function findFolds() {
  const gaps = times.slice(1).map((time, index) => ({ start: times[index], end: time, length: time - times[index] }))
    .sort((one, other) => other.length - one.length);
  let rest = span;
  const found = [];
  for (const gap of gaps) {
    const others = (rest - gap.length) / Math.max(1, gaps.length - found.length - 1);
    if (gaps.length < 2 || gap.length < 10 * others || gap.length < rest / 3) break;
    found.push(gap);
    rest -= gap.length;
  }
  return found.sort((one, other) => one.start - other.start);
}

// The place of a time, or of a line if events are placed by their order.
function x(time, line) {
  const room = width() - 16;
  if (isByOrder) return 16 + (Math.min(line, data.lines.length) + 0.5) / (data.lines.length + 1) * room;
  const scale = Math.max(1, room - folds.length * foldWidth) / Math.max(1e-6, busy);
  let place = 16 + (time - data.begin) * scale;
  for (const fold of folds) {
    const part = Math.max(0, Math.min(1, (time - fold.start) / fold.length));
    place += part * (foldWidth - fold.length * scale);
  }
  return place;
}

// A shape that shows its details when it is pointed at, and its lines when it is chosen.
function hit(shape, text, first, last, words) {
  shape.classList.add('hit');
  shape.setAttribute('tabindex', '0');
  shape.dataset.words = words.toLowerCase();
  element('title', {}, shape, text);
  const show = () => { get('detail').textContent = text; };
  shape.addEventListener('pointerenter', show);
  shape.addEventListener('focus', show);
  shape.addEventListener('click', () => { show(); reveal(first, last); });
}

// The rows in which overlapping bars are drawn.
function rows(spans) {
  const ends = [];
  return spans.map(item => {
    const left = x(item.start, item.lines[0]), right = Math.max(x(item.end, item.lines[1]), left + 3);
    let row = ends.findIndex(end => end <= left + 0.5);
    if (row < 0) row = ends.length;
    ends[row] = right;
    return { item, row, left, right };
  });
}

function sentence(item, lane) {
  const result = item.outcome === 'open' ? 'without an answer at the end of the trace' : item.result;
  const ends = lane.kind === 'device' ? `${item.role} → ${lane.title}` : lane.title;
  return `${seconds(item.start)}  ${ends}: ${item.name}, ${item.latency}. ${result}`;
}

function color(item) {
  if (item.outcome === 'failure') return 'bad';
  if (item.kind === 'link' || item.kind === 'scan') return item.kind;
  return item.outcome === 'open' ? 'wait' : 'good';
}

function drawSpans(svg, lane, spans, top, height) {
  const placed = rows(spans);
  for (const { item, row, left, right } of placed) {
    const y = top + row * (height + 2);
    const bar = element('rect', { x: left, y, width: right - left, height, rx: 2,
      fill: `var(--${color(item)})`, stroke: 'var(--back)' }, svg);
    hit(bar, sentence(item, lane), ...item.lines, `${item.name} ${item.role} ${lane.title} ${item.result} ${item.outcome}`);
    if (right - left > 60) {
      const label = element('text', { x: left + 4, y: y + height - 3, class: 'inside' }, svg);
      label.textContent = item.name.slice(0, Math.floor((right - left) / 7));
    }
  }
  const count = placed.reduce((most, { row }) => Math.max(most, row + 1), 0);
  return top + count * (height + 2);
}

// Advertising as density, and the signal strength as a line.
function drawSightings(svg, lane, top) {
  if (!lane.sightings.length) return top;
  const bins = new Map();
  for (const [time, rssi, line] of lane.sightings) {
    const bin = Math.floor(x(time, line) / 6);
    const known = bins.get(bin) || { number: 0, first: line, time };
    bins.set(bin, { ...known, number: known.number + 1, last: line });
  }
  const most = Math.max(...[...bins.values()].map(bin => bin.number));
  for (const [place, { number, first, last, time }] of bins) {
    const height = 4 + 14 * number / most;
    const bar = element('rect', { x: place * 6, y: top + 20 - height, width: 6, height,
      fill: 'var(--seen)', opacity: .45 }, svg);
    hit(bar, `${seconds(time)}  ${lane.title}: ${number} advertising packet${number === 1 ? '' : 's'}`, first, last,
      `${lane.title} advertising`);
  }
  const level = rssi => top + 20 - Math.max(0, Math.min(1, (rssi + 100) / 70)) * 18;
  const points = lane.sightings.map(([time, rssi, line]) => `${x(time, line).toFixed(1)},${level(rssi).toFixed(1)}`);
  element('polyline', { points: points.join(' '), fill: 'none', stroke: 'var(--seen)' }, svg);
  const [time, rssi, line] = lane.sightings[lane.sightings.length - 1];
  element('text', { x: x(time, line) + 4, y: level(rssi) + 4 }, svg, `${rssi} dBm`);
  return top + 24;
}

function drawMarks(svg, lane, marks, top) {
  if (!marks.length) return top;
  const kinds = { notification: 'value', event: 'dim', command: 'good', control: 'control', note: 'wait' };
  for (const mark of marks) {
    const left = x(mark.time, mark.line), isLoss = mark.kind === 'note' && / lost$/.test(mark.name);
    const fill = `var(--${isLoss ? 'bad' : kinds[mark.kind]})`;
    const shape = mark.kind === 'notification'
      ? element('rect', { x: left - 1, y: top, width: 3, height: 14, fill }, svg)
      : mark.kind === 'event' || mark.kind === 'command'
        ? element('circle', { cx: left, cy: top + 7, r: 4, fill }, svg)
        : element('path', { d: `M${left} ${top} l6 13 h-12 z`, fill }, svg);
    hit(shape, `${seconds(mark.time)}  ${lane.title}: ${mark.name} ${mark.detail}`, mark.line, mark.line,
      `${mark.name} ${mark.detail} ${mark.role} ${lane.title} ${mark.kind}`);
  }
  return top + 18;
}

function drawLane(lane) {
  const box = element('div', { class: 'lane' }, get('chart'));
  const heading = element('h2', {}, box, lane.title);
  element('small', {}, heading, lane.kind === 'device' ? '  device' : '');
  const svg = element('svg', { width: width() + 16 }, box);
  let y = drawSightings(svg, lane, 2);
  const wide = lane.spans.filter(item => item.kind === 'link' || item.kind === 'scan');
  y = drawSpans(svg, lane, wide, y, 13);
  y = drawSpans(svg, lane, lane.spans.filter(item => !wide.includes(item)), y, 14);
  const isAside = mark => mark.kind === 'control' || mark.kind === 'note';
  y = drawMarks(svg, lane, lane.marks.filter(mark => !isAside(mark)), y);
  y = drawMarks(svg, lane, lane.marks.filter(isAside), y);
  y = Math.max(8, y + 4);
  svg.setAttribute('height', y);
  drawFailure(svg, y);
}

// The time for which the test waited, and the moment at which it gave up.
function drawFailure(svg, height) {
  if (!data.failure) return;
  const { begin, end } = data.failure;
  const before = data.lines.findIndex(line => line.time >= begin);
  const left = x(begin, before < 0 ? data.lines.length : before), right = x(end, data.lines.length);
  if (begin < end) {
    svg.prepend(element('rect', { x: left, y: 0, width: Math.max(1, right - left), height, class: 'waited' }));
  }
  element('line', { x1: right, x2: right, y1: 0, y2: height, class: 'failed' }, svg);
}

function drawAxis() {
  const box = element('div', { class: 'lane axis' }, get('chart'));
  const svg = element('svg', { width: width() + 16, height: 22 }, box);
  let last = -Infinity;
  const tick = (place, text) => {
    const meetsFold = !isByOrder && folds.some(fold => place < x(fold.end) - 1 && place + 45 > x(fold.start));
    if (place - last < 80 || meetsFold) return;
    last = place;
    element('line', { x1: place, x2: place, y1: 0, y2: 6 }, svg);
    element('text', { x: place + 3, y: 15 }, svg, text);
  };
  if (isByOrder) return data.lines.forEach((line, index) => tick(x(line.time, index), seconds(line.time)));
  const step = [1, 2, 5].flatMap(unit => [...Array(10)].map((_, power) => unit * 10 ** (power - 6)))
    .sort((one, other) => one - other).find(step => width() * step / busy > 80) || span;
  const edges = [data.begin, ...folds.map(fold => fold.end)];
  edges.forEach((edge, index) => {
    const limit = index < folds.length ? folds[index].start : data.end;
    for (let time = Math.ceil(edge / step) * step; time <= limit; time += step) {
      tick(x(time), Number(time.toPrecision(9)) + ' s');
    }
  });
  for (const fold of folds) {
    const left = x(fold.start), right = x(fold.end);
    element('rect', { x: left, y: 0, width: right - left, height: 22, class: 'fold' }, svg);
    element('text', { x: (left + right) / 2, y: 15, 'text-anchor': 'middle' }, svg, duration(fold.length))
      .append(element('title', {}, null, `nothing from ${seconds(fold.start)} to ${seconds(fold.end)}`));
  }
}

function draw() {
  get('chart').replaceChildren();
  get('order').setAttribute('aria-pressed', isByOrder);
  drawAxis();
  data.lanes.forEach(drawLane);
  search();
}

function drawLines() {
  for (const line of data.lines) {
    element('li', { class: (line.failed ? 'failed ' : '') + line.kind }, get('lines'), line.text);
  }
}

// Shows lines.
function reveal(first, last) {
  const items = [...get('lines').children];
  items.forEach((item, index) => item.classList.toggle('near', index === first || index === last));
  if (items[first]) items[first].scrollIntoView({ block: 'center' });
}

function search() {
  const words = get('search').value.toLowerCase();
  for (const shape of document.querySelectorAll('.hit')) {
    shape.classList.toggle('faded', words !== '' && !shape.dataset.words.includes(words));
  }
  [...get('lines').children].forEach((item, index) => {
    item.hidden = words !== '' && !data.lines[index].text.toLowerCase().includes(words);
  });
}

function resize(factor) {
  const chart = get('chart'), middle = (chart.scrollLeft + chart.clientWidth / 2) / chart.scrollWidth;
  zoom = factor === 0 ? 1 : Math.max(1, Math.min(256, zoom * factor));
  draw();
  chart.scrollLeft = middle * chart.scrollWidth - chart.clientWidth / 2;
}

function drawFacts({ what, isExpectation, location, begin, end, came, cause, history }) {
  get('failure').hidden = false;
  get('cause').textContent = cause;
  const fact = (name, text) => {
    element('dt', {}, get('facts'), name);
    return element('dd', {}, get('facts'), text);
  };
  fact(isExpectation ? 'Expected' : 'Failed', what);
  const rounded = time => time.toFixed(3) + ' s';
  if (begin < end) fact('Waited', `${duration(end - begin)}, from ${rounded(begin)} to ${rounded(end)}`);
  else fact('At', rounded(end));
  if (isExpectation) {
    const list = fact('Came instead', came.length ? null : 'nothing');
    const runs = [];
    for (const text of came) {
      if (runs.length && runs[runs.length - 1].text === text) runs[runs.length - 1].count += 1;
      else runs.push({ text, count: 1 });
    }
    if (runs.length > 8) element('div', {}, list, `… ${runs.length - 8} others before`);
    for (const { text, count } of runs.slice(-8)) {
      element('div', {}, list, count > 1 ? `${text}, ${count} times` : text);
    }
  }
  fact('Where', location);
  get('history').hidden = history.length === 0;
  for (const incident of history) element('li', {}, get('incidents'), incident);
}

get('title').textContent = data.title;
if (data.failure) drawFacts(data.failure);
const spans = data.lanes.flatMap(lane => lane.spans.map(item => ({ item, lane })));
const failed = spans.filter(({ item }) => item.outcome === 'failure');
const open = spans.filter(({ item }) => item.outcome === 'open' && item.kind !== 'link' && item.kind !== 'scan');
get('summary').textContent = `${data.lines.length} lines over ${seconds(span)}; ${failed.length} failed, ` +
  `${open.length} without an answer` + (data.omitted ? `; ${data.omitted} earlier lines are left out` : '');
for (const { item, lane } of [...failed, ...open].sort((one, other) => one.item.end - other.item.end).slice(-10)) {
  const line = element('li', { class: item.outcome }, get('failures'));
  const choice = element('button', {}, line, sentence(item, lane));
  choice.addEventListener('click', () => reveal(...item.lines));
}
for (const [name, text] of Object.entries(colors)) {
  const item = element('li', {}, get('legend'));
  element('i', { style: `background: var(--${name})` }, item);
  item.append(text);
}
get('detail').textContent = 'Point at a shape to read it; choose it to see its line.';
get('search').addEventListener('input', search);
get('order').addEventListener('click', () => {
  isByOrder = !isByOrder;
  draw();
});
get('in').addEventListener('click', () => resize(2));
get('out').addEventListener('click', () => resize(0.5));
get('fit').addEventListener('click', () => resize(0));
addEventListener('resize', () => draw());
drawLines();
draw();
