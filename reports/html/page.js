"use strict";
(() => {
  const all = (query, within) => Array.from((within || document).querySelectorAll(query));
  const one = (id) => document.getElementById(id);

  // The theme: the system's, until the reader chooses another. A browser may refuse to remember it.
  const root = document.documentElement;
  const theme = one("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const label = () => {
    theme.textContent = chosen() === "dark" ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Change to the ${theme.textContent.toLowerCase()} theme`);
  };
  try {
    const kept = localStorage.getItem("clonediff-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* not remembered */ }
  theme.hidden = false;
  label();
  dark.addEventListener("change", label);
  theme.addEventListener("click", () => {
    root.dataset.theme = chosen() === "dark" ? "light" : "dark";
    try { localStorage.setItem("clonediff-theme", root.dataset.theme); } catch { /* not remembered */ }
    label();
  });

  // Copying: the clipboard where the browser allows it to a file, and a selection where it does not.
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return selection;
  };
  const copy = async (element) => {
    try {
      await navigator.clipboard.writeText(element.textContent);
      return true;
    } catch {
      const selection = select(element);
      const done = document.execCommand("copy");
      if (done) selection.removeAllRanges();
      return done;
    }
  };
  for (const button of all("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const done = await copy(button.parentElement.querySelector("code"));
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // Findings: sorted and searched by the data beside the page, not by what is shown.
  const rows = JSON.parse(one("data").textContent).map((row, place) => ({ ...row, place, element: one(row.id) }));
  const list = one("list");
  const tools = one("tools");
  const collator = new Intl.Collator(undefined, { numeric: true });
  const compare = (a, b) => (typeof a === "number" ? a - b : collator.compare(String(a), String(b)));
  if (tools) {
    tools.hidden = false;
    const search = one("search");
    const sort = one("sort");
    const reverse = one("reverse");
    const open = one("open-all");
    const shown = one("shown");
    const arrange = () => {
      const key = sort.value;
      const down = reverse.getAttribute("aria-pressed") === "true" ? -1 : 1;
      const ordered = [...rows].sort((a, b) => down * compare(a[key], b[key]) || a.place - b.place);
      list.append(...ordered.map((row) => row.element));
    };
    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        if (words.length && row.script === undefined) row.script = row.element.querySelector("code").textContent.toLowerCase();
        const fits = words.every((word) => row.text.includes(word) || row.script.includes(word));
        row.element.hidden = !fits;
        count += fits;
      }
      one("no-match").hidden = count > 0;
      shown.textContent = words.length ? `${count} of ${rows.length} findings` : `${rows.length} findings`;
    };
    sort.addEventListener("change", arrange);
    reverse.addEventListener("click", () => {
      reverse.setAttribute("aria-pressed", String(reverse.getAttribute("aria-pressed") !== "true"));
      arrange();
    });
    search.addEventListener("input", filter);
    open.addEventListener("click", () => {
      const opening = open.textContent === "Open all";
      for (const row of rows) if (!row.element.hidden) row.element.firstElementChild.open = opening;
      open.textContent = opening ? "Close all" : "Open all";
    });
    document.addEventListener("keydown", (event) => {
      const writing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
      if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
      } else if (event.key === "Escape" && document.activeElement === search) {
        search.value = "";
        filter();
      }
    });
    // A browser may bring back what stood in the boxes when the page is loaded again.
    arrange();
    filter();
  }

  // A link to a finding opens it, also where it is filtered away.
  const follow = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it is */ }
    const element = one(id);
    if (!element || !element.matches(".finding:not(.unreadable)")) return;
    element.hidden = false;
    element.firstElementChild.open = true;
    element.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  // Tables: a button in each head sorts by its column.
  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (row) => {
          const text = row.cells[column].dataset.sort || row.cells[column].textContent;
          return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
        };
        const ordered = Array.from(body.rows, (row, place) => ({ row, place, value: value(row) }));
        ordered.sort((a, b) => {
          const alike = typeof a.value === typeof b.value;
          const order = alike ? compare(a.value, b.value) : typeof a.value === "number" ? -1 : 1;
          return (up ? order : -order) || a.place - b.place;
        });
        body.append(...ordered.map((each) => each.row));
      });
    });
  }
})();
