// Pages work without this script. It copies code, remembers the language that a reader chose,
// and sends calls with a test key.
"use strict";

const storeName = "purveyor-docs-language";

function el(name, text, className) {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

// Copying.
if (navigator.clipboard) {
  for (const code of document.querySelectorAll(".code")) {
    const button = el("button", "Copy", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.querySelector("code").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.append(button);
  }
}

// The language of all samples.
function choose(language) {
  for (const input of document.querySelectorAll(".tablist input")) {
    if (input.value === language) input.checked = true;
  }
}

try {
  choose(localStorage.getItem(storeName));
} catch { /* the browser keeps nothing */ }

document.addEventListener("change", (event) => {
  if (!event.target.matches(".tablist input")) return;
  const top = event.target.getBoundingClientRect().top;
  choose(event.target.value);
  window.scrollBy(0, event.target.getBoundingClientRect().top - top);
  try {
    localStorage.setItem(storeName, event.target.value);
  } catch { /* as above */ }
});

// The menu shows where the page is.
document.querySelector("#menu [aria-current]")?.scrollIntoView({ block: "nearest" });

// Trying a call. The key is in the form alone.
function request(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const input of form.elements) {
    const name = input.dataset.name;
    switch (input.dataset.in) {
      case "key": headers["x-api-key"] = input.value.trim(); break;
      case "path": path = path.replace("{" + name + "}", encodeURIComponent(input.value.trim())); break;
      case "query": if (input.value.trim()) query.set(name, input.value.trim()); break;
      case "body": body = input.value; headers["Content-Type"] = "application/json"; break;
    }
  }
  if ("keyed" in form.dataset) headers["Idempotency-Key"] = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2);
  const search = query.toString();
  return [path + (search ? "?" + search : ""), { method: form.dataset.method, headers, body, redirect: "error", cache: "no-store" }];
}

function answer(box, status, bad, lines, text) {
  const code = el("div", "", "code");
  const pre = el("pre", "");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "Answer");
  pre.append(el("code", text));
  code.append(pre);
  const head = el("p", "");
  head.append(el("b", status, bad ? "bad" : ""));
  for (const line of lines) head.append(document.createElement("br"), el("small", line));
  box.replaceChildren(head, code);
}

async function send(form, box) {
  const [path, options] = request(form);
  const began = performance.now();
  const reply = await fetch(path, options);
  let text = await reply.text();
  try {
    text = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* it is no JSON */ }
  const lines = [`${options.method} ${path}, ${Math.round(performance.now() - began)} ms`];
  for (const name of ["x-trace-id", "idempotent-replayed", "retry-after", "ratelimit-remaining"]) {
    if (reply.headers.has(name)) lines.push(`${name}: ${reply.headers.get(name)}`);
  }
  answer(box, `${reply.status} ${reply.statusText}`, !reply.ok, lines, text);
}

for (const part of document.querySelectorAll(".try")) {
  const form = part.querySelector("form"), box = part.querySelector(".result"), button = form.querySelector("button");
  part.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await send(form, box);
    } catch (error) {
      answer(box, "No answer", true, [], String(error));
    }
    button.disabled = false;
  });
}
