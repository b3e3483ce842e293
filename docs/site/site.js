// Corrects what the theme's own script adds to a page: the tab key reaches whatever scrolls sideways, and the button
// that copies a block of code is no landmark.
const correct = () => {
  for (const each of document.querySelectorAll(".md-code__nav")) {
    each.setAttribute("role", "none");
  }
  for (const each of document.querySelectorAll("pre > code, .md-typeset__scrollwrap, .formula")) {
    const scrolls = each.scrollWidth > each.clientWidth;
    if (scrolls !== each.hasAttribute("tabindex")) {
      scrolls ? each.setAttribute("tabindex", "0") : each.removeAttribute("tabindex");
    }
  }
};
let frame = 0;
const soon = () => {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(correct);
};
new MutationObserver(soon).observe(document.body, {attributeFilter: ["tabindex"], childList: true, subtree: true});
addEventListener("resize", soon);
soon();
