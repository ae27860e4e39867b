/** Node.js options for the server. By default, V8 lets garbage grow to 100 MiB. */
export const NODE_OPTIONS = ['--max-semi-space-size=16'];
