// The worker as the page asks it. A bug of the core ends its worker; another one is begun, with the same tables.
import { block, unpacked } from "../data";
import { Refused, type Question, type Questions, type Said, type Tables } from "./messages";

/** Time in ms within which a step of the core must end. Chosen: generating the largest family that a tab takes lasts some seconds. */
const PATIENCE = 15_000;

type Waiting = { go(answer: unknown): void; fail(error: Error): void };

type TrustedTypes = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string } };
const trusted = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("farweb", { createScriptURL: url => url });

export class Core {
  #worker!: Worker;
  #waiting = new Map<number, Waiting>();
  #asked = 0;
  #watch = 0;
  #tables: Tables | null = null;
  readonly #address: string;

  private constructor(program: string, readonly core: Uint8Array) {
    // A worker of a blob has the policy of its page, and a page from a disk may have no other.
    const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
    this.#address = trusted ? trusted.createScriptURL(address) : address;
  }

  static async begin(): Promise<{ core: Core; version: string; presets: Questions["begin"]["answer"]["presets"] }> {
    const core = new Uint8Array(await unpacked(block("core")!).arrayBuffer()), own = new Core(block("worker")!, core);
    return { core: own, ...await own.#begin() };
  }

  async #begin() {
    this.#worker = new Worker(this.#address);
    this.#worker.onmessage = ({ data }: MessageEvent<Said>) => this.#said(data);
    return this.ask("begin", { core: this.core.slice().buffer });
  }

  ask<Q extends Question>(question: Q, of: Questions[Q]["of"]): Promise<Questions[Q]["answer"]> {
    if (question === "tables") this.#tables = (of as Questions["tables"]["of"]).tables;
    const id = ++this.#asked;
    return new Promise((go, fail) => {
      this.#waiting.set(id, { go: go as (answer: unknown) => void, fail });
      this.#worker.postMessage({ id, question, of });
    });
  }

  /** Ends the run under way, and the worker too if it does not answer. */
  stop(): void {
    this.ask("stop", {}).catch(() => {});
    const asked = this.#asked;
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => {
      if (this.#waiting.has(asked)) this.#restart(new Refused("this takes too long in a tab. Save the scenario, and farweb run takes it"));
    }, PATIENCE);
  }

  #said({ id, answer, refused, broken }: Said): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (broken !== undefined) {
      waiting.fail(new Refused(`a bug in farweb: ${broken}`));
      this.#restart(new Refused("the simulator was begun anew"));
    } else if (refused !== undefined) waiting.fail(new Refused(refused));
    else waiting.go(answer);
  }

  #restart(why: Error): void {
    this.#worker.terminate();
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#begin().catch(() => {});
    if (this.#tables) this.ask("tables", { tables: this.#tables }).catch(() => {});
    lost.forEach(waiting => waiting.fail(why));
  }
}
