/**
 * A string of a structured field (RFC 9651): printable ASCII in quotes, quotes and backslashes escaped. Other
 * characters are percent-encoded.
 */
export function structuredString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -~]+/gu, percentEncoded)}"`;
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
