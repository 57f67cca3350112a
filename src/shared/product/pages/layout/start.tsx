export default function LayoutStart() {
  return (
    <>
      <title>Layouts · Spillway</title>
      <p>Choose a kind of dam from the list. The list stays as it is; only this place changes.</p>
    </>
  );
}
