import { servePages } from '../shared/chromium/browser/serve.ts';
import { takeScreenshot } from './screenshot.ts';

await servePages(takeScreenshot);
