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

  const erfc = (x) => {
    if (x < 0) return 2 - erfc(-x);
    if (x < 2.5) { // a series of positive terms
      let term = x, total = x;
      for (let k = 1; term > total * 1e-17; k++) { term *= (2 * x * x) / (2 * k + 1); total += term; }
      return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
    }
    let tail = 0; // a continued fraction
    for (let k = 60; k >= 1; k--) tail = k / 2 / (x + tail);
    return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + tail));
  };

  const headFailure = ({ hermite, legendre }, n, dk, dv, averaged = 1) => {
    const sigma = Math.sqrt((n - 2) / (dk * dv * averaged));
    const weights = legendre[0].map((y, i) => legendre[1][i] * (1 - y * y) ** ((dv - 3) / 2));
    const total = sum(weights);
    const slopes = legendre[0].map((y) => Math.sqrt((1 - y) / (1 + y)));
    const lose = hermite[0].map((z) => {
      const beaten = sum(slopes.map((c, i) =>
        0.5 * erfc((c * (1 + sigma * z)) / Math.sqrt((c * c) / (dk * averaged) + sigma * sigma) / Math.SQRT2) * weights[i]));
      return 1 - (1 - beaten / total) ** (n - 1);
    });
    return dot(lose, hermite[1]) / sum(hermite[1]);
  };

  const factorial = (n) => range(n, 1).reduce((a, b) => a * b, 1);
  const choose = (n, k) => range(k).reduce((a, i) => (a * (n - i)) / (i + 1), 1);
  const spreads = (items, votes, most) => {
    const times = (a, b) => {
      const product = new Array(Math.min(a.length + b.length - 1, votes + 1)).fill(0);
      a.forEach((x, i) => b.forEach((y, j) => { if (i + j <= votes) product[i + j] += x * y; }));
      return product;
    };
    let power = range(Math.min(most, votes) + 1).map((m) => 1 / factorial(m)), total = [1];
    for (; items; items >>= 1) { if (items & 1) total = times(total, power); power = times(power, power); }
    return total[votes] || 0;
  };
  const voteFailure = (p, heads, n) => {
    let right = 0;
    for (let c = 1; c <= heads; c++) {
      const wrong = heads - c, chance = choose(heads, c) * (1 - p) ** c * p ** wrong;
      for (let tied = 0; tied <= Math.min(Math.floor(wrong / c), n - 1); tied++) {
        const ways = (spreads(n - 1 - tied, wrong - tied * c, c - 1) * choose(n - 1, tied)) / factorial(c) ** tied;
        right += (chance * ways * factorial(wrong)) / (n - 1) ** wrong / (tied + 1);
      }
    }
    return Math.min(Math.max(1 - right, 0), 1);
  };

  // --- views: the same data in, the same panels out as in pavlov_lib/widgets -----------------------------------------

  const series = (label, style, x, y, { line = false, points = 0, dash = false } = {}) =>
    ({ label, style, x, y, line, points: Number(points), dash });

  const counted = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
  const chance = (p) => {
    if (p >= 0.001) return `${fixed(100 * p, 1)} %`;
    if (p < 1e-12) return "less than 1 in 1,000,000,000,000";
    let scale = 1;
    while (1 / p / scale >= 100) scale *= 10;
    return `1 in ${String(Math.floor(1 / p / scale + 0.5) * scale).replace(/\B(?=(\d{3})+$)/g, ",")}`;
  };

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
        words: `After ${counted(count, "trial")} the bell alone makes the dog expect ` +
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
        words: `${counted(n, "pair")} in a memory with key dimension ${d_k}: the average pair is recalled ` +
          `with fidelity ${fixed(mean(each), 2)}, predicted ${fixed(mean(predictedEach), 2)}; ` +
          `the worst with ${fixed(worst, 2)}.`,
      };
    },
  };

  Object.assign(VIEWS, {
    depth(data, { layers, heads, n, d_k, readout }) {
      const single = headFailure(data, n, d_k, d_k);
      const q = readout === "average" ? headFailure(data, n, d_k, d_k, heads)
        : readout === "any" ? single ** heads : voteFailure(single, heads, n);
      const chains = data.luck[0].length;
      let fallen = new Array(chains).fill(false);
      const floors = data.luck.slice(0, layers).map((floor) => {
        const enters = floor.map((u, c) => !fallen[c] && (u + 0.5) / 10000 < q);
        const fates = fallen.map((was, c) => (was ? 2 : Number(enters[c])));
        fallen = fallen.map((was, c) => was || enters[c]);
        return fates;
      });
      const steps = range(layers, 1), failure = steps.map((layer) => 1 - (1 - q) ** layer);
      return {
        panels: [
          { kind: "tower", title: `${chains} chains through ${counted(layers, "layer")}`, floors },
          { kind: "lines", title: "Probability that a chain is wrong",
            x: { label: "after layer", low: 0, high: Math.max(layers, 4), whole: true },
            y: { label: "probability", low: 0, high: 1 },
            series: [
              series("predicted", "first", steps, failure, { line: true, points: layers <= 12 }),
              series("if errors just add up", "ink", steps, steps.map((layer) => Math.min(layer * q, 1)),
                { line: true, dash: true }),
              series("with a single head", "second", steps, steps.map((layer) => 1 - (1 - single) ** layer), { line: true }),
              series("these chains", "third", steps, floors.map((floor) => floor.filter((f) => f > 0).length / chains),
                { points: true }),
            ] },
        ],
        words: `One head fails with probability ${chance(single)}, a layer of ${counted(heads, "head")} with ${chance(q)}, ` +
          `and a stack of ${counted(layers, "layer")} with ${chance(failure[layers - 1])}.`,
      };
    },

    drift(data, { show, angle, reversal, rate, decay }) {
      const [keys, start, side] = ["keys", "start", "across"].map((name) => unitRows(unpackedOnce(data, name)));
      const across = unitRows(side.map((row, i) => { const along = dot(row, start[i]); return row.map((x, j) => x - along * start[i][j]); }));
      const steps = data.order.length, size = keys[0].length, cues = keys.length;
      const track = (name) => {
        const decayed = name === "hebbian+decay", S = zeros(size, size), norms = [], errors = [];
        const write = RULES[name.split("+")[0]], eta = decayed ? rate * (1 - decay ** cues) : rate;
        data.order.forEach((cue, i) => {
          const step = i + 1, sign = reversal && step >= steps / 2 ? -1 : 1;
          const c = Math.cos(angle * step), s = Math.sin(angle * step);
          const outcomes = start.map((row, m) => row.map((x, j) => sign * (c * x + s * across[m][j])));
          write(S, keys[cue], outcomes[cue], eta, decayed ? decay : 1);
          norms.push(Math.sqrt(sum(S.map((row) => dot(row, row)))));
          errors.push(mean(keys.map((key, m) => { const r = read(S, key).map((x, j) => x - outcomes[m][j]); return dot(r, r); })));
        });
        return { norms, errors };
      };
      const names = show === "all" ? Object.keys(data.trackers) : [show];
      const tracks = Object.fromEntries(names.map((name) => [name, track(name)]));
      const x = { label: "step", low: 0, high: steps, whole: true };
      const marks = reversal ? [{ x: steps / 2, label: "reversal" }] : [];
      const curves = (what) => names.map((name) => series(data.trackers[name], name, range(steps, 1), tracks[name][what], { line: true, points: 25 }));
      const last = (name, what) => tracks[name][what][steps - 1];
      return {
        panels: [
          { kind: "lines", title: "Squared error of recall", x, marks,
            y: { label: "squared error, in powers of ten", low: 0.0001, high: 1000, log: true }, series: curves("errors") },
          { kind: "lines", title: "Size of the association matrix", x, marks,
            y: { label: "norm", low: 0, high: Math.max(...names.flatMap((name) => tracks[name].norms)) * 1.05 },
            series: curves("norms") },
        ],
        words: `At step ${steps}: ` + names.map((name) => `${data.trackers[name]} error ${fixed(last(name, "errors"), 3)}, ` +
          `norm ${fixed(last(name, "norms"), 1)}`).join("; ") + ".",
      };
    },

    attention(data, { t }) {
      const [keys, values, queries] = ["keys", "values", "queries"].map((name) => unpackedOnce(data, name));
      const S = zeros(values[0].length, keys[0].length), q = queries[t - 1];
      for (let i = 0; i < t; i++) RULES.hebbian(S, keys[i], values[i]);
      const table = queries.map((query) => keys.map((key) => dot(query, key)));
      const weigh = (weights) => values[0].map((_, v) => sum(weights.map((w, j) => w * values[j][v])));
      const causal = table.map((row, i) => row.map((x, j) => (j <= i ? x : 0)));
      const matches = keys.slice(0, t).map((key) => dot(key, q));
      const ways = [["loop", read(S, q), "first"], ["table", weigh(causal[t - 1]), "second"], ["notes", weigh(matches), "third"]];
      const numbers = ways.flatMap(([, reads]) => reads), all = matches.concat(values.flat()).map(Math.abs);
      const apart = Math.max(...values[0].map((_, v) => Math.max(...ways.map(([, r]) => r[v])) - Math.min(...ways.map(([, r]) => r[v]))));
      const names = (letter, n) => range(n, 1).map((i) => letter + i);
      return {
        panels: [
          { kind: "heat", title: `Loop: the matrix S after ${counted(t, "write")}`, rows: names("v", S.length),
            columns: names("k", S[0].length), values: S, limit: Math.max(1, ...S.flat().map(Math.abs)) },
          { kind: "heat", title: "Table: match of query (row) and key (column)", rows: names("q", queries.length),
            columns: names("k", keys.length), limit: Math.max(...table.flat().map(Math.abs)),
            values: table.map((row, i) => row.map((x, j) => (j <= i && i < t ? x : null))) },
          { kind: "heat", title: `Notes: match with q${t}, times the value`, rows: names("note ", t),
            columns: ["match", "v1", "v2"], values: matches.map((m, j) => [m, ...values[j]]), limit: Math.max(...all) },
          { kind: "bars", title: `Read-out for query ${t}, three ways`,
            x: { label: "read-out", low: Math.min(0, ...numbers) - 0.1, high: Math.max(0, ...numbers) + 0.1 },
            bars: values[0].flatMap((_, v) => ways.map(([way, reads, style]) => ({ label: `r${v + 1} by ${way}`, value: reads[v], style }))) },
        ],
        words: `At time ${t} the loop, the table and the notes give the same answer, ${fixed(ways[0][1][0], 3)} and ` +
          `${fixed(ways[0][1][1], 3)}; they differ by ${apart < 1e-6 ? "less than 0.000001" : fixed(apart, 6)}.`,
      };
    },

    extinction(data, { protocol, rule, rate }) {
      const { keys, food, probes, phases } = data[protocol], S = zeros(1, keys[0].length);
      const names = probes.map(([probe]) => probe), surprise = [];
      const responses = Object.fromEntries(names.map((name) => [name, []]));
      keys.forEach((key, i) => {
        surprise.push(food[i] - read(S, key)[0]);
        RULES[rule](S, key, [food[i]], rate);
        for (const [probe, query] of probes) responses[probe].push(read(S, query)[0]);
      });
      const trials = range(keys.length, 1), x = { label: "trial", low: 0, high: keys.length, whole: true };
      const marks = phases.map((phase, i) => ({ x: i + 1, label: phase })).filter((mark, i) => !i || mark.label !== phases[i - 1]);
      const scale = (numbers) => ({ low: Math.min(0, ...numbers), high: Math.max(1, ...numbers) * 1.05 });
      const last = (xs) => fixed(xs[xs.length - 1], 2);
      return {
        panels: [
          { kind: "lines", title: "Response", x, marks,
            y: { label: "expected food", ...scale(Object.values(responses).flat()) },
            series: names.map((name, i) => series(name, ["first", "second", "third"][i], trials, responses[name], { line: true, points: true })) },
          { kind: "lines", title: "Surprise", x, marks,
            y: { label: "food that came minus food expected", ...scale(surprise) },
            series: [series("surprise", "ink", trials, surprise, { line: true, points: true })] },
        ],
        words: `Responses at the end of ${protocol}: ${names.map((name) => `${name} ${last(responses[name])}`).join(", ")}. ` +
          `The last surprise was ${last(surprise)}.`,
      };
    },

    forgetting(data, { decay, d_k }) {
      const [keys, values] = ["keys", "values"].map((name) => unitRows(unpackedOnce(data, name).map((row) => row.slice(0, d_k))));
      const context = keys.length, S = zeros(d_k, d_k), ages = range(context);
      keys.forEach((key, i) => RULES.hebbian(S, key, values[i], 1, decay));
      const measured = keys.map((key, i) => { const r = read(S, key); return dot(r, values[i]) / norm(r); }).reverse();
      const predicted = expectedFidelity("hebbian", context, d_k, d_k, 1, decay).reverse();
      const without = expectedFidelity("hebbian", context, d_k, d_k).reverse();
      const trace = ages.map((age) => decay ** age), total = dot(trace, trace);
      const noise = trace.map((w) => Math.sqrt((total - w * w) / d_k));
      const horizon = trace.filter((w, i) => w > noise[i]).length;
      const x = { label: "age: pairs written since", low: 0, high: context, whole: true };
      const marks = horizon > 0 && horizon < context ? [{ x: horizon, label: "horizon" }] : [];
      return {
        panels: [
          { kind: "lines", title: "How well each pair is recalled", x, marks,
            y: { label: "fidelity (cosine)", low: Math.min(0, ...measured), high: 1 },
            series: [
              series("measured", "hebbian+decay", ages, measured, { points: true }),
              series("predicted", "ink", ages, predicted, { line: true, dash: true }),
              series("without decay", "hebbian", ages, without, { line: true }),
            ] },
          { kind: "lines", title: "Own trace, and noise of all other pairs", x, marks,
            y: { label: "strength", low: 0, high: Math.max(1, ...noise) * 1.05 },
            series: [
              series("own trace", "first", ages, trace, { line: true }),
              series("noise", "second", ages, noise, { line: true, dash: true }),
            ] },
        ],
        words: `Of ${context} pairs, the newest pair is recalled with fidelity ${fixed(measured[0], 2)}, the oldest with ` +
          `${fixed(measured[context - 1], 2)}. The trace of the newest ${counted(horizon, "pair")} is stronger than the noise.`,
      };
    },
  });

  const unpackedTables = new WeakMap();
  const unpackedOnce = (data, name) => {
    if (!unpackedTables.has(data[name])) unpackedTables.set(data[name], unpacked(data[name]));
    return unpackedTables.get(data[name]);
  };

  // --- pictures: as in pavlov_lib/widgets/svg.py ---------------------------------------------------------------------

  const WIDTH = 360;
  const STYLES = {
    hebbian: ["#0072B2", "circle"], "hebbian+decay": ["#56B4E9", "square"], delta: ["#D55E00", "triangle"],
    oja: ["#009E73", "diamond"], softmax: ["#CC79A7", "down"], first: ["#0072B2", "circle"],
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
    down: [[0, 4.2], [-4, -3.2], [4, -3.2]],
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
        out.push(line(x, top, x, bottom, INK, 1, "2 3"), 
          text(...(x < 260 ? [x + 4, top + 10, mark.label, { size: 11 }] : [x - 4, top + 10, mark.label, { anchor: "end", size: 11 }])));
      }
      for (const s of panel.series) {
        const xs = s.x.map((x) => place(panel.x, x, left, right)), ys = s.y.map((y) => place(panel.y, y, bottom, top));
        const fill = color(s.style), shape = STYLES[s.style][1];
        if (s.line && xs.length > 1) {
          out.push(`<polyline points="${xs.map((x, i) => `${at(x)},${at(ys[i])}`).join(" ")}" fill="none" ` +
            `stroke="${fill}" stroke-width="2"${s.dash ? ' stroke-dasharray="5 4"' : ""}/>`);
        }
        if (s.points) xs.forEach((x, i) => { if (i % s.points === 0) out.push(marker(shape, x, ys[i], fill)); });
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
      const cells = [[], [], []];
      floors.forEach((chains, layer) => {
        const y = bottom - height * (layer + 1);
        if ((layer + 1) % every === 0 || layer === 0) {
          out.push(text(left - 6, y + height / 2 + 4, fixed(layer + 1, 0), { anchor: "end", size: 11 }));
        }
        chains.forEach((fate, c) => cells[fate].push([left + width * c + 0.7, y + 0.7, width - 1.4, height - 1.4]));
      });
      const y = bottom + 36;
      ["right", "error enters", "error carried on"].forEach((words, fate) => {
        const x = 12 + 108 * fate;
        cells[fate].push([x, y - 11, 14, 14]);
        out.push(cards(fate, cells[fate]), text(x + 20, y, words, { size: 11 }));
      });
      return [out.join(""), y + 10];
    },
  };
  const cards = (fate, cells) => {
    const [fill, opacity] = [[color("first"), "0.30"], [color("second"), "1.00"], [color("second"), "0.35"]][fate];
    const boxes = cells.map(([x, y, w, h]) => `M${at(x)} ${at(y)}h${at(w)}v${at(h)}h${at(-w)}z`).join("");
    const out = `<path d="${boxes}" fill="${fill}" fill-opacity="${opacity}"/>`;
    if (fate !== 1) return out;
    const crosses = cells.map(([x, y, w, h]) => `M${at(x)} ${at(y)}l${at(w)} ${at(h)}m${at(-w)} 0l${at(w)} ${at(-h)}`).join("");
    return `${out}<path d="${crosses}" fill="none" stroke="${PAPER}" stroke-width="1.5"/>`;
  };

  const WORDS = {
    lines: (panel) => `${panel.y.label} against ${panel.x.label}. ` + panel.series.map(({ label, y }) =>
      !y.length ? `${label}: nothing yet` : y.length === 1 ? `${label}: ${fixed(y[0], 2)}`
        : `${label}: from ${fixed(y[0], 2)} to ${fixed(y[y.length - 1], 2)}`).join("; ") + ".",
    bars: (panel) => panel.bars.map((bar) => `${bar.label}: ${fixed(bar.value, 2)}`).join("; ") + ".",
    heat: (panel) => panel.rows.map((name, i) => [name, panel.columns
      .map((column, j) => [column, panel.values[i][j]]).filter(([, value]) => value !== null)
      .map(([column, value]) => `${column} ${fixed(value, 2)}`)])
      .filter(([, cells]) => cells.length).map(([name, cells]) => `${name}: ${cells.join(", ")}`).join("; ") + ".",
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
