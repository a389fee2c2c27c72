// The script of the pages. It is optional: every page works without it, and the server checks every rule.
// Assets.swift joins the files of this folder into one script. The `data-` attributes in the templates define the
// behavior of each field (docs/pages.md), so the script does not depend on the kinds of field.
"use strict";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/// The form of the step; null on the other pages.
const form = document.getElementById("answers");
/// False on the first page, whose form starts the sign-up, and on the pages of the account: the server has no draft to
/// check values for.
const hasDraft = !!form?.dataset.draft;
const nextButton = form && one("button.main:not([form])", form);
const language = document.documentElement.lang;

/// The element whose contents screen readers say. It has one child for each text.
const live = document.getElementById("live");

/// Lets a screen reader say the text, after the texts that it says already. Returns the element with the text.
function announce(text) {
  const said = [...live.children].find((other) => other.textContent === text);
  if (said) return said;
  const line = Object.assign(document.createElement("p"), { textContent: text });
  live.append(line);
  return line;
}

/// Removes the announced texts. Called when the person types, clicks or sends the step.
function hush() {
  live.replaceChildren();
}

/// Says in the title of the page that answers were refused, as the server does.
function markTitle() {
  const { error } = live.dataset;
  if (error && !document.title.startsWith(error)) document.title = `${error} ${document.title}`;
}

/// Removes the mark of an error from the title of the page, and hides the notice about refused answers. Called when no
/// answer is refused any more.
function unmarkTitle() {
  const { error } = live.dataset;
  if (error && document.title.startsWith(error)) document.title = document.title.slice(error.length).trimStart();
  if (document.getElementById("notice").textContent === form.dataset.marked) showNotice("");
}

/// Shows the error above the form; an empty text hides the notice.
function showNotice(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = !text;
  notice.className = "notice";
  notice.setAttribute("role", "alert");
}
