/** Attributes that the page's author wrote, the most telling first. The text of an element can be a visitor's. */
const ATTRIBUTES = ['data-testid', 'name', 'aria-label', 'href', 'type'];

/** Ids that React makes change with each render. */
const LASTING_ID = /^[A-Za-z][\w-]*$/;

/** Returns a short CSS selector that only this element of the document matches, without classes of the build. */
export function toSelector(element: Element): string {
  let inner = '';
  for (let node: Element | null = element; node; node = node.parentElement) {
    const name = describe(node);
    const [short, exact] = [name, `${name}:nth-of-type(${toPosition(node)})`].map((own) => own + inner);
    for (const selector of [short, exact]) {
      if (selector && document.querySelectorAll(selector).length === 1) return selector;
    }
    inner = ` > ${exact}`;
  }
  return inner.slice(' > '.length);
}

function describe(node: Element): string {
  const { localName: tag, id } = node;
  if (LASTING_ID.test(id)) return `#${id}`;
  for (const name of ATTRIBUTES) {
    const value = node.getAttribute(name);
    if (value && value.length < 100) return `${tag}[${name}=${JSON.stringify(value)}]`;
  }
  return tag;
}

/** @returns the number among the siblings with the same tag, from 1 */
function toPosition(node: Element): number {
  let position = 1;
  for (let other = node.previousElementSibling; other; other = other.previousElementSibling) {
    if (other.localName === node.localName) position += 1;
  }
  return position;
}
