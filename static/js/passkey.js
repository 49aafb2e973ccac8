// Asks the browser for a passkey when the form with data-passkey is sent, and sends what it answers.
(() => {
  "use strict";

  const place = document.getElementById("passkey");
  const form = place.querySelector("form");
  const options = JSON.parse(document.getElementById("passkey-options").textContent);
  const said = form.querySelector("[role=alert]");

  const REASONS = {
    NotAllowedError: "No passkey was used. Try again.",
    InvalidStateError: "This passkey is added already.",
    SecurityError: `Passkeys work under a host name only, not under ${location.hostname}.`,
  };
  const NOT_HERE = "This browser offers no passkeys here: they need HTTPS.";

  place.hidden = false;
  form.querySelector("[autofocus]")?.focus(); // what is hidden takes no focus
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = "";
    if (!window.PublicKeyCredential) {
      said.textContent = NOT_HERE;
      return;
    }
    try {
      const answer = await window.webauthnJSON[form.dataset.passkey](options);
      form.elements.credential.value = JSON.stringify(answer);
      form.submit();
    } catch (error) {
      said.textContent = REASONS[error.name] ?? "The passkey could not be used. Try again.";
    }
  });
})();
