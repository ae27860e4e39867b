/**
 * Declares functions that cross the borders of open shadow trees: `elementsIn` yields all elements in a tree, and
 * `parentOf` returns the parent of an element, or the host of its tree.
 */
export const ELEMENTS_IN = `
  const elementsIn = function* (root) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      // A form may have a field of that name.
      if (element.shadowRoot instanceof ShadowRoot) yield* elementsIn(element.shadowRoot);
    }
  };
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host;`;
