import { Outlet } from 'react-router';
import type { PageProps } from '#engine';
import { Frame, type FrameData } from './frame.tsx';

export default function Root({ data }: PageProps<FrameData>) {
  return (
    <Frame data={data}>
      <Outlet />
    </Frame>
  );
}
