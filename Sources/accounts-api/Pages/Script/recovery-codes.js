// The buttons that copy, download and print the recovery codes, or copy the secret of an authenticator app.

function startCodes(tools) {
  const element = document.getElementById(tools.dataset.codes || "codes");
  // The spaces in a code only make it easier to read.
  const lines = all("li", element);
  const codes = (lines.length > 0 ? lines : [element]).map((code) => code.textContent.replace(/\s/g, ""));
  tools.hidden = false;
  one("[data-copy]", tools)?.addEventListener("click", () => copy(codes, element, tools));
  one("[data-download]", tools)?.addEventListener("click", () => download(codes, tools.dataset));
  one("[data-print]", tools)?.addEventListener("click", () => print());
}

/// A browser may refuse the clipboard, and has none without HTTPS. Then the codes are selected for the person.
async function copy(codes, element, tools) {
  const { copied, uncopied } = tools.dataset;
  try {
    await navigator.clipboard.writeText(codes.join("\n"));
    one("[data-copy]", tools).textContent = copied;
    announce(copied);
  } catch {
    getSelection().selectAllChildren(element);
    one("[data-told]", tools).textContent = uncopied;
    announce(uncopied);
  }
}

/// Besides the codes, the file has the name of the service, the title of the page, the account if the page names it,
/// and the day of the download.
function download(codes, { name, account }) {
  const title = one("h1").textContent;
  const day = new Date().toLocaleDateString(language, { dateStyle: "long" });
  const lines = [`${name}: ${title}`, ...(account ? [account] : []), day, "", ...codes, ""];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n")], { type: "text/plain" }));
  link.download = `${name} ${title}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
