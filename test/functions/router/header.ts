/** Returns the `header` of a request with these headers, whose names are in lower case. */
export function headerOf(headers: Readonly<Record<string, string>>): (name: string) => string | undefined {
  return (name) => headers[name];
}
