"use strict";
(() => {
  const tip = document.getElementById("tip");
  const say = (target, x, y) => {
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + box.height + 24 > innerHeight ? Math.max(8, y - box.height - 12) : y + 18) + "px";
  };
  const hush = () => { tip.hidden = true; };
  // Native titles are slow and never show on touch; without this script they still work.
  const tipped = (event) => {
    const target = event.target.closest && event.target.closest("[title],[data-tip]");
    if (target && target.title) { target.dataset.tip = target.title; target.removeAttribute("title"); }
    return target && target.dataset.tip ? target : null;
  };
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const target = tipped(event);
    if (target) say(target, event.clientX, event.clientY); else hush();
  });
  document.addEventListener("focusin", (event) => {
    const target = tipped(event);
    if (!target) return hush();
    const box = target.getBoundingClientRect();
    say(target, box.left, box.bottom - 10);
  });
  document.addEventListener("focusout", hush);
  document.addEventListener("scroll", hush, { passive: true, capture: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });
  // On touch the first tap tells, the second follows the link.
  let last = null, touch = false;
  document.addEventListener("pointerdown", (event) => { touch = event.pointerType === "touch"; }, true);
  document.addEventListener("click", (event) => {
    const target = tipped(event);
    if (!touch || !target || target === last) { last = null; return; }
    event.preventDefault();
    last = target;
    const box = target.getBoundingClientRect();
    say(target, box.left, box.bottom - 10);
  }, true);

  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target && target.matches("details.test")) { target.hidden = false; target.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#t']");
    if (link && !event.defaultPrevented && link.getAttribute("href") === location.hash) open();
  });
  open();

  // One filter for matrix, intervals and tests: a test is shown where one of its cells has the verdict and the size
  // asked for.
  const bar = document.getElementById("filter");
  const tools = document.getElementById("tools");
  const tests = [...document.querySelectorAll("details.test")];
  const rows = [...document.querySelectorAll("#results tr[data-test]")];
  const filter = () => {
    const name = document.getElementById("find").value.trim().toLowerCase();
    const verdict = bar.elements.v.value, least = Number(bar.elements.c.value);
    const on = name !== "" || verdict !== "" || least > 0;
    const fits = ({ dataset }) =>
      (verdict === "" || verdict.split(" ").includes(dataset.v)) && (least === 0 || Number(dataset.c) >= least);
    const shown = new Set();
    for (const row of rows) {
      const cells = "v" in row.dataset ? [row] : [...row.querySelectorAll("td[data-v]")];
      cells.forEach((cell) => cell.classList.toggle("out", !fits(cell)));
      row.hidden = !(row.dataset.name.toLowerCase().includes(name) && cells.some(fits));
      if (!row.hidden) shown.add(row.dataset.test);
    }
    // What sums up a group says nothing of those of its tests that are left.
    document.querySelectorAll("#results tr.median").forEach((row) => { row.hidden = on; });
    const hollow = (element, inside) => { element.hidden = on && !element.querySelector(inside + ":not([hidden])"); };
    document.querySelectorAll("#results tbody").forEach((body) => hollow(body, "tr[data-test]"));
    document.querySelectorAll("#results .scroller, details.intervals").forEach((part) => hollow(part, "tbody"));
    tests.forEach((test) => { test.hidden = on && !shown.has(test.id); });
    for (const list of document.querySelectorAll(".list")) {
      hollow(list, ".test");
      list.previousElementSibling.hidden = list.hidden;
      const left = list.querySelectorAll(".test:not([hidden])").length, all = list.children.length;
      list.previousElementSibling.querySelector(".count").textContent = left === all ? all : left + " of " + all;
    }
    for (const line of document.querySelectorAll(".filtered")) {
      line.hidden = !on;
      line.firstElementChild.textContent = shown.size + " of " + tests.length + " " + bar.dataset.noun + " shown.";
    }
  };
  const sort = () => {
    const by = document.getElementById("sort").value;
    for (const list of document.querySelectorAll(".list")) {
      const key = (test) => (by === "rank" ? 0 : -Number(test.dataset[by])) || 0;
      const order = (a, b) => key(a) - key(b) || Number(a.dataset.rank) - Number(b.dataset.rank);
      [...list.children].sort(order).forEach((test) => list.append(test));
    }
  };
  tools.hidden = false;
  tools.addEventListener("submit", (event) => event.preventDefault());
  bar.hidden = rows.length === 0;
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.addEventListener("input", filter);
  document.querySelectorAll(".filtered button").forEach((button) => {
    button.addEventListener("click", () => { bar.reset(); filter(); bar.scrollIntoView({ block: "nearest" }); });
  });
  document.getElementById("sort").addEventListener("change", sort);
  document.getElementById("all").addEventListener("click", (event) => {
    const opening = tests.some((test) => !test.hidden && !test.open);
    tests.forEach((test) => { if (!test.hidden) test.open = opening; });
    event.target.textContent = opening ? "Close all" : "Open all";
  });

  // Flame graphs: a frame can be zoomed into, one build shown alone, a function found. Frames stand in the order in
  // which they call each other, each one deeper than its caller.
  for (const flame of document.querySelectorAll(".flame")) {
    const tools = flame.querySelector("form"), said = flame.querySelector(".said"), find = tools.querySelector(".hit");
    const frames = [...flame.querySelectorAll(".fr")].map((box) => {
      const [name, text] = [box.querySelector("text"), box.querySelector("title")].map((part) => part.textContent);
      const { d, w, b, o } = box.dataset;
      return { box, name, text, depth: Number(d), w: Number(w), b: Number(b), o: Number(o), up: null, down: [] };
    });
    const of = new Map(frames.map((frame) => [frame.box, frame]));
    const path = [];
    for (const frame of frames) {
      path.length = frame.depth;
      frame.up = path[frame.depth - 1] || null;
      if (frame.up) frame.up.down.push(frame);
      path.push(frame);
    }
    const tops = frames.filter((frame) => !frame.up);
    let zoomed = null, by = "w";
    const place = (frame, left, width) => {
      frame.box.setAttribute("x", left + "%");
      frame.box.setAttribute("width", width + "%");
      frame.box.style.display = width < 0.05 ? "none" : "";
      let next = left;
      for (const below of frame.down) {
        const part = frame[by] ? width * below[by] / frame[by] : 0;
        place(below, next, part);
        next += part;
      }
    };
    const draw = () => {
      frames.forEach((frame) => { frame.box.style.display = "none"; frame.box.classList.remove("above"); });
      if (zoomed) {
        place(zoomed, 0, 100);
        for (let up = zoomed.up; up; up = up.up) {
          up.box.setAttribute("x", "0%");
          up.box.setAttribute("width", "100%");
          up.box.style.display = "";
          up.box.classList.add("above");
        }
      } else {
        const whole = tops.reduce((sum, frame) => sum + frame[by], 0) || 1;
        let next = 0;
        for (const frame of tops) { place(frame, next, 100 * frame[by] / whole); next += 100 * frame[by] / whole; }
      }
    };
    const zoom = (frame) => { zoomed = frame && frame.up ? frame : null; draw(); };
    const say = (frame) => { said.textContent = frame.text; };
    const search = () => {
      const word = find.value.trim().toLowerCase();
      const fits = (frame) => word !== "" && frame.name.toLowerCase().includes(word);
      let base = 0, own = 0;
      for (const frame of frames) {
        frame.box.classList.toggle("hit", fits(frame));
        let up = frame.up;
        while (up && !fits(up)) up = up.up;
        // What is below a frame that was found is in its time.
        if (fits(frame) && !up) { base += frame.b; own += frame.o; }
      }
      const us = (ns) => (ns / 1000).toPrecision(3) + " µs";
      said.textContent = word === "" ? "" : "found: " + us(base) + " → " + us(own);
    };
    const go = (frame) => {
      if (!frame || frame.box.style.display === "none") return;
      frames.forEach((other) => other.box.setAttribute("tabindex", other === frame ? "0" : "-1"));
      frame.box.focus();
    };
    const beside = (frame, step) => {
      const row = (frame.up ? frame.up.down : tops).filter((other) => other.box.style.display !== "none");
      return row[row.indexOf(frame) + step];
    };
    const moves = {
      ArrowUp: (frame) => go(frame.up),
      ArrowDown: (frame) => go(frame.down.find((below) => below.box.style.display !== "none")),
      ArrowLeft: (frame) => go(beside(frame, -1)),
      ArrowRight: (frame) => go(beside(frame, 1)),
      Enter: (frame) => zoom(frame),
      " ": (frame) => zoom(frame),
      Escape: () => zoom(null),
    };
    const drawing = flame.querySelector(".graph");
    const frameOf = (event) => of.get(event.target.closest(".fr"));
    drawing.addEventListener("click", (event) => { const frame = frameOf(event); if (frame) { zoom(frame); go(frame); } });
    drawing.addEventListener("pointerover", (event) => { const frame = frameOf(event); if (frame) say(frame); });
    drawing.addEventListener("focusin", (event) => { const frame = frameOf(event); if (frame) say(frame); });
    drawing.addEventListener("keydown", (event) => {
      const frame = frameOf(event), move = moves[event.key];
      if (!frame || !move) return;
      event.preventDefault();
      move(frame);
    });
    tools.hidden = false;
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.addEventListener("change", (event) => {
      if (event.target.type === "radio") { by = event.target.value; draw(); }
    });
    find.addEventListener("input", search);
    tools.querySelector(".unzoom").addEventListener("click", () => { find.value = ""; search(); zoom(null); });
    if (tops[0]) tops[0].box.setAttribute("tabindex", "0");
  }

  // A build's name in a test's key lifts its lines out of the others.
  for (const event of ["pointerover", "pointerout"]) {
    document.addEventListener(event, (found) => {
      const key = found.target.closest && found.target.closest(".key.series [data-s]");
      if (!key) return;
      const body = key.closest(".body, #users");
      body.classList.toggle("hot", event === "pointerover");
      for (const line of body.querySelectorAll(".s")) {
        line.classList.toggle("on", event === "pointerover" && line.dataset.s === key.dataset.s);
      }
    });
  }
})();
