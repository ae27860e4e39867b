import { servePages } from '../engines/chromium/browser/serve.ts';
import { printPage } from './print-page.ts';

await servePages(printPage, { prints: true });
