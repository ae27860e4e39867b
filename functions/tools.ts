// The tools, one line each. The router, both deployments, the generated tables and the tests read this list.
export { doc2any } from './doc2any/tool.ts';
export { html2image } from './html2image/tool.ts';
export { html2pdf } from './html2pdf/tool.ts';
export { imageproc } from './imageproc/tool.ts';
export { pdftools } from './pdftools/tool.ts';
