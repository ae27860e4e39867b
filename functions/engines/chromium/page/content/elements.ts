/** Declares a function that yields the elements in a tree, including those in open shadow trees. */
export const ELEMENTS_IN = `
  const elementsIn = function* (root) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      // A form may have a field of that name.
      if (element.shadowRoot instanceof ShadowRoot) yield* elementsIn(element.shadowRoot);
    }
  };
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host;`;
