/** What an element is made with: properties of the element, or attributes where it has none. */
type Properties = Readonly<Record<string, string>>;

/** Makes an element; texts are texts, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An element that the page has. */
export function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}

/** Sets a text where it has changed: assistive software hears of every change. */
export function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
