(() => {
  'use strict';
  const root = document.documentElement, tip = document.getElementById('tip');

  // Light or dark: the system's choice until the reader makes one.
  const button = document.getElementById('theme');
  const remember = { get() { try { return localStorage.getItem('orthant-theme'); } catch { return null; } },
    set(v) { try { localStorage.setItem('orthant-theme', v); } catch { /* a file without storage */ } } };
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  if (['light', 'dark'].includes(remember.get())) root.dataset.theme = remember.get();
  button.hidden = false;
  button.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; remember.set(root.dataset.theme); });

  // One tooltip for all: at the pointer, or at what has the focus.
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const width = tip.offsetWidth, right = scrollX + root.clientWidth - 8;
    tip.style.left = Math.max(scrollX + 6, Math.min(x + scrollX + 14, right - width)) + 'px';
    const above = y - tip.offsetHeight - 12;
    tip.style.top = (above > 4 ? above : y + 18) + scrollY + 'px';
  };
  const hide = () => { tip.hidden = true; };
  const told = element => {
    const owner = element.closest && element.closest('[title],[data-tip],rect.column');
    if (!owner || !owner.closest('main')) return null;
    if (owner.hasAttribute('title')) { owner.dataset.tip = owner.title; owner.removeAttribute('title'); }
    const own = owner.querySelector(':scope > title');
    if (own) { owner.dataset.tip = own.textContent; own.remove(); }
    return owner.dataset.tip ? owner : null;
  };
  document.addEventListener('pointermove', e => {
    if (e.target.closest('svg.lines')) return;
    const owner = told(e.target);
    if (owner) show(owner.dataset.tip, e.clientX, e.clientY); else hide();
  });
  document.addEventListener('focusin', e => {
    if (!e.target.matches(':focus-visible') || e.target.matches('svg.lines')) return;
    const owner = told(e.target);
    if (owner) { const box = owner.getBoundingClientRect(); show(owner.dataset.tip, box.left + box.width / 2, box.top); }
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('keydown', e => { if (e.key === 'Escape') hide(); });

  // Line charts: the nearest x of any series, and the values of all series there.
  const round = x => String(Math.abs(x) >= 1e6 || (x && Math.abs(x) < 1e-4) ? x.toExponential(3) : +x.toPrecision(6));
  for (const svg of document.querySelectorAll('svg.lines')) {
    const layer = svg.querySelector('.cursor'), view = svg.viewBox.baseVal;
    const all = [...svg.querySelectorAll('.series')].map(g => {
      const path = g.querySelector('.line'), places = [];
      if (path) for (const [, x, y] of path.getAttribute('d').matchAll(/([\d.-]+) ([\d.-]+)/g)) places.push([+x, +y]);
      return { g, name: g.dataset.name, x: g.dataset.xs.split(' ').map(Number), y: g.dataset.ys.split(' ').map(Number), places };
    }).filter(s => s.places.length);
    const scatter = all.some(s => s.g.querySelector('.none'));
    let at = null;
    const active = () => { const front = all.filter(s => !s.g.matches('.faint') || s.g.matches('.shown')); return front.length ? front : all; };
    const point = (px, anchor) => {
      let best = null;
      for (const s of active()) s.places.forEach((p, i) => { const d = Math.abs(p[0] - px); if (!best || d < best.d) best = { d, x: p[0], value: s.x[i] }; });
      if (!best) return;
      at = best.x;
      const rows = [], dots = [];
      for (const s of active()) {
        let i = -1;
        s.places.forEach((p, j) => { if (i < 0 || Math.abs(p[0] - at) < Math.abs(s.places[i][0] - at)) i = j; });
        if (Math.abs(s.places[i][0] - at) > 12) continue;
        rows.push([s.y[i], (s.name ? s.name + ': ' : '') + round(s.y[i])]);
        dots.push(`<circle cx="${s.places[i][0]}" cy="${s.places[i][1]}" r="4.5" style="fill:${getComputedStyle(s.g.querySelector('.line')).stroke}"/>`);
      }
      layer.innerHTML = `<line x1="${at}" x2="${at}" y1="16" y2="${view.height - 56}"/>` + dots.slice(0, 30).join('');
      const names = svg.dataset.names ? svg.dataset.names.split('\n') : null;
      rows.sort((a, b) => b[0] - a[0]);
      const more = rows.length > 14 ? '\n…' : '';
      const text = svg.dataset.x + ' ' + (names ? names[best.value] : round(best.value)) + '\n' + rows.slice(0, 14).map(r => r[1]).join('\n') + more;
      const box = svg.getBoundingClientRect();
      show(text, anchor ? anchor[0] : box.left + at * box.width / view.width, anchor ? anchor[1] : box.top + 30);
    };
    // Among scattered points: the nearest one.
    const pick = (px, py, anchor) => {
      let best = null;
      for (const s of all.filter(s => s.g.querySelector('.none'))) s.places.forEach((p, i) => {
        const d = Math.hypot(p[0] - px, p[1] - py);
        if (!best || d < best.d) best = { d, s, i, p };
      });
      if (!best || best.d > 40) return leave();
      layer.innerHTML = `<circle cx="${best.p[0]}" cy="${best.p[1]}" r="7" style="fill:none;stroke:currentColor"/>`;
      show(`${best.s.name}\n${svg.dataset.x} ${round(best.s.x[best.i])}\n${svg.dataset.y} ${round(best.s.y[best.i])}`, ...anchor);
    };
    const leave = () => { layer.innerHTML = ''; hide(); };
    svg.addEventListener('pointermove', e => { 
      const box = svg.getBoundingClientRect(), k = view.width / box.width, px = (e.clientX - box.left) * k;
      if (scatter) pick(px, (e.clientY - box.top) * k, [e.clientX, e.clientY]); else point(px, [e.clientX, e.clientY]);
    });
    svg.addEventListener('pointerleave', leave);
    svg.addEventListener('blur', leave);
    svg.addEventListener('keydown', e => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
      if (!step) return;
      e.preventDefault();
      const xs = [...new Set(active().flatMap(s => s.places.map(p => p[0])))].sort((a, b) => a - b);
      const now = at === null ? (step > 0 ? -1 : xs.length) : xs.indexOf(at);
      const stride = Math.max(1, Math.round(xs.length / 60)) * step;
      point(xs[Math.max(0, Math.min(xs.length - 1, now + stride))]);
    });
    // A name in the legend brings out its line.
    const items = svg.parentElement.querySelectorAll('.legend li');
    items.forEach(li => {
      const name = li.textContent;
      li.addEventListener('pointerenter', () => all.forEach(s => s.g.classList.toggle('dim', s.name !== name)));
      li.addEventListener('pointerleave', () => all.forEach(s => s.g.classList.remove('dim')));
    });
  }

  // Maps: what is under the pointer, read from the picture of the clusters itself, and its spectrum.
  const panel = document.getElementById('pixel');
  const spectrum = panel && (() => {
    const list = key => panel.dataset[key].split(' ').map(Number);
    const bytes = atob(panel.dataset.spectra), xs = list('xs'), peaks = list('peaks'), labels = list('labels');
    const step = +panel.dataset.step, columns = +panel.dataset.columns, names = panel.dataset.names.split('\n');
    const curves = panel.dataset.curves.split(',').map(text => text.split(' ').map(Number)), colours = panel.dataset.colours.split(' ');
    const svg = panel.querySelector('svg'), caption = panel.querySelector('figcaption');
    const [left, right, top, bottom] = [60, 624, 12, 200], low = Math.min(...xs), span = Math.max(...xs) - low || 1;
    return (row, column) => {
      const at = Math.floor(row / step) * columns + Math.floor(column / step), n = xs.length;
      if (!(at < peaks.length)) return;
      const own = xs.map((_, f) => bytes.charCodeAt(at * n + f) / 255 * peaks[at]), label = labels[at];
      const u = label < 0 ? [] : curves[label];
      const dot = (a, b) => a.reduce((sum, x, f) => sum + x * b[f], 0);
      const fitted = u.map(x => x * dot(own, u) / (dot(u, u) || 1));
      const most = Math.max(...own, ...fitted) || 1;
      const path = y => y.map((v, f) => (f ? 'L' : 'M') + (left + (xs[f] - low) / span * (right - left)).toFixed(1) + ' ' + (bottom - v / most * (bottom - top)).toFixed(1)).join('');
      const ticks = [0, .5, 1].map(t => `<text x="${left - 8}" y="${bottom - t * (bottom - top) + 4}" text-anchor="end">${+(t * most).toPrecision(3)}</text><path class="grid" d="M${left} ${bottom - t * (bottom - top)}H${right}"/>`
        + `<text x="${left + t * (right - left)}" y="${bottom + 20}" text-anchor="${["start", "middle", "end"][2 * t]}">${span < 10 ? +(low + t * span).toPrecision(4) : Math.round(low + t * span)}</text>`).join('');
      svg.innerHTML = ticks + `<text x="${(left + right) / 2}" y="244" text-anchor="middle">${panel.dataset.x}</text>`
        + (u.length ? `<path class="of" style="--c:${colours[label]}" d="${path(fitted)}"/>` : '') + `<path class="own" d="${path(own)}"/>`;
      const middle = (x, size) => Math.min(Math.floor(x / step) * step + (step >> 1), size - 1);
      caption.textContent = `Row ${middle(row, +panel.dataset.height)}, column ${middle(column, +panel.dataset.width)}: the pixel (line)` + (u.length ? ` and its cluster, ${names[label]} (dashed). Move over a map for others.` : ', in no cluster.');
    };
  })();
  if (spectrum) { panel.hidden = false; spectrum(panel.dataset.height >> 1, panel.dataset.width >> 1); }
  const main = document.querySelector('img[data-names]');
  const buffers = new Map();
  const pixels = img => {
    if (!buffers.has(img)) {
      const canvas = Object.assign(document.createElement('canvas'), { width: img.naturalWidth, height: img.naturalHeight });
      const context = canvas.getContext('2d', { willReadFrequently: true });
      context.drawImage(img, 0, 0);
      buffers.set(img, context.getImageData(0, 0, canvas.width, canvas.height).data);
    }
    return buffers.get(img);
  };
  for (const img of document.querySelectorAll('img[data-step]')) {
    const named = img.dataset.names ? img : main, names = named ? JSON.parse(named.dataset.names) : {};
    const step = +img.dataset.step, other = named ? +named.dataset.step : 1;
    const look = e => {
      const box = img.getBoundingClientRect();
      const within = (at, start, size, count) => Math.max(0, Math.min(count - 1, Math.floor((at - start) / size * count))) * step;
      const column = within(e.clientX, box.left, box.width, img.naturalWidth), row = within(e.clientY, box.top, box.height, img.naturalHeight);
      let name = '';
      if (named) {
        const p = 4 * (Math.floor(row / other) * named.naturalWidth + Math.floor(column / other)), all = pixels(named);
        name = names['#' + [0, 1, 2].map(c => all[p + c].toString(16).padStart(2, '0')).join('')] || '';
      }
      e.stopPropagation();
      show(`row ${row}, column ${column}\n${name}`, e.clientX, e.clientY);
      if (spectrum) spectrum(row, column);
    };
    img.addEventListener('pointermove', look);
    img.addEventListener('pointerdown', look);
    img.addEventListener('pointerleave', hide);
  }

  // Points on a map: the nearest one, its name and its cluster; a click leads to the cluster.
  for (const svg of document.querySelectorAll('svg.cloud')) {
    const view = svg.viewBox.baseVal, layer = svg.querySelector('.cursor');
    const groups = [...svg.querySelectorAll('.dots')];
    const all = groups.flatMap(g => {
      const names = g.dataset.points.split('\n');
      return [...g.querySelector('path').getAttribute('d').matchAll(/M([\d.-]+) ([\d.-]+)/g)].map(([, x, y], i) => ({ g, x: +x, y: +y, name: names[i] }));
    });
    const nearest = e => {
      const box = svg.getBoundingClientRect(), k = view.width / box.width, x = (e.clientX - box.left) * k, y = (e.clientY - box.top) * k;
      let best = null;
      for (const p of all) { const d = Math.hypot(p.x - x, p.y - y); if (d < 22 && (!best || d < best.d)) best = { ...p, d }; }
      return best;
    };
    const leave = () => { layer.innerHTML = ''; groups.forEach(g => g.classList.remove('dim')); hide(); };
    svg.addEventListener('pointermove', e => {
      e.stopPropagation();
      const p = nearest(e);
      if (!p) return leave();
      layer.innerHTML = `<circle cx="${p.x}" cy="${p.y}" r="7" style="fill:none;stroke:currentColor"/>`;
      groups.forEach(g => g.classList.toggle('dim', g !== p.g));
      show(p.name + '\n' + p.g.dataset.name, e.clientX, e.clientY);
    });
    svg.addEventListener('pointerleave', leave);
    svg.addEventListener('click', e => {
      const p = nearest(e), target = p && (document.getElementById(p.g.dataset.link) || document.getElementById('clusters'));
      if (target) target.scrollIntoView({ block: 'center' });
    });
  }

  // One of several runs, brought to the front of every chart.
  const select = document.getElementById('run');
  const choose = key => {
    document.querySelectorAll('.series[data-key]').forEach(g => {
      g.classList.toggle('shown', g.dataset.key === key && g.classList.contains('faint'));
      if (g.dataset.key === key) g.parentElement.insertBefore(g, g.parentElement.querySelector('.cursor'));
    });
    document.querySelectorAll('tr[data-key]').forEach(tr => tr.classList.toggle('shown', tr.dataset.key === key));
  };
  if (select) {
    select.closest('.screen').hidden = false;
    select.addEventListener('change', () => choose(select.value));
    document.querySelectorAll('tr[data-key]').forEach(tr => tr.addEventListener('click', () => { select.value = tr.dataset.key; choose(tr.dataset.key); }));
  }
})();
