// Controls: each a view of keys of the scenario.
import { KNOBS, type Knob, POSITIONS, PROTOCOLS, PROXIES, httpLegs, longLink, positionOf, protocolOf, tlsEdits, tlsOf, valueAt } from "./scenario";
import { act, checked, draft, edit, kind, moving, notice, open, presets, problems, speak, tables, text } from "./state";
import { examples } from "./examples";
import { openFiles } from "./files";
import { count, three } from "./numbers";

/** Largest seed that a page keeps whole. */
const SEED_MAX = Number.MAX_SAFE_INTEGER;

const words = (knob: Knob, value: number) => `${three(value)} ${knob.unit}`;

function Slider({ knob }: { knob: Knob }) {
  const now = checked.value;
  if (!now) return null;
  const link = longLink(now), value = knob.value(now.links[link]!), moved = moving.value[knob.name];
  const shown = moved === undefined ? value : valueAt(knob, moved);
  const said = shown === null ? "its own" : words(knob, shown);
  const move = (position: number) => {
    moving.value = { ...moving.value, [knob.name]: position };
    edit(knob.edits(`path.link.${link}`, valueAt(knob, position), now.links[link]!), knob.name);
  };
  return (
    <label class="knob">
      {knob.label} <output>{said}</output>
      <input id={knob.name} type="range" min="0" max={POSITIONS} step="1" aria-valuetext={said}
        value={moved ?? (shown === null ? 0 : positionOf(knob, shown))} onInput={event => move(event.currentTarget.valueAsNumber)} />
    </label>
  );
}

function Choice<T extends string>({ name, label, of, now, disabled, take }: { name: string; label: string; of: readonly (readonly [T, string])[]; now: T | null; disabled?: boolean; take(value: T): void }) {
  return (
    <div class="choices" role="radiogroup" aria-label={label}>
      {of.map(([value, word]) => (
        <label key={value}><input type="radio" name={name} value={value} checked={value === now} disabled={disabled} onChange={() => take(value)} />{word}</label>
      ))}
    </div>
  );
}

export function Path() {
  const { path = "", proxy = null } = kind.value ?? {}, preset = presets.value.find(each => each.name === path);
  return (
    <fieldset>
      <legend>Path</legend>
      <label class="row">Kind
        <select id="path" value={path} onChange={event => void draft(event.currentTarget.value, proxy ?? "none", false)}>
          {!preset && <option value={path}>of its own</option>}
          {presets.value.map(each => <option key={each.name} value={each.name}>{each.title}{each.rate.dated && `, ${each.rate.dated.slice(0, 4)}`}</option>)}
        </select>
      </label>
      <div class="knobs">{KNOBS.map(knob => <Slider key={knob.name} knob={knob} />)}</div>
      {preset && (
        <details class="facts"><summary>Figures of this kind, with sources</summary><ul>{preset.facts.map(fact => <li key={fact}>{fact}</li>)}</ul></details>
      )}
    </fieldset>
  );
}

const PROXY_WORDS = { none: "none", split: "split", mux: "mux", pep: "PEP" };

export function Protocol() {
  const effective = checked.value?.effective;
  if (!effective) return null;
  const { path, proxy } = kind.value!, has = protocolOf(effective), versions = tlsOf(effective), isOther = !httpLegs(effective).length;
  return (
    <fieldset>
      <legend>Protocol</legend>
      <Choice name="protocol" label="Protocol" of={PROTOCOLS} now={has} disabled={isOther} take={value => void speak(value)} />
      <label class="check"><input id="tls" type="checkbox" checked={versions.length > 0} disabled={isOther} onChange={event => edit(tlsEdits(effective, event.currentTarget.checked))} /> TLS {versions.join(" and ") || "1.3"}</label>
      <span class="small">Proxy</span>
      <Choice name="proxy" label="Proxy" of={PROXIES.map(each => [each, PROXY_WORDS[each]] as const)} now={proxy}
        take={value => void draft(path, value, true)} />
    </fieldset>
  );
}

export function Requests() {
  const effective = checked.value?.effective;
  const named = effective?.workload.requests, known = examples.find(each => each.text === text.value);
  const from = known?.name ?? "";
  const take = (name: string) => {
    const example = examples.find(each => each.name === name);
    if (example) void open(example);
  };
  const choose = (files: File[]) => { if (files.length) void act(() => openFiles(files)); };
  const example = tables.value?.requests.example;
  return (
    <fieldset>
      <legend>Requests</legend>
      <p class="hint" id="source">{named === undefined ? `Drawn by the model ${effective?.workload.family ?? "…"}.` : `From ${named}${example ? `, of the example ${example}` : ""}.`}</p>
      <label class="row">Seed
        <input id="seed" type="number" min="0" step="1" value={effective?.run.seed ?? 1} onChange={event => {
          const { value } = event.currentTarget, seed = String(effective?.run.seed ?? 1);
          if (/^\d+$/.test(value) && Number(value) <= SEED_MAX) return edit([["run.seed", String(Number(value))]], "seed");
          event.currentTarget.value = seed;
          notice.value = `A seed is a whole number from 0 to ${count(SEED_MAX)}: it stays ${seed}.`;
        }} />
      </label>
      <label class="row">Examples
        <select id="example" value={from} onChange={event => take(event.currentTarget.value)}>
          <option value="">choose one …</option>
          {examples.map(each => <option key={each.name} value={each.name}>{each.name}</option>)}
        </select>
      </label>
      <label class="file">Drop a scenario, its tables or both, or <span>choose them</span>
        <input id="file" type="file" multiple onChange={event => { choose([...event.currentTarget.files!]); event.currentTarget.value = ""; }} />
      </label>
      <p class="hint">Files are read in this tab and sent nowhere: this page may connect to nothing.</p>
    </fieldset>
  );
}

/** Problems of the text, each of which leads to its line, and what else stands in the way. */
export function Problems({ show }: { show(line: number): void }) {
  return (
    <div class="problems" role="alert">
      {notice.value && <p id="notice">{notice.value}</p>}
      {problems.value.slice(0, 20).map(({ line, key, message }, place) => (
        <p key={place}><button type="button" class="quiet" onClick={() => show(line)}>line {line}</button> {key && <code>{key}: </code>}{message}</p>
      ))}
    </div>
  );
}
