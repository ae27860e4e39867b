/** Messages about the password of a PDF, by error code. Every engine that opens one reports them. */
export const PASSWORD_MESSAGES = {
  PASSWORD_REQUIRED: () => "The document is encrypted. Set '-upw' to open it.",
  WRONG_PASSWORD: () => "The value of '-upw' or '-opw' does not open the document.",
} as const;

/** Returns the message about a document, or a part of it, that no engine can read. */
export function damagedMessage(part = 'The document'): string {
  return `${part} is damaged and cannot be displayed.`;
}
