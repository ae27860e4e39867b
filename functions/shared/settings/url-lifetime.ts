/** Maximum lifetime of a presigned URL on AWS in seconds: it expires together with the role's temporary credentials. */
export const MAX_URL_LIFETIME = 6 * 3600;
