import { servePages } from '../shared/chromium/browser/serve.ts';
import { printPage } from './print-page.ts';

await servePages(printPage);
