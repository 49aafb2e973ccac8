// What the pages do beyond plain forms: keyboard shortcuts, focus, drafts of rationales, and words for failures.
// Everything works without this script; decisions are made by forms, never by a key that prints a character.
"use strict";
(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Messages

  const FAILURES = {
    0: "The server could not be reached. Nothing was decided and your text is still here. Try again in a moment.",
    403: "You may not do this. Nothing was changed and your text is still here.",
    404: "This is not here any more. Load the page again to see what is.",
    500: "Something went wrong on the server. Nothing was changed and your text is still here. Try again.",
    503: "The database does not answer. Nothing was changed and your text is still here. Try again in a moment.",
  };
  const INTERRUPTED = "Your sign-in ended before your decision arrived, so nothing was decided. Your text is kept: read it again, then decide.";
  const OVERTAKEN = "Your sign-in ended before your decision arrived, so it was not recorded, and this claim takes none from you now. You had typed: ";
  const NOT_LIVE = "What colleagues decide does not arrive at the moment: the server does not answer.";
  const WHICH_BY_KEY = "Approve or Block? Press Escape, go to Approve with a or to Block with b, then press Enter.";
  const WHICH = "Approve or Block? Go to one of them with Tab, then press Enter.";
  const RESTORED = "What you typed before is back in its field. Nothing was decided.";
  const NOTHING_THERE = { approve: "Nothing to approve here.", block: "Nothing to block here.", rationale: "Nothing to write here." };
  const announce = (text) => { find("#announcement").textContent = text; };
  // A status is seen and heard; it need not stay. A notice of a failure stays until the next request.
  let fading = 0;
  new MutationObserver(() => {
    clearTimeout(fading);
    fading = setTimeout(() => announce(""), 8_000);
  }).observe(find("#announcement"), { childList: true });
  const giveNotice = (text) => { find("#notice").textContent = text; };
  // Toasts stand beside the forms, and at the other end of the window where they would hide the focus.
  const toasts = find(".toasts");
  const hidesFocus = () => {
    const [toast, focus] = [toasts, document.activeElement].map((element) => element.getBoundingClientRect());
    return toast.height > 0 && toast.left < focus.right && focus.left < toast.right && toast.top < focus.bottom && focus.top < toast.bottom;
  };
  const keepClear = () => {
    toasts.classList.remove("away");
    if (toasts.contains(document.activeElement) || !hidesFocus()) return;
    toasts.classList.add("away");
    toasts.classList.toggle("away", !hidesFocus());
  };
  new MutationObserver(keepClear).observe(toasts, { childList: true, subtree: true });
  for (const happening of ["focusin", "scroll", "resize"]) addEventListener(happening, keepClear, { passive: true, capture: true });
  // What a page asks for by itself: changes by colleagues, and whether the sign-in is about to end.
  const isUnasked = ({ detail }) => detail.ctx?.sourceElement.matches("#live, #sign-in-timer");

  // Drafts: no typed word is lost

  const draftKey = (draft) => `draft/${document.body.dataset.person}/${draft}`; // of “review/position”
  const restoreDrafts = () => {
    let restored = false;
    for (const field of findAll("[data-draft]")) {
      const draft = sessionStorage.getItem(draftKey(field.dataset.draft));
      if (draft === null || field.value !== field.defaultValue) continue;
      field.value = draft; // it is newer than what the page came with
      restored ||= draft.trim() !== "" && draft !== field.defaultValue;
    }
    for (const card of findAll("[data-review] .card")) tellOfDraft(card);
    return restored;
  };
  document.addEventListener("input", ({ target }) => {
    if (target.matches("[data-draft]")) sessionStorage.setItem(draftKey(target.dataset.draft), target.value);
  });
  // A text that no field of the page shows, because its claim is closed or takes no decision any more, is told of.
  const draftOf = (card) => draftKey(`${card.closest("[data-review]").dataset.review}/${card.id.slice("claim-".length)}`);
  const tellOfDraft = (card) => {
    const text = sessionStorage.getItem(draftOf(card))?.trim();
    const field = find("[data-draft], textarea[readonly]", card);
    find(".unsent", card)?.remove();
    if (!text || (field && !field.closest("[hidden]"))) return;
    const told = Object.assign(document.createElement("p"), { className: "unsent", textContent: `You typed here, and did not send: “${text}” ` });
    told.append(Object.assign(document.createElement("button"), { type: "button", className: "quiet discard", textContent: "Discard" }));
    find(".card-head", card).append(told);
  };

  // A decision that found the sign-in ended, or the page older than it: back on the page, the work goes on at its text.
  const interruptedKey = `interrupted/${document.body.dataset.person}`;
  document.addEventListener("htmx:before:response", ({ detail }) => {
    const text = find("textarea[data-draft]", detail.ctx.sourceElement);
    if (text && detail.ctx.response.headers.get("HX-Redirect")) {
      sessionStorage.setItem(interruptedKey, JSON.stringify({ id: text.id, typed: text.value }));
    }
  });
  const resumeInterrupted = () => {
    const { id, typed } = JSON.parse(sessionStorage.getItem(interruptedKey) ?? "{}");
    const card = id && document.getElementById(id.replace("-rationale", ""));
    if (!card) return false;
    sessionStorage.removeItem(interruptedKey);
    const said = find("#main > .message.warning"); // by the server, at the top of the page
    const text = document.getElementById(id);
    (text ?? card).focus({ preventScroll: true });
    (text ?? card).scrollIntoView({ block: text ? "center" : "start" });
    // A live region is read when it changes while the page stands, not while it comes.
    setTimeout(() => giveNotice(said?.textContent ?? (text ? INTERRUPTED : OVERTAKEN + typed)), 300);
    said?.remove();
    return true;
  };

  // Cards

  let wish = null; // where the focus should go in a card that is being opened: {card id, name of the place}

  const currentCard = () =>
    document.activeElement.closest(".card") ?? find(".card[data-undecided]") ?? find(".card");
  const rememberOpen = (card) => {
    const open = card && find(".toggle[aria-expanded=true]", card);
    history.replaceState(history.state, "", open ? `?claim=${card.id.slice("claim-".length)}` : location.pathname);
  };
  const show = (card, open) => {
    find(".card-body", card).hidden = !open;
    find(".toggle", card).setAttribute("aria-expanded", String(open));
    rememberOpen(card);
    tellOfDraft(card);
  };
  const toggle = (card) => find(".toggle", card)?.click();

  // The evidence is fetched once; after that, opening and closing stay in the page.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.toggle");
    const card = link?.closest(".card");
    if (!card || !find(".card-body", card) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    show(card, find(".card-body", card).hidden);
  }, true);

  document.addEventListener("click", (event) => {
    const unavailable = event.target.closest("[aria-disabled=true]");
    if (unavailable) {
      event.preventDefault();
      announce(document.getElementById(unavailable.getAttribute("aria-describedby"))?.textContent ?? "");
    } else if (event.target.closest("[data-dialog]")) {
      event.preventDefault();
      find(`#${event.target.closest("[data-dialog]").dataset.dialog}`).showModal();
    } else if (event.target.matches(".discard")) {
      const card = event.target.closest(".card");
      sessionStorage.removeItem(draftOf(card));
      tellOfDraft(card);
      card.focus({ preventScroll: true });
      announce("The text is discarded.");
    } else if (event.target.closest(".card-head") && !event.target.closest("a, button, form")) {
      if (!String(getSelection())) toggle(event.target.closest(".card"));
    }
  });

  // Of a card taller than the window, its top. The browser leaves out what the style sheet keeps free at both ends.
  const bringIntoView = (card) => {
    const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(document.documentElement);
    const room = innerHeight - parseFloat(scrollPaddingTop) - parseFloat(scrollPaddingBottom);
    card.scrollIntoView({ block: card.offsetHeight > room ? "start" : "nearest", behavior: "instant" });
  };
  const focusOn = (element) => {
    const isCard = element?.matches(".card");
    element?.focus({ preventScroll: isCard });
    if (isCard) bringIntoView(element);
    return Boolean(element);
  };
  const goTo = (name) => {
    const card = currentCard();
    if (!card) return false;
    const body = find(".card-body", card);
    if (!body) {
      wish = { card: card.id, name };
      toggle(card);
      return true;
    }
    if (body.hidden) show(card, true);
    return headFor(card, name);
  };
  const headFor = (card, name) => {
    const there = place(card, name);
    if (!there) announce(NOTHING_THERE[name]);
    return focusOn(there ?? card);
  };
  // The button that was headed for is remembered with the form, for Ctrl+Enter in its rationale.
  let lastSent = null; // the form and the button of the last decision that was sent
  document.addEventListener("submit", ({ target, submitter }) => {
    if (!target.matches(".decide")) return;
    lastSent = { form: target.id, outcome: submitter?.value };
    rememberOpen(target.closest(".card")); // the way back, should the sign-in have ended
  }, true);
  const rememberIntent = (card) => {
    const refused = find(".decide:has([aria-invalid])", card);
    if (refused && refused.id === lastSent?.form) refused.dataset.intent = lastSent.outcome;
  };
  const place = (card, name) => {
    const rationale = find("[data-go=rationale]", card);
    if (rationale && (name === "approve" || name === "block")) rationale.form.dataset.intent = name;
    return name === "block" && rationale && !rationale.value.trim() ? rationale : find(`[data-go=${name}]`, card);
  };

  // Shortcuts: the table is the list that `?` shows

  const step = (by) => {
    const items = findAll(".card, .row, .more");
    const at = items.indexOf(document.activeElement.closest(".card, .row, .more"));
    const item = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : at + by];
    return item ? focusOn(item.matches(".card") ? item : find("a", item)) : at >= 0;
  };
  // Of the claim in focus; otherwise of my last decision, wherever it stands.
  const goToUndo = () => {
    const here = document.activeElement.closest(".card");
    const mine = findAll("[data-go=undo][data-mine]").sort((a, b) => Date.parse(b.dataset.mine) - Date.parse(a.dataset.mine));
    const undo = (here && find("[data-go=undo]", here)) ?? mine[0];
    if (!undo) announce("Nothing to undo here.");
    return focusOn(undo);
  };
  const nextUndecided = () => {
    const cards = findAll(".card");
    const at = cards.indexOf(document.activeElement.closest(".card"));
    const isUndecided = (card) => card.dataset.undecided !== undefined;
    const card = cards.slice(at + 1).find(isUndecided) ?? cards.find(isUndecided);
    if (!card) announce("No claim is undecided.");
    return Boolean(card) && focusOn(card);
  };
  const ACTIONS = {
    "next-claim": () => step(1),
    "previous-claim": () => step(-1),
    "next-undecided": nextUndecided,
    "open": () => document.activeElement.matches(".card") && (toggle(document.activeElement), true),
    "go-to-approve": () => goTo("approve"),
    "go-to-block": () => goTo("block"),
    "go-to-rationale": () => goTo("rationale"),
    "go-to-undo": () => goToUndo(),
    "next-review": () => { find("#next-review")?.requestSubmit(); return true; },
    "search": () => focusOn(find("[type=search]")) || (location.href = `${document.body.dataset.queue}#id_text`, true),
    "queue": () => { location.href = document.body.dataset.queue; return true; },
    "shortcuts": () => { find("#shortcuts").showModal(); return true; },
  };
  const table = new Map(findAll("#shortcuts [data-keys]").map((row) => [row.dataset.keys, row.dataset.action]));
  let begun = ""; // the first key of a sequence
  let underWay = 0; // requests

  const shortcutsAreOn = document.body.dataset.noShortcuts === undefined;
  const ready = () => shortcutsAreOn && underWay === 0 && !find("dialog[open]");
  // Whoever types into the page by mistake types spaces too, and a space would press the button in focus.
  const isSpaceOnDecision = ({ key, target }) => shortcutsAreOn && key === " " && target.matches("[data-decides]");

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.defaultPrevented || event.isComposing) return;
    if (isSpaceOnDecision(event)) {
      announce("Press Enter to decide.");
      return void event.preventDefault();
    }
    if (target.matches("textarea[data-draft]") && key === "Escape") return void target.closest(".card").focus();
    if (target.matches("textarea[data-draft]") && key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const buttons = findAll("[name=outcome]", target.form);
      const meant = buttons.length === 1 ? buttons[0] : buttons.find((b) => b.value === target.form.dataset.intent);
      return void (meant ? target.form.requestSubmit(meant) : announce(shortcutsAreOn ? WHICH_BY_KEY : WHICH));
    }
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select") || !ready()) return;
    const keys = begun ? `${begun} ${key}` : key;
    const begins = [...table.keys()].some((entry) => entry.startsWith(`${keys} `));
    begun = begins ? keys : "";
    if (begins) setTimeout(() => { begun = ""; }, 1500);
    else if (ACTIONS[table.get(keys)]?.()) event.preventDefault();
  });
  document.addEventListener("keyup", (event) => {
    if (isSpaceOnDecision(event)) event.preventDefault();
  });

  // Answers of the server

  document.addEventListener("htmx:before:request", (event) => {
    if (isUnasked(event)) return;
    underWay += 1;
    announce("");
    giveNotice("");
  });
  document.addEventListener("htmx:finally:request", (event) => { if (!isUnasked(event)) underWay -= 1; });
  document.addEventListener("htmx:response:error", (event) => {
    const { status } = event.detail.ctx.response;
    if (!isUnasked(event) && ![400, 409, 422].includes(status)) giveNotice(FAILURES[status] ?? FAILURES[500]);
  });
  document.addEventListener("htmx:error", (event) => { if (!isUnasked(event)) giveNotice(FAILURES[0]); });
  let lastPlace = null; // in the page's content, that had the focus
  find("#main").addEventListener("focusin", ({ target }) => { lastPlace = target; });
  const goOn = (element) => (element ?? (lastPlace?.isConnected ? lastPlace : find("#main"))).focus({ preventScroll: true });
  document.addEventListener("htmx:after:swap", (event) => {
    restoreDrafts();
    if (isUnasked(event)) return;
    const card = document.getElementById(event.detail.ctx.target?.id ?? "")?.closest(".card");
    if (card) {
      rememberOpen(card);
      rememberIntent(card);
    }
    if (wish && card?.id === wish.card) headFor(card, wish.name);
    else if (document.activeElement === document.body) goOn(card);
    wish = null;
  });
  // What only the server knows: which draft was decided on, where the work goes on, and why nothing can be shown.
  document.addEventListener("review:answered", ({ detail }) => {
    if (detail.notice) giveNotice(detail.notice);
    if (detail.sealed) takeFormsAway();
    if (detail.settled) sessionStorage.removeItem(draftKey(detail.settled));
    if (detail.first && [document.body, find("#main")].includes(document.activeElement)) {
      document.getElementById(detail.first).focus();
    }
    if (!detail.focus) return;
    const next = document.getElementById(detail.focus);
    if (!next) return void location.assign(`?claim=${detail.focus.slice("claim-".length)}#${detail.focus}`);
    if (next.matches(".card")) rememberOpen(next);
    focusOn(next);
  });

  // Colleagues at work on the same review

  const isTypedIn = (card) => {
    const text = find("textarea[data-draft]", card);
    return Boolean(text) && (text.value.trim() !== "" || text.form.contains(document.activeElement));
  };
  const saysWhyNot = (card) => Boolean(find(".obstacle", card)); // and holds what was typed
  // A sealed review takes no decision; a form in which someone typed stays, and says so when it is sent.
  const takeFormsAway = () => {
    for (const form of findAll(".card form")) {
      const card = form.closest(".card");
      const hadFocus = form.contains(document.activeElement);
      if (find("textarea", form)?.value.trim()) continue;
      form.remove();
      if (hadFocus) card.focus({ preventScroll: true });
    }
  };
  const live = () => find("#live");
  if (live()) {
    const isLive = ({ detail }) => detail.ctx?.sourceElement.id === "live";
    const openCards = () => findAll(".toggle[aria-expanded=true]").map((link) => link.closest(".card").id.slice("claim-".length));
    const say = (text) => {
      const state = find("#live-state");
      if (state.textContent !== text) state.textContent = text;
    };
    document.addEventListener("htmx:config:request", (event) => {
      if (!isLive(event)) return;
      if (document.hidden) event.preventDefault();
      event.detail.ctx.request.body.append("open", openCards().join(" "));
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) htmx.trigger("#live", "every"); });
    // A card in which someone is typing stays as it is and only says what happened; so does one that just said it.
    let returnTo = ""; // the card, or the note about colleagues, that had the focus
    document.addEventListener("htmx:before:swap", (event) => {
      if (!isLive(event)) return;
      const { tasks } = event.detail;
      const kept = tasks.filter(({ target }) => !(target.matches(".card") && (isTypedIn(target) || saysWhyNot(target))));
      tasks.splice(0, tasks.length, ...kept);
      returnTo = document.activeElement.closest(".card, .presence")?.id ?? "";
    });
    document.addEventListener("htmx:after:swap", (event) => {
      if (!isLive(event)) return;
      if (returnTo && document.activeElement === document.body) {
        document.getElementById(returnTo)?.focus({ preventScroll: true });
      }
    });
    document.addEventListener("htmx:after:request", (event) => { if (isLive(event)) say(event.detail.ctx.response.status < 400 ? "" : NOT_LIVE); });
    document.addEventListener("htmx:error", (event) => { if (isLive(event)) say(NOT_LIVE); });
  }

  // A sign-in that ended while nothing was asked for: the page stays, with what was typed.
  document.addEventListener("htmx:before:response", (event) => {
    const signIn = isUnasked(event) && event.detail.ctx.response.headers.get("HX-Redirect");
    if (!signIn) return;
    event.preventDefault();
    const link = Object.assign(document.createElement("a"), { href: signIn, textContent: "Sign in again" });
    if (!find("#notice a")) find("#notice").replaceChildren("Your sign-in has ended. What you typed is kept. ", link);
    live()?.remove();
    find("#sign-in-end").replaceChildren();
  });

  const restored = restoreDrafts();
  if (!resumeInterrupted() && restored) setTimeout(() => announce(RESTORED), 300);
})();
