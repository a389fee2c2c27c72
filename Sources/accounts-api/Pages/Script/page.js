// The script of the pages. It only adds comfort: every page works without it, and the server decides every rule.
// Assets.swift joins the files of this folder into one script. The templates tell it with `data-` attributes what each
// field does (docs/pages.md), so the script knows no kind of field by name.
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

/// Shows the text above the form, or hides the place where it stood.
function showNotice(text) {
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = !text;
}
