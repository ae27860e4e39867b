// The tools, one line each: read by the router, the stack, the one-machine deployment, the README check and the tests.
export { doc2any } from './doc2any/tool.ts';
export { html2image } from './html2image/tool.ts';
export { html2pdf } from './html2pdf/tool.ts';
export { imageproc } from './imageproc/tool.ts';
export { pdftools } from './pdftools/tool.ts';
