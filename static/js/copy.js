// A button that copies what stands on the page; without this script, or without a clipboard, it stays hidden.
"use strict";
(() => {
  // What is shown once is gone after a reload, which leads to where one goes on.
  const once = document.querySelector("[data-reload]");
  if (once) history.replaceState(null, "", once.dataset.reload);
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    const said = document.getElementById(`${button.dataset.copy}-copied`);
    button.hidden = false;
    button.addEventListener("click", async () => {
      said.textContent = "";
      try {
        await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).innerText);
        said.textContent = "Copied.";
      } catch {
        said.textContent = "The browser did not copy it. Select it and copy it by hand.";
      }
    });
  }
})();
