import { Link } from '#engine';

/** 341 nodes of seven elements, each a component, four levels deep. */
export default function Tree() {
  return <Node path="1" depth={4} />;
}

function Node({ path, depth }: { path: string; depth: number }) {
  return (
    <section id={`node-${path}`} className={`depth-${depth}`}>
      <h2 style={{ marginInlineStart: `${4 - depth}rem` }}>
        <Link to={`/tree?node=${path}`}>Knoten {path} · 节点</Link>
      </h2>
      <p>
        Part of <em lang="de">Größe</em> & <code>{'<tree>'}</code>
      </p>
      <div title={`Below ${path}`}>
        {depth > 0 && [1, 2, 3, 4].map((child) => <Node key={child} path={`${path}.${child}`} depth={depth - 1} />)}
      </div>
    </section>
  );
}
