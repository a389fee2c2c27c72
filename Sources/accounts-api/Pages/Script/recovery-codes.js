// The page that shows the recovery codes once: it copies, downloads and prints them.

function startRecoveryCodes(tools) {
  const text = all("#codes code").map((code) => `${code.textContent}\n`).join("");
  tools.hidden = false;
  one("[data-copy]", tools).addEventListener("click", async (event) => {
    const button = event.currentTarget;
    await navigator.clipboard.writeText(text);
    button.textContent = tools.dataset.copied;
    announce(tools.dataset.copied);
  });
  one("[data-download]", tools).addEventListener("click", () => download(text, `${tools.dataset.name}.txt`));
  one("[data-print]", tools).addEventListener("click", () => print());
}

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
