import type { Html2pdfOptions } from './tool.ts';

/** Returns the options for the cover: no headers and footers, and nothing that only concerns the page itself. */
export function coverOptions(options: Html2pdfOptions, page: URL, cover: URL): Html2pdfOptions {
  const none = undefined;
  // Credentials of the caller are only sent to the page's own origin.
  const secrets =
    page.origin === cover.origin ? {} : { headers: [], cookies: [], username: none, password: none };
  return {
    ...options,
    ...secrets,
    ...{ headerLeft: none, headerCenter: none, headerRight: none, headerLine: false, headerHtml: none },
    ...{ footerLeft: none, footerCenter: none, footerRight: none, footerLine: false, footerHtml: none },
    ...{ pageRanges: none, firstPage: none, lastPage: none, toc: false, cover: none, title: none },
    ...{ windowStatus: none, waitForSelector: none, waitForExpression: none },
  };
}
