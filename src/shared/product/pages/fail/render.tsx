export default function FailRender(): never {
  throw new Error('The tour threw this in a component, while the page was rendered.');
}
