(() => {
  "use strict";
  const root = document.body;
  const say = root.dataset;
  const bar = document.querySelector(".bar");
  const search = document.querySelector("input");
  const status = document.querySelector("[role=status]");
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  // A cluster is one record: its mentions (first pieces), all of their pieces, its card.
  const clusters = new Map();
  const mentions = [];
  const key = (element) => {
    const article = element.closest("article");
    return article && element.dataset.c ? article.id + "c" + element.dataset.c : null;
  };
  for (const piece of document.querySelectorAll(".text .m")) {
    const cluster = key(piece);
    let record = clusters.get(cluster);
    if (cluster && !record) {
      record = { pieces: [], heads: [], card: document.getElementById(cluster) };
      clusters.set(cluster, record);
    }
    if (record) record.pieces.push(piece);
    if (piece.id) {
      if (record) record.heads.push(piece);
      mentions.push({ head: piece, pieces: [piece], record });
    }
  }
  const ofHead = new Map(mentions.map((mention) => [mention.head.id, mention]));
  for (const piece of document.querySelectorAll(".text .m[data-of]")) {
    ofHead.get(piece.dataset.of).pieces.push(piece);
  }
  const headOf = (piece) =>
    piece.id ? piece : document.getElementById(piece.dataset.of);
  const recordOf = (element) => clusters.get(key(element));

  // What is lit: the cluster under the mouse, else the chosen one.
  let chosen = null;
  let hovered = null;
  let lit = null;
  let at = null;
  const light = () => {
    const next = hovered || chosen;
    if (next === lit) return;
    for (const [record, on] of [[lit, false], [next, true]]) {
      if (!record) continue;
      for (const piece of record.pieces) piece.classList.toggle("on", on);
      record.card.classList.toggle("on", on);
    }
    lit = next;
  };
  const point = (head) => {
    if (at) for (const piece of ofHead.get(at.id).pieces) piece.classList.remove("at");
    at = head;
    if (at) for (const piece of ofHead.get(at.id).pieces) piece.classList.add("at");
  };
  const show = () => {
    bar.hidden = !chosen;
    if (!chosen) return;
    for (const name of ["number", "main"]) {
      const from = chosen.card.querySelector("." + name);
      const to = bar.querySelector("." + name);
      to.textContent = from.textContent;
      to.className = from.className;
    }
    const colour = [...chosen.card.classList].find((name) => /^k\d+$/.test(name));
    bar.className = "bar " + colour;
    const place = chosen.heads.indexOf(at) + 1;
    bar.querySelector(".place").textContent = place
      ? say.place.replace("{}", place).replace("{}", chosen.heads.length)
      : "";
  };
  const choose = (record, head) => {
    chosen = record || null;
    hovered = null;
    root.classList.toggle("chosen", Boolean(chosen));
    point(head || null);
    light();
    show();
    // The list follows, but never the page.
    const list = chosen && chosen.card.closest("aside");
    if (list && getComputedStyle(list).position === "sticky") {
      const [card, box] = [chosen.card, list].map((e) => e.getBoundingClientRect());
      if (card.top < box.top || card.bottom > box.bottom) {
        list.scrollTop += card.top - box.top - box.height / 3;
      }
    }
  };
  const scroll = (head) =>
    head.scrollIntoView({ block: "center", behavior: still.matches ? "auto" : "smooth" });
  const go = (head) => {
    head.focus({ preventScroll: true });
    choose(recordOf(head), head);
    scroll(head);
  };
  const step = (by) => {
    const heads = chosen.heads;
    const place = heads.indexOf(at);
    const next = place < 0 ? (by > 0 ? 0 : heads.length - 1) : place + by;
    go(heads[(next + heads.length) % heads.length]);
  };

  let mouse = "";
  document.addEventListener("mousemove", (event) => {
    // When the page scrolls under a mouse that rests, that is no wish.
    const place = event.clientX + " " + event.clientY;
    if (place === mouse) return;
    mouse = place;
    const over = event.target.closest(".m[data-c], .card");
    hovered = over ? recordOf(over) : null;
    light();
  });
  document.addEventListener("mouseleave", () => {
    hovered = null;
    light();
  });
  document.addEventListener("focusin", (event) => {
    const head = event.target.closest(".m");
    if (head) choose(recordOf(head), head);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".card a");
    const summary = event.target.closest("summary");
    const piece = event.target.closest(".m");
    const button = event.target.closest(".bar button");
    if (link) {
      event.preventDefault();
      go(document.getElementById(link.hash.slice(1)));
    } else if (summary) {
      // Before the browser opens or closes it.
      if (summary.parentNode.open) return choose(null);
      const record = recordOf(summary.parentNode);
      choose(record, record.heads[0]);
      scroll(at);
    } else if (piece) {
      const head = headOf(piece);
      head.focus({ preventScroll: true });
      choose(recordOf(head), head);
    } else if (button) {
      if (button.value) return step(Number(button.value));
      // The keyboard goes on from where it was.
      if (at) at.focus({ preventScroll: true });
      choose(null);
    } else if (!event.target.closest("aside, header, .bar")) {
      choose(null);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search;
    const head = event.target.closest && event.target.closest(".m, .card");
    if (event.key === "Escape") {
      if (typing && search.value) {
        search.value = "";
        find();
      } else choose(null);
    } else if (typing) {
      if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "/") {
      event.preventDefault();
      search.focus();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      // In a text from right to left the next one is to the left.
      if (head && !chosen) choose(recordOf(head), head.id && ofHead.has(head.id) ? head : null);
      if (!chosen) return;
      event.preventDefault();
      step(event.key === "ArrowLeft" ? 1 : -1);
    }
  });

  // Search: without points, marks of direction, and forms of quotes.
  const plain = (text) =>
    text
      .normalize("NFKD")
      .replace(/[\u0591-\u05bd\u05bf-\u05c7\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "")
      .replace(/[\u05f3\u2018\u2019]/g, "'")
      .replace(/[\u05f4\u201c\u201d]/g, '"')
      .replace(/[\u05be\s]+/g, " ")
      .toLowerCase();
  const texts = mentions.map((mention) =>
    plain(mention.pieces.map((piece) => piece.textContent).join(""))
  );
  let hits = [];
  let hit = -1;
  const find = () => {
    const query = plain(search.value).trim();
    hits = [];
    hit = -1;
    mentions.forEach((mention, i) => {
      const found = query !== "" && texts[i].includes(query);
      if (found) hits.push(mention);
      for (const piece of mention.pieces) piece.classList.toggle("hit", found);
    });
    const records = new Set(hits.map((mention) => mention.record));
    for (const record of clusters.values()) {
      record.card.hidden = query !== "" && !records.has(record);
    }
    records.delete(undefined);
    status.textContent =
      query === ""
        ? ""
        : say.found.replace("{}", hits.length).replace("{}", records.size);
  };
  const nextHit = (by) => {
    if (!hits.length) return;
    hit = (Math.max(hit, by > 0 ? -1 : 0) + by + hits.length) % hits.length;
    choose(hits[hit].record, hits[hit].head);
    scroll(hits[hit].head);
  };
  search.addEventListener("input", find);

  // An address with #d1m3 or #d1c3 opens the page at a mention or a cluster.
  const follow = () => {
    const mention = ofHead.get(location.hash.slice(1));
    const record = clusters.get(location.hash.slice(1));
    if (mention) go(mention.head);
    else if (record) {
      record.card.open = true;
      go(record.heads[0]);
    }
  };
  addEventListener("hashchange", follow);
  follow();
  search.closest(".find").hidden = false;
})();
