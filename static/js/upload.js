// What the upload page does beyond its form: files may be dropped, one file travels at a time to be recognised,
// and sending a large upload shows how far it is. Everything works without this script.
"use strict";
(() => {
  const LARGE = 1_000_000; // bytes from which on sending shows how far it is
  const find = (selector) => document.querySelector(selector);
  const form = find("form.upload");

  // Sending

  const showSent = (sent, total) => {
    find("#sending").hidden = total < LARGE;
    find("#sent").value = (100 * sent) / total;
    find("#sent-words").textContent = sent < total ? `Sending: ${Math.floor((100 * sent) / total)} %` : "Checking …";
  };
  const headersOf = (request) => {
    const lines = request.getAllResponseHeaders().trim().split("\r\n").filter(Boolean);
    return new Headers(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  };
  // As `fetch`, which cannot say how much of a request has been sent.
  const send = (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      const fail = () => reject(new TypeError("the request did not arrive"));
      request.open(method, url);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.addEventListener("progress", ({ loaded, total }) => showSent(loaded, total));
      request.addEventListener("load", () =>
        resolve(new Response(request.responseText || null, { status: request.status, headers: headersOf(request) })));
      for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, fail);
      request.addEventListener("loadend", () => { find("#sending").hidden = true; });
      signal?.addEventListener("abort", () => request.abort());
      request.send(body);
    });

  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    ctx.fetch = send;
    const field = ctx.sourceElement;
    if (!field.matches("input[type=file]")) return;
    for (const name of [...ctx.request.body.keys()]) {
      if (name !== field.name && name !== "csrfmiddlewaretoken") ctx.request.body.delete(name);
    }
  });

  // Dropping

  const drop = find("#drop");
  const csrf = () => find("form.upload [name=csrfmiddlewaretoken]").value;

  const recognise = async (file) => {
    const body = new FormData();
    body.append("csrfmiddlewaretoken", csrf());
    body.append("document", file);
    const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": location.href };
    const response = await send(drop.dataset.recognise, { method: "POST", headers, body });
    const elsewhere = response.headers.get("HX-Redirect");
    if (elsewhere) return void location.assign(elsewhere);
    if (response.status !== 200 && response.status !== 400) throw new TypeError(`status ${response.status}`);
    const template = document.createElement("template");
    template.innerHTML = await response.text();
    place(template.content.firstElementChild, file);
  };
  // What was said of other files is not left beside these.
  const forgetResult = () => find("#upload-result").replaceChildren();
  form.addEventListener("change", ({ target }) => {
    if (target.matches("input[type=file]")) forgetResult();
  });
  const place = (line, file) => {
    forgetResult();
    const field = line.dataset.role && document.getElementById(line.dataset.role);
    if (!field) return void find("#dropped").append(line);
    const files = new DataTransfer();
    files.items.add(file);
    field.files = files.files; // as if it had been chosen there; this fires no event, so it is not sent again
    document.getElementById(line.id).replaceWith(line);
  };

  drop.hidden = false;
  for (const name of ["dragenter", "dragover"]) {
    form.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes("Files") || event.target.matches("input[type=file]")) return;
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) drop.classList.remove("over");
  });
  form.addEventListener("drop", async (event) => {
    drop.classList.remove("over");
    if (event.target.matches("input[type=file]")) return;
    event.preventDefault();
    find("#dropped").replaceChildren();
    try {
      for (const file of [...event.dataTransfer.files]) await recognise(file);
    } catch {
      find("#notice").textContent = "A dropped file could not be checked. Nothing was stored. Try again in a moment.";
    }
  });
})();
