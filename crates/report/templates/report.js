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

  const tools = document.getElementById("tools");
  const tests = [...document.querySelectorAll("details.test")];
  const filter = () => {
    const name = document.getElementById("find").value.trim().toLowerCase();
    const wanted = [...tools.querySelectorAll("[name=v]:checked")].map((box) => box.value);
    let shown = 0;
    for (const test of tests) {
      const verdicts = test.dataset.v.split(" ");
      const fits = !test.dataset.v || wanted.some((verdict) => verdicts.includes(verdict));
      test.hidden = !(fits && test.dataset.name.toLowerCase().includes(name));
      if (!test.hidden) shown += 1;
    }
    document.getElementById("nothing").hidden = shown > 0;
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
  tools.addEventListener("input", filter);
  document.getElementById("sort").addEventListener("change", sort);
  document.getElementById("all").addEventListener("click", (event) => {
    const opening = tests.some((test) => !test.hidden && !test.open);
    tests.forEach((test) => { if (!test.hidden) test.open = opening; });
    event.target.textContent = opening ? "Close all" : "Open all";
  });

  // A build's name in a test's key lifts its lines out of the others.
  for (const event of ["pointerover", "pointerout"]) {
    document.addEventListener(event, (found) => {
      const key = found.target.closest && found.target.closest(".key.series [data-s]");
      if (!key) return;
      const body = key.closest(".body");
      body.classList.toggle("hot", event === "pointerover");
      for (const line of body.querySelectorAll(".s")) {
        line.classList.toggle("on", event === "pointerover" && line.dataset.s === key.dataset.s);
      }
    });
  }
})();
