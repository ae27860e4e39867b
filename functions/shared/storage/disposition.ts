/** Writes the header that names a download: plain for old clients, and in RFC 8187 form where letters need it. */
export function disposition(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  const extended = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `inline; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${extended}`}`;
}
