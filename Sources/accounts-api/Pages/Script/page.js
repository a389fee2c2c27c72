// The script of the pages. It is optional: every page works without it, and the server checks every rule.
// Assets.swift joins the files of this folder into one script. The `data-` attributes in the templates define the
// behavior of each field (docs/pages.md), so the script does not depend on the kinds of field.
"use strict";

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/// The form of the step; null on the other pages.
const form = document.getElementById("answers");
const nextButton = form && one("button.main", form);
const language = document.documentElement.lang;

/// Lets a screen reader say the text.
function announce(text) {
  document.getElementById("live").textContent = text;
}

/// Shows the text above the form; an empty text hides the notice.
function showNotice(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = !text;
}
