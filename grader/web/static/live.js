"use strict";
// The live pages: the board follows the server's events, buttons ask the server for something.
(() => {
  const { base, here } = document.body.dataset;
  const find = (id) => document.getElementById(id);
  const board = find("board");
  const answer = find("answer");
  let verdicts = null;
  const form = find("sentence");
  let weighed = ""; // weights and what is said of the sentence, as they stand on the page
  let at = null; // the row to work on
  let pictured = "[]"; // rows and their pictures, as they stand on the page
  let explored = null; // how many explorations have ended

  // Lets the keyboard scroll what is wider than its place, and nothing else.
  function reachable(root) {
    for (const box of root.querySelectorAll(".scroll:not([aria-label])")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  async function ask(what, row, words = "") {
    const before = explored;
    try {
      const reply = await fetch(`${base}do/${what}`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ stage: here, row, words }),
      });
      const { said } = reply.ok || reply.status === 503 ? await reply.json() : { said: await reply.text() };
      if (what === "sentence") form.querySelector("p").textContent = said;
      if (!answer || what === "open" || what === "sentence") return;
      const waits = what === "explore" && explored === before;
      answered(what === "explore" && !waits ? "" : said);
      answer.dataset.explores = waits ? "yes" : "";
    } catch {
      lost(true);
    }
  }

  function answered(said) {
    answer.textContent = said || "";
    answer.hidden = !said;
  }

  // Has a part of the board stay open or closed, as it is, when another board comes.
  function touch(key) {
    board.dataset.touched = [...new Set([...(board.dataset.touched || "").split(" "), key])].join(" ").trim();
  }

  // Takes back that an example runs, and shows what came of it.
  function endExploring() {
    if (answer.dataset.explores !== "yes") return;
    const drawn = board.querySelector('[data-key="drawn"]');
    answered(drawn ? "Your functions have run; what they give follows." : "");
    answer.dataset.explores = "";
    if (!drawn) return;
    drawn.open = true;
    touch("drawn");
    drawn.scrollIntoView({ block: "nearest" });
  }

  function lost(isLost) {
    const place = find("connection");
    place.textContent = isLost ? "The server does not answer. Is `grader serve` still running?" : "";
    place.hidden = !isLost;
  }

  // Puts the new board in place of the old one; what was open stays open, and the focus stays where it was.
  function replaceBoard(html) {
    const fresh = new DOMParser().parseFromString(html, "text/html").body;
    const states = new Map();
    for (const each of board.querySelectorAll("details[data-key]")) states.set(each.dataset.key, each.open);
    const touched = board.dataset.touched ? new Set(board.dataset.touched.split(" ")) : new Set();
    for (const each of fresh.querySelectorAll("details[data-key]")) {
      if (touched.has(each.dataset.key)) each.open = states.get(each.dataset.key) ?? each.open;
    }
    const active = document.activeElement;
    const within = board.contains(active) ? active.closest("[data-key]")?.dataset.key : null;
    const onSummary = within && active.tagName === "SUMMARY";
    board.replaceChildren(...fresh.childNodes);
    reachable(board);
    if (!within) return;
    const same = board.querySelector(`[data-key="${CSS.escape(within)}"]`);
    (onSummary ? same?.querySelector("summary") : same)?.focus({ preventScroll: true });
  }

  // Gives each item of the page, and each step in the list, the sign that its row has on the board.
  function replaceSigns() {
    const rows = new Map();
    for (const row of board.querySelectorAll("li[data-row]")) rows.set(row.dataset.row, row);
    for (const sign of document.querySelectorAll("[data-sign]")) {
      const row = rows.get(sign.dataset.sign);
      copySign(sign, row);
      const state = document.querySelector(`[data-state="${CSS.escape(sign.dataset.sign)}"]`);
      if (state) state.textContent = row ? row.dataset.words : "not checked";
    }
    for (const step of document.querySelectorAll("#steps li")) {
      const own = step.dataset.rows.split(" ").map((id) => rows.get(id)).filter(Boolean);
      const left = own.filter((row) => !row.querySelector(".kind").classList.contains("passed"));
      const begun = left.find((row) => !row.querySelector(".kind").matches(".not_started, .blocked"));
      const worst = begun ?? left[0] ?? own[0];
      copySign(step.querySelector(".kind"), worst);
      step.querySelector(".hidden").textContent = worst ? worst.dataset.words : "";
    }
  }

  function copySign(sign, row) {
    const from = row?.querySelector(".kind");
    sign.className = from ? from.className : "kind not_started";
    sign.textContent = from ? from.textContent : "\u25cb";
  }

  // Opens whatever an element is folded into.
  function unfold(element) {
    for (let each = element?.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  }

  function unfoldTarget() {
    if (location.hash) unfold(find(decodeURIComponent(location.hash.slice(1))));
  }

  const sections = () => [...document.querySelectorAll("article .section")];

  // Lets one button open all sections of the text, and close them again.
  function foldable() {
    const toggle = find("sections");
    if (!toggle || sections().every((each) => each.open)) return;
    toggle.hidden = false;
    toggle.addEventListener("click", () => {
      const isOpen = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(isOpen));
      for (const each of sections()) each.open = isOpen;
      reachable(document);
    });
  }

  // Shows what is wrong of the first row also below the item of the page that it is about.
  function replaceCard() {
    document.querySelector("article .card")?.remove();
    const first = board.querySelector("li.first[data-row]");
    const failure = first?.querySelector(".failure");
    const list = first && find(`item-${first.dataset.row}`)?.closest("ul");
    if (list && first.dataset.row !== at) unfold(list);
    at = first?.dataset.row ?? at;
    if (!failure || !list) return;
    const card = document.createElement("section");
    card.className = "card";
    card.setAttribute("aria-label", "What the last check found");
    card.append(failure.cloneNode(true));
    list.after(card);
    reachable(card);
  }

  // Puts the pictures that the learner's functions gave below the step that they are about.
  function replacePictures(drawn) {
    const known = JSON.stringify(drawn);
    if (known === pictured) return;
    pictured = known;
    for (const each of document.querySelectorAll("article .drawn-here")) each.remove();
    for (const [row, name] of [...drawn].reverse()) {
      const list = find(`item-${row}`)?.closest("ul");
      if (!list) continue;
      const figure = document.createElement("figure");
      figure.className = "drawn-here";
      const image = document.createElement("img");
      image.src = `${base}drawn/${name}`;
      image.alt = `What your functions give: ${board.querySelector(`li[data-row="${row}"]`)?.dataset.text ?? row}`;
      const words = document.createElement("figcaption");
      words.textContent = "What your functions give, drawn when you saved.";
      figure.append(image, words);
      list.after(figure);
    }
  }

  // Puts the weights of the sentence below the steps that they are about, and the field for it above the first.
  function replaceWeights({ weights, sentence }) {
    const known = JSON.stringify([weights, sentence]);
    if (known === weighed) return;
    weighed = known;
    for (const each of document.querySelectorAll("article .weights")) each.remove();
    for (const [row, html] of [...weights].reverse()) {
      const figure = new DOMParser().parseFromString(html, "text/html").querySelector("figure");
      find(`item-${row}`)?.closest("ul").after(figure);
      reachable(figure);
    }
    form.hidden = !sentence;
    form.querySelector("p").textContent = sentence;
    placeForm();
  }

  // Puts the field for a sentence above the first weights that are in sight; where there are none, below the first step.
  function placeForm() {
    if (!form || form.hidden || form.contains(document.activeElement)) return;
    const found = [...document.querySelectorAll("article .weights")];
    const first = found.find((each) => each.checkVisibility()) ?? found[0];
    if (first) first.before(form); else document.querySelector("article [data-sign]")?.closest("ul").after(form);
  }

  function replaceMarks(html) {
    const fresh = new DOMParser().parseFromString(`<ul>${html}</ul>`, "text/html");
    for (const item of fresh.querySelectorAll("li[data-stage]")) {
      const link = document.querySelector(`#stages a[href="${base}stages/${CSS.escape(item.dataset.stage)}"]`);
      link?.parentElement.querySelector(".kind")?.replaceWith(item.querySelector(".kind"));
      const words = link?.parentElement.querySelector(".hidden");
      if (words) words.textContent = item.dataset.words;
    }
  }

  async function replaceRoad() {
    const reply = await fetch(`${base}road-part`);
    if (!reply.ok) return;
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").body;
    find("main").replaceChildren(...fresh.childNodes);
    reachable(document);
  }

  function heard({ data }) {
    const frame = JSON.parse(data);
    lost(false);
    const said = find("said");
    if (said.textContent !== frame.said && !(frame.checking && said.dataset.checking)) said.textContent = frame.said;
    if (frame.checking) said.dataset.checking = "yes"; else delete said.dataset.checking;
    replaceMarks(frame.road);
    if (here === "road" && verdicts !== null && frame.verdicts !== verdicts) replaceRoad();
    verdicts = frame.verdicts;
    if (!board) return;
    find("elsewhere").hidden = frame.stage === here;
    if (frame.stage === here) {
      replaceBoard(frame.html);
      replaceSigns();
      replacePictures(frame.drawn);
      replaceWeights(frame);
      replaceCard();
    }
    if (explored !== null && explored !== frame.explored) endExploring();
    explored = frame.explored;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (button) ask(button.dataset.do, button.dataset.row || "");
  });
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    weighed = "";
    ask("sentence", "", find("words").value);
  });
  board?.addEventListener("click", (event) => {
    const key = event.target.closest("summary")?.parentElement.dataset.key;
    if (key) touch(key);
  });
  document.addEventListener("visibilitychange", () => {
    if (board && document.visibilityState === "visible" && !find("elsewhere").hidden) ask("open", "");
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) unfold(find(decodeURIComponent(link.hash.slice(1))));
  });
  window.addEventListener("hashchange", unfoldTarget);
  window.addEventListener("beforeprint", () => { for (const each of sections()) each.open = true; });
  document.addEventListener("toggle", (event) => {
    reachable(event.target);
    placeForm();
  }, true);
  if (window.matchMedia("(max-width: 56rem)").matches) {
    for (const each of document.querySelectorAll(".stages .part")) each.open = false;
  }
  unfoldTarget();
  foldable();
  reachable(document);
  document.fonts.ready.then(() => reachable(document));
  let resized = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => reachable(document), 200);
  });
  const open = board && document.visibilityState === "visible" ? ask("open", "") : Promise.resolve();
  // A browser asks again by itself where a connection breaks off, and not where it is refused once.
  function listen() {
    const events = new EventSource(`${base}events`);
    events.addEventListener("message", heard);
    events.addEventListener("error", () => {
      lost(true);
      if (events.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    });
    events.addEventListener("open", () => lost(false));
  }
  open.then(listen);
})();
