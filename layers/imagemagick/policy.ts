import { PINS } from './pins.ts';

/** Limits of one process. Each pixel takes 8 bytes, and an operator needs two images. */
const RESOURCES = {
  memory: '1200MiB',
  map: '0B',
  disk: '0B',
  area: '256MP',
  width: '1000KP',
  height: '1000KP',
  'list-length': '4096',
  thread: '1',
  // In seconds. The service's own deadline is shorter, and also ends loops that never check this limit.
  time: '300',
} as const;

/** Returns ImageMagick's `policy.xml`, which allows only the listed formats, within limits. */
export function policy(): string {
  const read = Object.values(PINS.coders).flat();
  const rules = [
    ...['delegate', 'filter'].map((domain) => rule(domain, 'none', '*')),
    // Denies lists of files, commands and the standard streams.
    ...['@*', '|*', '-', 'fd:*'].map((pattern) => rule('path', 'none', pattern)),
    rule('coder', 'none', '*'),
    rule('coder', 'read', `{${read.join(',')}}`),
    rule('coder', 'read | write', `{${PINS.written.join(',')}}`),
    rule('module', 'none', '*'),
    rule('module', 'read | write', `{${Object.keys(PINS.coders).join(',').toUpperCase()}}`),
    ...Object.entries(RESOURCES).map(
      ([name, value]) => `  <policy domain="resource" name="${name}" value="${value}"/>`,
    ),
    '  <policy domain="cache" name="shared-secret" value="unused" stealth="true"/>',
    '  <policy domain="system" name="max-memory-request" value="1200MiB"/>',
    '  <policy domain="system" name="symlink" rights="none" pattern="follow"/>',
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<policymap>\n${rules.join('\n')}\n</policymap>\n`;
}

function rule(domain: string, rights: string, pattern: string): string {
  return `  <policy domain="${domain}" rights="${rights}" pattern="${pattern}"/>`;
}
