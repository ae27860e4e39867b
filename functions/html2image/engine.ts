import { servePages } from '../shared/chromium/serve.ts';
import { shootPage } from './shoot-page.ts';

await servePages(shootPage);
