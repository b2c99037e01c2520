/* Explorers on a page without a kernel.

   Each one is described by pavlov_lib/widgets: its controls, its stimuli and its first view come embedded in the page.
   This script computes the other views. It holds the same functions as the library, in the same order of work,
   and a test compares what both compute and draw. No other file is needed, and nothing is asked of the network. */

(() => {
  "use strict";

  // --- numbers -------------------------------------------------------------------------------------------------------

  const fixed = (x, digits) => {
    if (!Number.isFinite(x)) return "–";
    const scaled = Math.floor(Math.abs(x) * 10 ** digits + 0.5);
    const whole = String(scaled).padStart(digits + 1, "0");
    const text = digits ? `${whole.slice(0, -digits)}.${whole.slice(-digits)}` : whole;
    return x < 0 && scaled ? "−" + text : text;
  };
  const at = (x) => fixed(x, 1).replace("−", "-");
  const range = (n, start = 0) => Array.from({ length: n }, (_, i) => i + start);
  const sum = (xs) => xs.reduce((a, b) => a + b, 0);
  const mean = (xs) => sum(xs) / xs.length;
  const dot = (a, b) => { let s = 0; for (let i = 0; i < a.length; i++) s += a[i] * b[i]; return s; };
  const norm = (a) => Math.sqrt(dot(a, a));
  const read = (S, q) => S.map((row) => dot(row, q));
  const zeros = (v, k) => range(v).map(() => new Array(k).fill(0));
  const unitRows = (rows) => rows.map((row) => { const size = norm(row); return row.map((x) => x / size); });

  const unpacked = (table) => {
    const [rows, columns] = table.shape;
    const bytes = atob(table.bytes);
    return range(rows).map((i) => range(columns).map((j) => ((bytes.charCodeAt(i * columns + j) << 24) >> 24) / 32));
  };

  // --- the learning rules: one write, into S itself ------------------------------------------------------------------

  const RULES = {
    hebbian(S, k, v, rate = 1, decay = 1) {
      S.forEach((row, i) => { for (let j = 0; j < row.length; j++) row[j] = decay * row[j] + rate * v[i] * k[j]; });
    },
    delta(S, k, v, rate = 1) {
      const r = read(S, k);
      S.forEach((row, i) => { for (let j = 0; j < row.length; j++) row[j] += rate * (v[i] - r[i]) * k[j]; });
    },
    oja(S, k, v, rate = 1) {
      S.forEach((row, i) => {
        const drive = rate * v[i];
        for (let j = 0; j < row.length; j++) row[j] = (1 - drive * v[i]) * row[j] + drive * k[j];
      });
    },
  };

  // --- closed forms, from pavlov_lib/theory.py -----------------------------------------------------------------------

  const RECALL = {
    hebbian(n, dk, dv, eta, decay) {
      const weight = range(n).map((j) => eta * decay ** (n - 1 - j));
      const total = sum(weight.map((w) => w * w));
      return [weight, weight.map((w) => w * w + (total - w * w) / dk)];
    },
    oja(n, dk, dv, eta) {
      const kept = 1 - eta / dv;
      const kept2 = 1 - (2 * eta) / dv + (3 * eta ** 2) / (dv * (dv + 2));
      const own = range(n).map((j) => eta ** 2 * kept2 ** (n - 1 - j));
      const total = sum(own);
      return [range(n).map((j) => eta * kept ** (n - 1 - j)), own.map((x) => x + (total - x) / dk)];
    },
    delta(n, dk, dv, eta) {
      const signal = new Array(n).fill(0), power = new Array(n).fill(0);
      let size = 0;
      for (let j = 0; j < n; j++) {
        for (let i = 0; i < j; i++) {
          power[i] += (-2 * eta * power[i]) / dk + eta ** 2 * (1 / dk + (size + 2 * power[i]) / (dk * (dk + 2)));
          signal[i] *= 1 - eta / dk;
        }
        signal[j] = eta;
        power[j] = ((1 - eta) ** 2 * size) / dk + eta ** 2;
        size += (-2 * eta * size) / dk + eta ** 2 * (1 + size / dk);
      }
      return [signal, power];
    },
  };
  const expectedFidelity = (rule, n, dk, dv, eta = 1, decay = 1) => {
    const [signal, power] = RECALL[rule](n, dk, dv, eta, decay);
    return signal.map((s, i) => (power[i] > 0 ? s / Math.sqrt(power[i]) : 0));
  };

  // --- views: the same data in, the same panels out as in pavlov_lib/widgets -----------------------------------------

  const series = (label, style, x, y, { line = false, points = false, dash = false } = {}) =>
    ({ label, style, x, y, line, points, dash });

  const VIEWS = {
    conditioning(data, { rule, rate, trials }) {
      const S = zeros(2, 2), log = [];
      const past = { bell: [0], light: [0] };
      trials.forEach((trial, i) => {
        const [cue, outcome] = trial.split("+");
        const key = data.cues[cue];
        const expected = read(S, key)[0];
        RULES[rule](S, key, data.outcomes[outcome], rate);
        for (const name in past) past[name].push(read(S, data.cues[name])[0]);
        log.push(`Trial ${i + 1}: ${data.spoken[cue]}, then ${outcome}. Food expected before: ${fixed(expected, 2)}, ` +
          `after: ${fixed(read(S, key)[0], 2)}.`);
      });
      const cues = Object.keys(data.cues);
      const reads = Object.fromEntries(cues.map((cue) => [cue, read(S, data.cues[cue])]));
      const all = [...Object.values(reads).flat(), ...past.bell, ...past.light];
      const highest = Math.max(1, ...all), lowest = Math.min(0, ...all), count = trials.length;
      const last = (xs) => xs[xs.length - 1];
      return {
        panels: [
          { kind: "heat", title: "Association matrix S", rows: ["food", "shock"], columns: ["bell", "light"], values: S,
            limit: Math.max(1, ...S.flat().map(Math.abs)) },
          { kind: "bars", title: "What the dog expects now",
            x: { label: "expected amount", low: lowest, high: highest * 1.05 },
            bars: [["food", "first"], ["shock", "second"]].flatMap(([outcome, style], i) =>
              cues.map((cue) => ({ label: `${cue} → ${outcome}`, value: reads[cue][i], style }))) },
          { kind: "lines", title: "Food expected, trial after trial",
            x: { label: "trial", low: 0, high: Math.max(10, count), whole: true },
            y: { label: "expected food", low: lowest, high: highest * 1.05 },
            series: [["bell", "first"], ["light", "second"]].map(([cue, style]) =>
              series(`${cue} alone`, style, range(count + 1), past[cue], { line: true, points: count <= 30 })) },
        ],
        words: `After ${count} ${count === 1 ? "trial" : "trials"} the bell alone makes the dog expect ` +
          `${fixed(last(past.bell), 2)} of the food, the light alone ${fixed(last(past.light), 2)}, ` +
          `both together ${fixed(reads.both[0], 2)}.`,
        log: log.reverse().slice(0, 6),
      };
    },

    capacity(data, { n, d_k, rule }) {
      const [keys, values] = ["keys", "values"].map((name) =>
        unitRows(unpackedOnce(data, name).map((row) => row.slice(0, d_k))));
      const recalled = (m) => {
        const S = zeros(d_k, d_k);
        for (let t = 0; t < m; t++) RULES[rule](S, keys[t], values[t]);
        return range(m).map((t) => { const r = read(S, keys[t]), size = norm(r); return dot(r, values[t]) / (size || 1); });
      };
      const each = recalled(n), predictedEach = expectedFidelity(rule, n, d_k, d_k), worst = Math.min(...each);
      const average = data.counts.map((m) => mean(recalled(m)));
      const most = data.keys.shape[0];
      const predicted = range(most, 1).map((m) => mean(expectedFidelity(rule, m, d_k, d_k)));
      return {
        panels: [
          { kind: "lines", title: `Every pair in a memory of ${n}`,
            x: { label: "pair, oldest first", low: 0, high: Math.max(n, 5), whole: true },
            y: { label: "fidelity (cosine)", low: Math.min(0, worst), high: 1 },
            series: [
              series("measured", rule, range(n, 1), each, { points: true }),
              series("predicted", "ink", range(n, 1), predictedEach, { line: true, points: n === 1, dash: true }),
            ] },
          { kind: "lines", title: "The average pair, as the memory fills",
            x: { label: "number of pairs n", low: 0, high: most, whole: true },
            y: { label: "mean fidelity", low: 0, high: 1 },
            marks: [{ x: n, label: `n = ${n}` }],
            series: [
              series("measured", rule, data.counts, average, { points: true }),
              series("predicted", "ink", range(most, 1), predicted, { line: true, dash: true }),
            ] },
        ],
        words: `${n} ${n === 1 ? "pair" : "pairs"} in a memory with key dimension ${d_k}: the average pair is recalled ` +
          `with fidelity ${fixed(mean(each), 2)}, predicted ${fixed(mean(predictedEach), 2)}; ` +
          `the worst with ${fixed(worst, 2)}.`,
      };
    },
  };

  const unpackedTables = new WeakMap();
  const unpackedOnce = (data, name) => {
    if (!unpackedTables.has(data[name])) unpackedTables.set(data[name], unpacked(data[name]));
    return unpackedTables.get(data[name]);
  };

  // --- pictures: as in pavlov_lib/widgets/svg.py ---------------------------------------------------------------------

  const WIDTH = 360;
  const STYLES = {
    hebbian: ["#0072B2", "circle"], "hebbian+decay": ["#56B4E9", "square"], delta: ["#D55E00", "triangle"],
    oja: ["#009E73", "diamond"], softmax: ["#CC79A7", "square"], first: ["#0072B2", "circle"],
    second: ["#D55E00", "triangle"], third: ["#009E73", "diamond"], ink: ["#22303c", "circle"],
  };
  const STEPS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
  const DIGITS = [4, 3, 3, 3, 2, 2, 2, 1, 1, 1, ...new Array(12).fill(0)];
  const INK = "var(--ex-ink,#22303c)", FAINT = "var(--ex-faint,#d9d4c7)", PAPER = "var(--ex-paper,#fffdf7)";
  const color = (style) => `var(--ex-${style.replace("+", "-")},${STYLES[style][0]})`;
  const escaped = (words) => words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;").replace(/'/g, "&#x27;");

  const text = (x, y, words, { anchor = "start", size = 12, weight = "400" } = {}) =>
    `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}">` +
    `${escaped(words)}</text>`;
  const line = (x0, y0, x1, y1, stroke, width = 1, dash = "") =>
    `<line x1="${at(x0)}" y1="${at(y0)}" x2="${at(x1)}" y2="${at(y1)}" stroke="${stroke}" stroke-width="${width}"` +
    `${dash ? ` stroke-dasharray="${dash}"` : ""}/>`;
  const CORNERS = {
    square: [[-3.2, -3.2], [3.2, -3.2], [3.2, 3.2], [-3.2, 3.2]],
    triangle: [[0, -4.2], [4, 3.2], [-4, 3.2]],
    diamond: [[0, -4.6], [4.2, 0], [0, 4.6], [-4.2, 0]],
  };
  const marker = (shape, x, y, fill) => shape === "circle"
    ? `<circle cx="${at(x)}" cy="${at(y)}" r="3.5" fill="${fill}"/>`
    : `<polygon points="${CORNERS[shape].map(([dx, dy]) => `${at(x + dx)},${at(y + dy)}`).join(" ")}" fill="${fill}"/>`;

  const ticks = ({ low, high, log, whole }) => {
    if (log) {
      const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
      return range(last - first + 1, first).map((d) => [10 ** d, fixed(10 ** d, Math.max(-d, 0))]);
    }
    let i = STEPS.findIndex((step) => step >= (high - low) / 5.5);
    if (i < 0) i = STEPS.length - 1;
    if (whole) i = Math.max(i, STEPS.indexOf(1));
    const first = Math.ceil(low / STEPS[i] - 1e-9), last = Math.floor(high / STEPS[i] + 1e-9);
    return range(last - first + 1, first).map((k) => [k * STEPS[i], fixed(k * STEPS[i], DIGITS[i])]);
  };
  const place = ({ low, high, log }, x, start, end) => {
    x = Math.min(Math.max(x, low), high);
    if (log) [low, high, x] = [low, high, x].map(Math.log10);
    return start + ((x - low) / (high - low)) * (end - start);
  };

  const KINDS = {
    lines(panel) {
      const left = 52, right = WIDTH - 12, top = 44, bottom = 196;
      const out = [text(8, 35, panel.y.label, { size: 11 })];
      for (const [value, words] of ticks(panel.y)) {
        const y = place(panel.y, value, bottom, top);
        out.push(line(left, y, right, y, FAINT), text(left - 5, y + 4, words, { anchor: "end", size: 11 }));
      }
      for (const [value, words] of ticks(panel.x)) {
        const x = place(panel.x, value, left, right);
        out.push(line(x, bottom, x, bottom + 4, INK), text(x, bottom + 16, words, { anchor: "middle", size: 11 }));
      }
      out.push(line(left, bottom, right, bottom, INK), text(right, bottom + 31, panel.x.label, { anchor: "end", size: 11 }));
      for (const mark of panel.marks || []) {
        const x = place(panel.x, mark.x, left, right);
        out.push(line(x, top, x, bottom, INK, 1, "2 3"), text(x + 4, top + 10, mark.label, { size: 11 }));
      }
      for (const s of panel.series) {
        const xs = s.x.map((x) => place(panel.x, x, left, right)), ys = s.y.map((y) => place(panel.y, y, bottom, top));
        const fill = color(s.style), shape = STYLES[s.style][1];
        if (s.line && xs.length > 1) {
          out.push(`<polyline points="${xs.map((x, i) => `${at(x)},${at(ys[i])}`).join(" ")}" fill="none" ` +
            `stroke="${fill}" stroke-width="2"${s.dash ? ' stroke-dasharray="5 4"' : ""}/>`);
        }
        if (s.points) xs.forEach((x, i) => out.push(marker(shape, x, ys[i], fill)));
      }
      panel.series.forEach((s, i) => {
        const x = 12 + 174 * (i % 2), y = bottom + 50 + 18 * Math.floor(i / 2);
        const fill = color(s.style), shape = STYLES[s.style][1];
        if (s.line) out.push(line(x, y - 4, x + 22, y - 4, fill, 2, s.dash ? "5 4" : ""));
        if (s.points) out.push(marker(shape, x + 11, y - 4, fill));
        out.push(text(x + 28, y, s.label, { size: 11 }));
      });
      return [out.join(""), bottom + 44 + 18 * Math.ceil(panel.series.length / 2)];
    },

    bars(panel) {
      const left = 104, right = WIDTH - 48, top = 30, step = 24, bottom = top + step * panel.bars.length, out = [];
      for (const [value, words] of ticks(panel.x)) {
        const x = place(panel.x, value, left, right);
        out.push(line(x, top, x, bottom, FAINT), text(x, bottom + 15, words, { anchor: "middle", size: 11 }));
      }
      const zero = place(panel.x, 0, left, right);
      panel.bars.forEach((bar, i) => {
        const y = top + step * i, x = place(panel.x, bar.value, left, right);
        out.push(text(left - 8, y + 16, bar.label, { anchor: "end" }),
          `<rect x="${at(Math.min(x, zero))}" y="${at(y + 4)}" width="${at(Math.abs(x - zero))}" height="${step - 8}" ` +
          `fill="${color(bar.style)}"/>`,
          text(Math.max(x, zero) + 5, y + 16, fixed(bar.value, 2), { weight: "600" }));
      });
      out.push(line(zero, top, zero, bottom, INK), text(right, bottom + 31, panel.x.label, { anchor: "end", size: 11 }));
      return [out.join(""), bottom + 38];
    },

    heat(panel) {
      const { rows, columns, values, limit } = panel;
      const left = 20 + 7 * Math.max(...rows.map((row) => row.length)), top = 44;
      const width = Math.min((WIDTH - 10 - left) / columns.length, 72), height = rows.length < 8 ? 34 : 24;
      const size = width > 40 ? 12 : 10, out = [];
      columns.forEach((name, j) => out.push(text(left + width * (j + 0.5), top - 7, name, { anchor: "middle", size: 11 })));
      rows.forEach((name, i) => {
        const y = top + height * i;
        out.push(text(left - 8, y + height / 2 + 4, name, { anchor: "end", size: 11 }));
        columns.forEach((_, j) => {
          const value = values[i][j];
          if (value === null) return;
          const x = left + width * j, strength = fixed(Math.min(Math.abs(value) / limit, 1) * 0.68, 2);
          const fill = value >= 0 ? "var(--ex-plus,#0072B2)" : "var(--ex-minus,#D55E00)";
          out.push(`<rect x="${at(x + 1)}" y="${at(y + 1)}" width="${at(width - 2)}" height="${at(height - 2)}" ` +
            `fill="${fill}" fill-opacity="${strength}" stroke="${FAINT}"/>`,
            text(x + width / 2, y + height / 2 + 4, fixed(value, 2), { anchor: "middle", size }));
        });
      });
      return [out.join(""), top + height * rows.length + 10];
    },

    tower(panel) {
      const { floors } = panel, left = 44, right = WIDTH - 12, top = 34;
      const height = Math.min(200 / floors.length, 26), width = (right - left) / floors[0].length;
      const bottom = top + height * floors.length, every = floors.length <= 8 ? 1 : 4;
      const out = [text(8, bottom + 16, "chains, one in each column; they enter at the bottom", { size: 11 })];
      floors.forEach((chains, layer) => {
        const y = bottom - height * (layer + 1);
        if ((layer + 1) % every === 0 || layer === 0) {
          out.push(text(left - 6, y + height / 2 + 4, fixed(layer + 1, 0), { anchor: "end", size: 11 }));
        }
        chains.forEach((fate, c) => out.push(card(fate, left + width * c + 0.7, y + 0.7, width - 1.4, height - 1.4)));
      });
      const y = bottom + 36;
      ["right", "error enters", "error carried on"].forEach((words, fate) => {
        const x = 12 + 108 * fate;
        out.push(card(fate, x, y - 11, 14, 14), text(x + 20, y, words, { size: 11 }));
      });
      return [out.join(""), y + 10];
    },
  };
  const card = (fate, x, y, width, height) => {
    const [fill, opacity] = [[color("first"), "0.30"], [color("second"), "1.00"], [color("second"), "0.35"]][fate];
    const out = `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" fill="${fill}" ` +
      `fill-opacity="${opacity}"/>`;
    if (fate !== 1) return out;
    return out + line(x, y, x + width, y + height, PAPER, 1.5) + line(x, y + height, x + width, y, PAPER, 1.5);
  };

  const WORDS = {
    lines: (panel) => `${panel.y.label} against ${panel.x.label}. ` + panel.series.map(({ label, y }) =>
      !y.length ? `${label}: nothing yet` : y.length === 1 ? `${label}: ${fixed(y[0], 2)}`
        : `${label}: from ${fixed(y[0], 2)} to ${fixed(y[y.length - 1], 2)}`).join("; ") + ".",
    bars: (panel) => panel.bars.map((bar) => `${bar.label}: ${fixed(bar.value, 2)}`).join("; ") + ".",
    heat: (panel) => panel.rows.map((name, i) => `${name}: ` + panel.columns
      .map((column, j) => [column, panel.values[i][j]]).filter(([, value]) => value !== null)
      .map(([column, value]) => `${column} ${fixed(value, 2)}`).join(", ")).join("; ") + ".",
    tower: ({ floors }) => `${floors[floors.length - 1].filter((fate) => fate === 0).length} of ` +
      `${floors[0].length} chains reach the top of ${floors.length} layers without an error.`,
  };
  const described = (panel) => `${panel.title}. ${WORDS[panel.kind](panel)}`;

  const draw = (panel) => {
    const [body, height] = KINDS[panel.kind](panel);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${at(height)}" role="img" ` +
      `aria-label="${escaped(described(panel))}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}">` +
      `<rect width="${WIDTH}" height="${at(height)}" fill="${PAPER}"/>` +
      text(8, 17, panel.title, { size: 13, weight: "600" }) + body + "</svg>";
  };

  // --- controls ------------------------------------------------------------------------------------------------------

  let made = 0;
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  const radios = (label, options, value, changed) => {
    const group = `explorer-choice-${made++}`;
    const box = element("fieldset", { class: "explorer-choice" }, element("legend", {}, label));
    for (const [option, words] of options) {
      const input = element("input", { type: "radio", name: group, value: option });
      input.checked = option === value;
      input.addEventListener("change", () => changed(option));
      box.append(element("label", {}, input, element("span", {}, words)));
    }
    return box;
  };

  const CONTROLS = {
    slider({ label, low, high, step, value, digits }, changed) {
      const id = `explorer-slider-${made++}`;
      const input = element("input", { type: "range", id, min: low, max: high, step, value });
      const shown = element("output", { for: id }, fixed(value, digits));
      input.addEventListener("input", () => {
        const x = Number(fixed(Number(input.value), digits).replace("−", "-"));
        shown.textContent = fixed(x, digits);
        changed(x);
      });
      return element("div", { class: "explorer-slider" }, element("label", { for: id }, label), input, shown);
    },

    choice: ({ label, options, value }, changed) => radios(label, options, value, changed),

    switch({ label, value }, changed) {
      const input = element("input", { type: "checkbox" });
      input.checked = value;
      input.addEventListener("change", () => changed(input.checked));
      return element("div", { class: "explorer-switch" }, element("label", {}, input, element("span", {}, label)));
    },

    trials({ label, cues, outcomes, value, most }, changed) {
      let trials = [...value], cue = cues[0][0], outcome = outcomes[0][0];
      const button = (words, act) => {
        const node = element("button", { type: "button" }, words);
        node.addEventListener("click", () => { act(); changed(trials); });
        return node;
      };
      const present = (times) => {
        trials = [...trials, ...new Array(Math.min(times, most - trials.length)).fill(`${cue}+${outcome}`)];
      };
      return element("div", { class: "explorer-trials", role: "group", "aria-label": label },
        radios("Cue", cues, cue, (x) => { cue = x; }), radios("Outcome", outcomes, outcome, (x) => { outcome = x; }),
        element("div", { class: "explorer-buttons" },
          button("Present once", () => present(1)), button("Five times", () => present(5)),
          button("Take back", () => { trials = trials.slice(0, -1); }), button("Start again", () => { trials = []; })));
    },
  };

  // --- one explorer --------------------------------------------------------------------------------------------------

  const start = (root) => {
    const { name, controls, data } = JSON.parse(root.querySelector(".explorer-source").textContent);
    const settings = Object.fromEntries(controls.map((control) => [control.name, control.value]));
    const panels = root.querySelector(".explorer-panels"), words = root.querySelector(".explorer-words");
    const log = element("ol", { class: "explorer-log", "aria-label": "The last trials, newest first" });
    let waiting = false, timer = 0;
    const show = () => {
      waiting = false;
      const seen = VIEWS[name](data, settings);
      panels.innerHTML = seen.panels.map((panel) => `<div class="explorer-panel">${draw(panel)}</div>`).join("");
      log.replaceChildren(...(seen.log || []).map((entry) => element("li", {}, entry)));
      log.hidden = !(seen.log || []).length;
      // Spoken once the reader pauses, not at every step of a slider.
      clearTimeout(timer);
      timer = setTimeout(() => { words.textContent = seen.words; }, 150);
    };
    const box = element("div", { class: "explorer-controls" });
    for (const control of controls) {
      box.append(CONTROLS[control.kind](control, (value) => {
        settings[control.name] = value;
        if (!waiting) { waiting = true; requestAnimationFrame(show); }
      }));
    }
    words.setAttribute("role", "status");
    words.before(log);
    panels.before(box);
    show();
    root.classList.add("explorer-ready");
  };

  const startAll = () => {
    for (const root of document.querySelectorAll(".pavlov-explorer:not(.explorer-ready)")) start(root);
  };
  window.pavlovExplorers = { VIEWS, draw, fixed };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startAll);
  else startAll();
})();
