/** Loads the script that opens the site on AWS. It is a separate file, because conversions never need it. */
export async function loadSite(): Promise<typeof import('./dependencies.ts')> {
  const script = new URL('./dependencies.ts', import.meta.url);
  return import(script.href) as Promise<typeof import('./dependencies.ts')>;
}
