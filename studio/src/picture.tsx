// A picture on a canvas: repainted when what it reads, its size or the colours change; saved as PNG or SVG.
import { type CanvasHTMLAttributes, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { save } from "./files";
import { CanvasPen, type Pen, SvgPen } from "./views/pen";

interface Props extends CanvasHTMLAttributes<HTMLCanvasElement> {
  name: string;
  file: string;
  /** Its numbers in a sentence, for whoever does not see it. */
  label: string;
  paint(pen: Pen): void;
  class?: string;
  children?: ComponentChildren;
}

export function Picture({ name, file, label, paint, children, class: classes, ...more }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), wanted = useRef(0), latest = useRef(paint);
  latest.current = paint;
  const repaint = () => {
    cancelAnimationFrame(wanted.current);
    wanted.current = requestAnimationFrame(() => { if (canvas.current?.clientWidth) latest.current(new CanvasPen(canvas.current)); });
  };
  useEffect(() => {
    const size = new ResizeObserver(repaint), scheme = matchMedia("(prefers-color-scheme: dark)");
    size.observe(canvas.current!);
    scheme.addEventListener("change", repaint);
    return () => { size.disconnect(); scheme.removeEventListener("change", repaint); };
  }, []);
  useEffect(repaint);
  const asSvg = () => {
    const pen = new SvgPen(canvas.current!.clientWidth, canvas.current!.clientHeight);
    latest.current(pen);
    save(`${file}.svg`, pen.file(name), "image/svg+xml");
  };
  const asPng = () => canvas.current!.toBlob(blob => blob && save(`${file}.png`, blob, "image/png"));
  return (
    <figure class={classes}>
      <figcaption>
        <h2>{name}</h2>
        {children}
        <span class="save">
          <button type="button" class="quiet" onClick={asPng} aria-label={`Save as PNG: ${name}`}>PNG</button>
          <button type="button" class="quiet" onClick={asSvg} aria-label={`Save as SVG: ${name}`}>SVG</button>
        </span>
      </figcaption>
      <canvas ref={canvas} role="img" aria-label={label} {...more} />
    </figure>
  );
}

