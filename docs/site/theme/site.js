/* SPDX-License-Identifier: MIT */
/* Searches lwIndex (index.js, written by finish.py): the sections of all pages with their text. Works from files. */
"use strict";
(function () {
  const MOST = 30, AROUND = 70;
  const query = document.getElementById("query"), results = document.getElementById("results");
  const menu = document.getElementById("menu"), nav = document.getElementById("nav");

  /* A section counts if it has all words; words in its title count more. */
  function score(entry, words) {
    let sum = 0;
    for (const w of words) {
      const inTitle = entry.title.toLowerCase().includes(w), inText = entry.text.toLowerCase().split(w).length - 1;
      if (!inTitle && !inText) return 0;
      sum += (inTitle ? 20 : 0) + Math.min(inText, 5);
    }
    return sum + (words.join(" ") === entry.title.toLowerCase() ? 50 : 0);
  }

  function excerpt(entry, word) {
    const at = Math.max(0, entry.text.toLowerCase().indexOf(word)), from = Math.max(0, at - AROUND);
    const line = document.createElement("small"), found = document.createElement("mark");
    found.textContent = entry.text.slice(at, at + word.length);
    line.append((from ? "…" : "") + entry.text.slice(from, at), found,
                entry.text.slice(at + word.length, at + word.length + AROUND) + "…");
    return line;
  }

  function show() {
    const words = query.value.toLowerCase().split(/\s+/).filter((w) => w.length > 1);
    results.hidden = !words.length;
    results.replaceChildren();
    if (!words.length) return;
    const hits = lwIndex.map((entry) => ({ entry, at: score(entry, words) })).filter((h) => h.at)
      .sort((a, b) => b.at - a.at).slice(0, MOST);
    for (const { entry } of hits) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = query.dataset.base + "/" + entry.location;
      link.textContent = entry.page && entry.page !== entry.title ? entry.page + ": " + entry.title : entry.title;
      link.addEventListener("click", () => { results.hidden = true; });
      item.append(link, excerpt(entry, words[0]));
      results.append(item);
    }
    if (!hits.length) results.append(Object.assign(document.createElement("li"), { textContent: "No page has these words." }));
  }

  query.addEventListener("input", show);
  query.addEventListener("keydown", (e) => {
    const first = results.querySelector("a");
    if (e.key === "Enter" && first) first.click();
    if (e.key === "ArrowDown" && first) { first.focus(); e.preventDefault(); }
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { results.hidden = true; query.blur(); }
    if (e.key !== "/" || e.target === query) return;
    query.focus();
    e.preventDefault();
  });
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", nav.classList.toggle("open")));
  const here = nav.querySelector("[aria-current]");
  if (here && nav.scrollHeight > nav.clientHeight) nav.scrollTop = here.offsetTop - nav.clientHeight / 3;
})();
