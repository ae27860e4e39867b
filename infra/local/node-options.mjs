/** Options of Node.js for the server. By default, V8 lets objects that are no longer used take 100 MiB. */
export const NODE_OPTIONS = ['--max-semi-space-size=16'];
