/**
 * A text out of a log as it may stand in a terminal or a chart: characters that would rule the terminal, break the line or
 * turn the direction of writing are shown as their codes. Whoever sends requests chooses what a log holds.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
