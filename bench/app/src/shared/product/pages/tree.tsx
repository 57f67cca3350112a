import { Link } from '#engine';

/** 341 nodes of seven elements, each a component, four levels deep. */
export default function Tree() {
  return (
    <article>
      <title>Tree</title>
      <h1>Tree</h1>
      <Node path="1" depth={4} />
    </article>
  );
}

function Node({ path, depth }: { path: string; depth: number }) {
  return (
    <section id={`node-${path}`} className={`depth-${depth}`} data-path={path}>
      <h2 style={{ marginInlineStart: `${4 - depth}rem` }}>
        <Link to={`/tree?node=${path}`} title={`Open ${path}`}>
          Knoten {path} · 节点
        </Link>
      </h2>
      <p>
        Part of <em lang="de">Größe</em> & <code>{'<tree>'}</code>
      </p>
      {depth === 0 ? (
        <hr />
      ) : (
        <div className="below" title={`Below ${path}`}>
          {[1, 2, 3, 4].map((child) => (
            <Node key={child} path={`${path}.${child}`} depth={depth - 1} />
          ))}
        </div>
      )}
    </section>
  );
}
