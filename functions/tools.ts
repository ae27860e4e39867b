// The tools, one line each: read by the router, the stack, the one-machine deployment, the README check and the tests.
export { pdftools } from './pdftools/tool.ts';
