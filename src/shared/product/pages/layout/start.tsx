export default function LayoutStart() {
  return (
    <>
      <title>Layouts · Spillway</title>
      <p>Choose a kind of dam from the list. Only this part of the page changes.</p>
    </>
  );
}
