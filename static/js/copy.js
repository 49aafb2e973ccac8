// A button that copies what stands on the page; without this script, or without a clipboard, it stays hidden.
"use strict";
(() => {
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
