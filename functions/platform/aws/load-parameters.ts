/** Loads the script that reads secrets. It is a separate file, because most conversions never need it. */
export async function loadParameters(): Promise<typeof import('./parameters.ts')> {
  const script = new URL('./parameters.ts', import.meta.url);
  return import(script.href) as Promise<typeof import('./parameters.ts')>;
}
