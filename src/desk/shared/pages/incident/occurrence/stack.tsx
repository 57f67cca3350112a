import { colourSource } from '../../../colour-source.ts';
import { chooseOpen, groupFrames, toPackages } from '../../../frames.ts';
import type { ErrorShape, FrameShape, FullShape } from '../../../shapes.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { toPlural } from '../../../words.ts';
import styles from './stack.module.css';

/** The chain of errors, outermost first. Frames of the app are open, the others folded. */
export function Stack({ of: { errors, stackText, story } }: { readonly of: FullShape }) {
  return (
    <Panel title="Stack" aside={<CopyButton text={stackText}>Copy stack</CopyButton>}>
      {errors.map((error, index) => (
        <ErrorPart key={index} of={error} hasCaused={index > 0} hasStory={story !== undefined} />
      ))}
      <details className={styles.plain}>
        <summary>As text</summary>
        <pre>{stackText}</pre>
      </details>
    </Panel>
  );
}

interface ErrorPartProps {
  readonly of: ErrorShape;
  readonly hasCaused: boolean;
  /** The panel above says more than frames of dependencies. */
  readonly hasStory: boolean;
}

function ErrorPart({ of: error, hasCaused, hasStory }: ErrorPartProps) {
  return (
    <div className={styles.error}>
      <h3 className={styles.words}>
        {hasCaused && <span className={styles.cause}>caused by </span>}
        <code>
          {error.class}
          {error.message && `: ${error.message}`}
        </code>
        {error.code && <code className={styles.code}>{error.code}</code>}
      </h3>
      {error.members.length > 0 && <p className="quiet">{`Of these: ${error.members.join(', ')}.`}</p>}
      {error.frames.length === 0 ? (
        <p className="quiet">No stack was reported.</p>
      ) : (
        <Frames of={error} hasStory={hasStory} />
      )}
    </div>
  );
}

function Frames({ of: error, hasStory }: { readonly of: ErrorShape; readonly hasStory: boolean }) {
  const { frames } = error;
  const opened = chooseOpen(error);
  const areForeignOpen = !hasStory && frames.every(({ isOwn }) => !isOwn);
  return (
    <ol className={styles.frames}>
      {groupFrames(frames, opened).map(({ isFolded, frames: group }, index) => {
        if (isFolded) return <FoldedFrames key={index} of={group} isOpen={areForeignOpen} />;
        return group.map((frame) => <OwnFrame key={index} of={frame} isOpen={opened.has(frame)} />);
      })}
    </ol>
  );
}

function OwnFrame({ of: frame, isOpen }: { readonly of: FrameShape; readonly isOpen: boolean }) {
  if (!frame.source) {
    return (
      <li className={styles.own}>
        <p className={styles.bare}>
          <FrameName of={frame} />
        </p>
      </li>
    );
  }
  return (
    <li className={styles.own}>
      <details open={isOpen}>
        <summary>
          <FrameName of={frame} />
        </summary>
        {frame.link && (
          <a className={styles.open} href={frame.link}>
            Open the source
          </a>
        )}
        <Source of={frame.source} line={frame.line} />
      </details>
    </li>
  );
}

function FoldedFrames({ of: frames, isOpen }: { readonly of: readonly FrameShape[]; readonly isOpen: boolean }) {
  return (
    <li className={styles.foreign}>
      <details open={isOpen}>
        <summary>{`${toPlural(frames.length, 'frame')} of ${toPackages(frames)}`}</summary>
        <ol>
          {frames.map((frame, index) =>
            frame.isOwn ? (
              <OwnFrame key={index} of={frame} isOpen={false} />
            ) : (
              <li key={index}>
                <FrameName of={frame} />
              </li>
            ),
          )}
        </ol>
      </details>
    </li>
  );
}

function FrameName({ of: { file, line, column, function: name, isAsync } }: { readonly of: FrameShape }) {
  return (
    <>
      {isAsync && <span className="quiet">async </span>}
      <code className={styles.function}>{name || 'anonymous'}</code>{' '}
      <code className="quiet">{line > 0 ? `${file}:${line}:${column}` : file || 'unknown place'}</code>
    </>
  );
}

/** Source lines around a location, with the location marked. */
function Source({
  of: { start, lines },
  line,
}: {
  readonly of: NonNullable<FrameShape['source']>;
  readonly line: number;
}) {
  return (
    <pre className={styles.source}>
      <code>
        {colourSource(lines).map((spans, index) => {
          const isLocation = start + index === line;
          return (
            <span key={index} className={isLocation ? `${styles.line} ${styles.place}` : styles.line}>
              <span className={styles.number}>{start + index}</span>
              <span className={styles.text}>
                {isLocation && <span className="unseen">This line: </span>}
                {spans.map(toColoured)}
                {'\n'}
              </span>
            </span>
          );
        })}
      </code>
    </pre>
  );
}

function toColoured(span: ReturnType<typeof colourSource>[number][number], index: number) {
  if (typeof span === 'string') return span;
  return (
    <span key={index} className={styles[span[0]]}>
      {span[1]}
    </span>
  );
}
