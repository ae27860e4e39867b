/** Name and version of this service in `User-Agent` headers. */
export const PRODUCT = 'docmill/0.1';
