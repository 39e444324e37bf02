// The script of the back office. Every page works without it: it adds the keyboard, dialogs,
// the sound and the undo of the board, and says when the network is gone.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const kept = { // settings of this screen
    get(name) { try { return localStorage.getItem("office." + name); } catch { return null; } },
    set(name, value) { try { localStorage.setItem("office." + name, value); } catch { } },
  };
  const board = $("#board");

  // say shows a notice; a problem is read out at once.
  function say(text, problem) {
    const p = document.createElement("p");
    p.className = problem ? "notice danger" : "notice";
    if (problem) p.setAttribute("role", "alert");
    p.textContent = text;
    const said = $("#said");
    said?.replaceChildren(p);
    if (problem) said?.scrollIntoView({ block: "nearest" });
  }

  // Forms: the button that was pressed is busy, and a second press does nothing.
  document.addEventListener("submit", event => {
    if (event.defaultPrevented) return;
    const form = event.target, button = event.submitter ?? $("button", form);
    if (form.method != "post" || form.target) return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "1";
    button?.setAttribute("aria-busy", "true");
  });
  addEventListener("pageshow", () => { // also when the page comes back from the browser's memory
    for (const form of $$("form[data-sent]")) delete form.dataset.sent;
    for (const button of $$("[aria-busy]")) button.removeAttribute("aria-busy");
  });

  // Menus close by Escape and by a press elsewhere.
  const menus = () => $$(".bar details[open], details.menu[open]");
  document.addEventListener("click", event => menus().forEach(m => m.contains(event.target) || (m.open = false)));

  // Buttons that need the script.
  const does = {
    print: () => print(),
    help: () => $("#help").showModal(),
    full: () => document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
    sound: () => { setSound(!sound.on); if (sound.on) chime(880); },
  };
  for (const button of $$("[data-do]")) {
    button.hidden = false;
    button.addEventListener("click", () => does[button.dataset.do]());
  }
  for (const dialog of $$("dialog")) {
    dialog.addEventListener("click", event => { if (event.target == dialog || event.target.closest(".close")) dialog.close(); });
  }

  // Keyboard.
  const marked = ".list td:first-child a, .card .number";
  function move(by) {
    const links = $$(marked).filter(l => l.offsetParent);
    const at = links.findIndex(l => l.closest("tr, .card") == document.activeElement?.closest("tr, .card"));
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  // act presses the button of an act: of the row or the card that has the focus, or of the page.
  function act(name) {
    const here = document.activeElement?.closest("tr, .card") ?? $("main");
    if (here.matches("main") && board) return;
    $(`form[action$="/${name}"] button, a[href$="/${name}"]`, here)?.click();
  }
  const keys = {
    "/": () => { const s = $("main [type=search]"); s ? (s.focus(), s.select()) : location.assign("/office/orders"); },
    "?": () => $("#help")?.showModal(),
    j: () => move(1), k: () => move(-1), c: () => act("confirm"), r: () => act("ready"), p: () => act("picked-up"),
  };
  const places = { b: "/office/board", o: "/office/orders", a: "/office/attention", h: "/office" };
  let went = 0; // when g was pressed
  document.addEventListener("keydown", event => {
    if (event.key == "Escape") menus().forEach(m => { m.open = false; $("summary", m).focus(); });
    if (document.body.dataset.shortcuts == "off" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, select, textarea, dialog, [contenteditable]") || $("dialog[open]")) return;
    const go = Date.now() - went < 1500 && places[event.key];
    went = event.key == "g" ? Date.now() : 0;
    const does = go ? () => location.assign(go) : keys[event.key];
    if (does && $(".bar")) { event.preventDefault(); does(); }
  });

  // Sound. Browsers play none before the first press on the page.
  const sound = { on: kept.get("sound") ? kept.get("sound") == "on" : !("muted" in document.body.dataset), player: null };
  function setSound(on) {
    sound.on = on;
    kept.set("sound", on ? "on" : "off");
    showSound();
  }
  function showSound() {
    const button = $("[data-do=sound]");
    if (!button) return;
    button.setAttribute("aria-pressed", sound.on);
    $("span", button).textContent = !sound.on ? "Sound off" : sound.player?.state == "running" ? "Sound on" : "Press for sound";
  }
  function wake() {
    sound.player ??= new AudioContext();
    sound.player.resume().then(showSound, () => { });
  }
  function chime(...tones) {
    if (!sound.on || sound.player?.state != "running") return;
    tones.forEach((tone, i) => {
      const at = sound.player.currentTime + i * 0.18, wave = sound.player.createOscillator(), loud = sound.player.createGain();
      wave.frequency.value = tone;
      loud.gain.setValueAtTime(0.0001, at);
      loud.gain.exponentialRampToValueAtTime(0.3, at + 0.02);
      loud.gain.exponentialRampToValueAtTime(0.0001, at + 0.5);
      wave.connect(loud).connect(sound.player.destination);
      wave.start(at);
      wave.stop(at + 0.5);
    });
  }

  if (!board) return;
  addEventListener("pointerdown", wake, { once: true });
  addEventListener("keydown", wake, { once: true });
  if (navigator.userActivation?.hasBeenActive) wake();
  showSound();

  // The screen stays on.
  const stayOn = () => document.visibilityState == "visible" && navigator.wakeLock?.request("screen").catch(() => { });
  document.addEventListener("visibilitychange", stayOn);
  stayOn();

  // Ages go on by the server's clock.
  let skew = board.dataset.now - Date.now(), heard = Date.now(), red = null;
  const words = m => m < 60 ? m + " min" : m < 1440 ? Math.floor(m / 60) + " h " + m % 60 + " min" : Math.floor(m / 1440) + " d";
  function ages() {
    const now = new Set();
    for (const age of $$("[data-paid]", board)) {
      const minutes = Math.max(0, Math.floor((Date.now() + skew - age.dataset.paid) / 60000)), late = +age.dataset.late;
      const text = words(minutes), look = minutes >= 2 * late ? "age red" : minutes >= late ? "age amber" : "age";
      if (age.textContent != text) age.textContent = text;
      if (age.className != look) age.className = look;
      if (look == "age red") now.add(age.closest(".card").id);
    }
    if (red && [...now].some(id => !red.has(id))) chime(440, 440); // once for each card that turns red
    red = new Set([...now, ...(red ?? [])]);
  }

  // News: a chime and the count in the title when an order comes.
  const title = document.title;
  let known = null;
  function news() {
    const ids = $$("#col-new > .card").map(c => c.id), more = known ? ids.filter(id => !known.has(id)).length : 0;
    known = new Set([...ids, ...(known ?? [])]);
    const count = +$("#n-new").textContent;
    document.title = count ? `(${count}) ${title}` : title;
    if (!more) return;
    chime(660, 880);
    say(more == 1 ? "1 new order" : more + " new orders");
  }

  // Cards that left keep their room while the pointer is over their column, so that nothing
  // moves beneath it.
  const heights = new Map();
  function rooms() {
    for (const gone of $$(".gone", board)) {
      if (!gone.closest(".cards").matches(":hover")) gone.remove();
      else if (heights.has(gone.dataset.was)) gone.style.minHeight = heights.get(gone.dataset.was) + "px";
    }
  }

  // Undo: Ready and Picked up wait five seconds, or until the page is left.
  const held = new Map(); // by the card's id
  function mark() { for (const card of $$(".card", board)) card.classList.toggle("held", held.has(card.id)); }
  async function send(form) {
    const body = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(form.action, { method: "POST", body, keepalive: true, headers: { "X-Office-Quiet": "1" } });
      if (answer.ok) return;
      if (answer.status == 401) return location.reload();
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      say($("[role=alert]", page)?.textContent ?? $("main p", page)?.textContent ?? "This did not work. Nothing was changed.", true);
    } catch {
      say("The network is gone. It is not known whether the last press took effect; the board will show it.", true);
    }
  }
  function hold(form) {
    const card = form.closest(".card"), line = document.createElement("p"), undo = document.createElement("button");
    if (held.has(card.id)) return;
    const copy = form.cloneNode(true); // the card may be replaced meanwhile
    line.className = "notice";
    line.append(form.dataset.undo + " ", undo);
    undo.type = "button";
    undo.textContent = "Undo";
    undo.addEventListener("click", () => end(false));
    const timer = setTimeout(() => end(true), 5000);
    function end(doIt) {
      clearTimeout(timer);
      held.delete(card.id);
      line.remove();
      mark();
      if (doIt) send(copy);
    }
    held.set(card.id, end);
    $("#held").append(line);
    mark();
  }
  addEventListener("pagehide", () => held.forEach(end => end(true)));

  document.addEventListener("submit", event => {
    const form = event.target;
    if (form.method != "post" || !form.closest("#board, #ask")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.dataset.undo) return hold(form);
    $("#ask").close();
    send(form);
  }, true);
  board.addEventListener("click", event => {
    const link = event.target.closest("[data-ask]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const ask = $("#ask"), form = $("form", ask);
    form.action = link.href;
    $("p", form).textContent = link.dataset.ask;
    ask.showModal();
  });

  // On a phone one column is shown.
  $(".columns-tabs").addEventListener("click", event => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    for (const a of $$(".columns-tabs a")) a == link ? a.setAttribute("aria-current", "true") : a.removeAttribute("aria-current");
    for (const c of $$(".col")) c.classList.toggle("current", c.id == link.dataset.column);
    history.replaceState(null, "", link.href);
  });

  // The stream.
  const lost = $("#lost"), clock = at => new Date(at).toTimeString().slice(0, 8);
  const hear = () => { heard = Date.now(); lost.hidden = true; };
  board.addEventListener("tick", event => { skew = event.detail.data - Date.now(); hear(); });
  board.addEventListener("htmx:sse:before:message", () => {
    heights.clear();
    for (const card of $$(".cards:hover > .card", board)) heights.set(card.id, card.offsetHeight);
  });
  board.addEventListener("htmx:sse:after:message", event => {
    hear();
    if (event.detail.message.event) return;
    rooms();
    mark();
    ages();
    news();
  });
  board.addEventListener("htmx:sse:error", event => { if (event.detail.status == 401) location.reload(); });
  setInterval(() => {
    if (Date.now() - heard > 5000) {
      const text = "Connection lost, showing " + clock(heard);
      if (lost.textContent != text) lost.textContent = text;
      lost.hidden = false;
    }
    rooms();
    ages();
  }, 1000);
  ages();
  news();
})();
