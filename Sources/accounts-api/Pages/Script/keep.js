// The tab keeps unsent answers, and restores them when the page is loaded again. It never keeps secrets. Without a
// draft, that is on the first page and on the pages of the account, the tab keeps answers only when the person changes
// the language or a picture, and only until the page is loaded again.

const storagePrefix = "signup:";
const storageKey = form && `${storagePrefix}${form.dataset.draft ?? form.dataset.page}:${form.dataset.step}`;

function keepAnswers() {
  const kept = fields.filter((field) => !field.isSecret).map((field) => [field.name, field.kept]);
  try {
    if (kept.length) sessionStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // The storage is full. The answers are still on the page.
  }
}

function restoreAnswers() {
  const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? "{}");
  for (const field of fields) {
    if (!field.isSecret && !field.isRefused && field.name in kept) field.kept = kept[field.name];
  }
}

function forgetAnswers() {
  sessionStorage.removeItem(storageKey);
}

/// Removes the kept answers whose key begins with the prefix, except those whose key begins with the other one.
function forgetKept(prefix, exceptPrefix) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(prefix) && !(exceptPrefix && key.startsWith(exceptPrefix))) sessionStorage.removeItem(key);
  }
}
