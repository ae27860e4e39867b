/** Paths that are costly to answer, for a request without a key. */
export const KEYLESS_PATHS: readonly string[] = [
  unknownOptions(480),
  '/api/openapi.json',
  '/llms.txt',
  '/api/health',
  '/api/version',
];

/** Beginnings of multipart bodies that are costly to parse, and from which no key can be read. */
const COSTLY_PARTS = {
  'parts without a name': '--b\r\n\r\n\r\n',
  'encoded names': `--b\r\nContent-Disposition: attachment; ${"name*=UTF-8''%41%42;".repeat(350)}\r\n\r\nx\r\n`,
  'folded headers': `--b\r\na: ${'b\r\n '.repeat(2000)}\r\n\r\nx\r\n`,
};
const BODY_BYTES = 4_000_000;

/** Returns multipart bodies with the boundary `b`, each with the given parts first. */
export function costlyBodies(first = ''): Buffer[] {
  return Object.values(COSTLY_PARTS).map((part) =>
    Buffer.from(`\r\n${first}${part.repeat(BODY_BYTES / part.length)}`),
  );
}

/** Posts a body. A server that has read enough closes the connection. */
export async function postParts(port: number, body: Buffer, query = ''): Promise<void> {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  await fetch(`http://127.0.0.1:${port}/api/${query}`, { method: 'POST', body, headers }).then(
    (response) => response.text(),
    () => {},
  );
}

function unknownOptions(count: number): string {
  const options = Array.from({ length: count }, (_, index) => `-unknown-option-${index}=1`);
  return `/api/?app=imageproc&infile=http://a.example/&outfile=x.png&${options.join('&')}`;
}
