import { servePages } from '../engines/chromium/browser/serve.ts';
import { takeScreenshot } from './screenshot.ts';

await servePages(takeScreenshot, { prints: false });
