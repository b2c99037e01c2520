/* Starts a deck: the reader's colours, then the mathematics, then reveal.js, which measures what it finds. */

(() => {
  "use strict";

  const printing = /print-pdf/.test(window.location.search);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("mode"); } catch { /* a browser may refuse to remember */ }
  const colour = () => {
    const theme = printing ? "light" : chosen === "dark" || chosen === "light" ? chosen : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
  };
  colour();
  dark.addEventListener("change", colour);

  // The speaker's window has no MathJax: the notes bring their formulas as MathML, which browsers set themselves.
  const setNotes = () => {
    for (const formula of document.querySelectorAll(".notes .tex")) {
      const tex = formula.textContent.replace(/^\\[([]|\\[)\]]$/g, "");
      formula.innerHTML = MathJax.tex2mml(tex, { display: formula.dataset.display === "true" });
    }
  };

  const start = () => Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0.02,
    center: false,
    hash: true,
    respondToHashChanges: true,
    controlsTutorial: false,
    transition: "none",
    backgroundTransition: "none",
    scrollActivationWidth: null, // a telephone shows slides, too
    pdfSeparateFragments: false,
    pdfMaxPagesPerSlide: 1,
    plugins: [RevealNotes],
  });

  window.MathJax = {
    chtml: { matchFontHeight: false, scale: 1.05 },
    options: { enableMenu: false },
    startup: {
      ready() {
        MathJax.startup.defaultReady();
        MathJax.startup.promise = MathJax.startup.promise.then(setNotes).then(start)
          .then(() => {
            // As an application a screen reader would pass every key on, and could not read a slide by lines.
            Reveal.getRevealElement().removeAttribute("role");
            document.documentElement.dataset.slides = "ready";
          });
      },
    },
  };
})();
