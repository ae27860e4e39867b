import { servePages } from '../shared/chromium/serve.ts';
import { printPage } from './print-page.ts';

await servePages(printPage);
