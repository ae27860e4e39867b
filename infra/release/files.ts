/** Files of the checkout that an installed service needs, beside its packages. */
export const BUNDLED_FILES = [
  ...['package.json', 'LICENSE', 'README.md', 'functions', 'dist/layers', 'dist/site', 'dist/sbom.json'],
  ...['infra/version.ts', 'infra/local', 'infra/keys', 'infra/convert', 'infra/container'],
  // The commands for API keys and conversions also reach a service on AWS.
  ...['infra/aws/deployed.ts', 'infra/aws/outputs.ts'],
];
