/**
 * Returns the height of a page's content in CSS pixels: what can be scrolled if the page is taller than its
 * window, otherwise the bottom of its last element, not of the window.
 */
export const CONTENT_HEIGHT = `() => {
  const root = document.documentElement;
  if (!root) return 1;
  const scrolled = Math.max(root.scrollHeight, document.body?.scrollHeight ?? 0);
  if (scrolled > window.innerHeight) return scrolled;
  let bottom = root.getBoundingClientRect().bottom + window.scrollY;
  // In quirks mode the root and the body are as tall as the window, regardless of their content.
  if (document.compatMode === 'BackCompat') {
    const margin = document.body ? parseFloat(getComputedStyle(document.body).marginBottom) : 0;
    bottom = 0;
    for (const child of document.body?.childNodes ?? []) {
      const range = document.createRange();
      range.selectNode(child);
      bottom = Math.max(bottom, range.getBoundingClientRect().bottom + window.scrollY + margin);
    }
  }
  for (const element of document.body?.querySelectorAll('*') ?? []) {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.height > 0) bottom = Math.max(bottom, box.bottom + window.scrollY);
  }
  return Math.min(scrolled, Math.max(1, bottom));
}`;
