/** Messages about the password of a PDF, by error code. Every engine that opens one reports them. */
export const PASSWORD_MESSAGES = {
  PASSWORD_REQUIRED: () => "The document is encrypted. Set '-upw' to open it.",
  WRONG_PASSWORD: () => "The value of '-upw' or '-opw' does not open the document.",
} as const;
