// One way to draw, on a canvas and into an SVG file. Colours are names of the page's style.

export interface Box { left: number; right: number; top: number; bottom: number }
export interface Style { colour: string; width?: number; dashed?: boolean; opacity?: number }
export type Align = "left" | "center" | "right";

export interface Pen {
  readonly width: number;
  readonly height: number;
  line(points: number[], style: Style): void;
  /** Straight pieces, four numbers each. */
  pieces(ends: number[], style: Style): void;
  dots(centres: number[], radius: number, style: Style): void;
  text(text: string, x: number, y: number, align: Align, colour: string): void;
  textWidth(text: string): number;
  /** Draws what `act` draws inside a box alone. */
  inside(box: Box, act: () => void): void;
}

const FONT = "12px system-ui, sans-serif";
const DASHES = [5, 3];

/** The value of a colour now: it changes with the scheme. */
const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export class CanvasPen implements Pen {
  readonly width: number;
  readonly height: number;
  readonly #context: CanvasRenderingContext2D;

  /** A pen for a canvas, which it clears. */
  constructor(canvas: HTMLCanvasElement) {
    const ratio = devicePixelRatio || 1;
    [this.width, this.height] = [canvas.clientWidth, canvas.clientHeight];
    [canvas.width, canvas.height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    this.#context = canvas.getContext("2d")!;
    this.#context.scale(ratio, ratio);
    this.#context.font = FONT;
    this.#context.textBaseline = "middle";
  }

  line(points: number[], style: Style) {
    this.#stroke(style, context => {
      for (let at = 0; at < points.length; at += 2) context.lineTo(points[at]!, points[at + 1]!);
    });
  }

  pieces(ends: number[], style: Style) {
    this.#stroke(style, context => {
      for (let at = 0; at < ends.length; at += 4) {
        context.moveTo(ends[at]!, ends[at + 1]!);
        context.lineTo(ends[at + 2]!, ends[at + 3]!);
      }
    });
  }

  #stroke({ colour, width = 1, dashed = false, opacity = 1 }: Style, trace: (context: CanvasRenderingContext2D) => void) {
    const context = this.#context;
    context.strokeStyle = colourOf(colour);
    context.lineWidth = width;
    context.globalAlpha = opacity;
    context.setLineDash(dashed ? DASHES : []);
    context.beginPath();
    trace(context);
    context.stroke();
    context.globalAlpha = 1;
  }

  inside({ left, right, top, bottom }: Box, act: () => void) {
    this.#context.save();
    this.#context.beginPath();
    this.#context.rect(left, top, right - left, bottom - top);
    this.#context.clip();
    act();
    this.#context.restore();
  }

  dots(centres: number[], radius: number, { colour, opacity = 1 }: Style) {
    const context = this.#context;
    context.fillStyle = colourOf(colour);
    context.globalAlpha = opacity;
    for (let at = 0; at < centres.length; at += 2) {
      context.beginPath();
      context.arc(centres[at]!, centres[at + 1]!, radius, 0, 7);
      context.fill();
    }
    context.globalAlpha = 1;
  }

  text(text: string, x: number, y: number, align: Align, colour: string) {
    this.#context.fillStyle = colourOf(colour);
    this.#context.textAlign = align;
    this.#context.fillText(text, x, y);
  }

  textWidth(text: string) {
    return this.#context.measureText(text).width;
  }
}

const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
const near = (value: number) => String(Math.round(value * 100) / 100);

export class SvgPen implements Pen {
  #parts: string[] = [];
  readonly #measure = document.createElement("canvas").getContext("2d")!;

  constructor(readonly width: number, readonly height: number) {
    this.#measure.font = FONT;
  }

  line(points: number[], style: Style) {
    this.#stroke(style, `M${points.map(near).join(" ")}`);
  }

  pieces(ends: number[], style: Style) {
    const each: string[] = [];
    for (let at = 0; at < ends.length; at += 4) each.push(`M${ends.slice(at, at + 4).map(near).join(" ")}`);
    this.#stroke(style, each.join(""));
  }

  #stroke({ colour, width = 1, dashed = false, opacity = 1 }: Style, path: string) {
    const dashes = dashed ? ` stroke-dasharray="${DASHES.join(" ")}"` : "";
    this.#parts.push(`<path fill="none" stroke="${colourOf(colour)}" stroke-width="${width}" opacity="${opacity}"${dashes} d="${path}"/>`);
  }

  inside({ left, right, top, bottom }: Box, act: () => void) {
    const name = `inside-${this.#parts.length}`;
    this.#parts.push(`<clipPath id="${name}"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath><g clip-path="url(#${name})">`);
    act();
    this.#parts.push("</g>");
  }

  dots(centres: number[], radius: number, { colour, opacity = 1 }: Style) {
    const each: string[] = [];
    for (let at = 0; at < centres.length; at += 2) each.push(`<circle cx="${near(centres[at]!)}" cy="${near(centres[at + 1]!)}" r="${radius}"/>`);
    this.#parts.push(`<g fill="${colourOf(colour)}" opacity="${opacity}">${each.join("")}</g>`);
  }

  text(text: string, x: number, y: number, align: Align, colour: string) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.#parts.push(`<text x="${near(x)}" y="${near(y)}" text-anchor="${anchor}" dominant-baseline="central" fill="${colourOf(colour)}">${escaped(text)}</text>`);
  }

  textWidth(text: string) {
    return this.#measure.measureText(text).width;
  }

  file(title: string): string {
    const { width, height } = this, size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="12"><title>${escaped(title)}</title>`
      + `<rect width="${width}" height="${height}" fill="${colourOf("back")}"/>${this.#parts.join("\n")}</svg>\n`;
  }
}
