/** Seconds a presigned URL may live on AWS: a role's temporary credentials end after some hours, and its URLs with them. */
export const MAX_URL_LIFETIME = 6 * 3600;
