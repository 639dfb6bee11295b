import type { GroupConfig } from './group-config.js';
import { hasLabels, type Roster } from './roster.js';

/** Says what the configuration asks for in vain, in words for people: once, as long as it stays so. */
export class UnmetWishes {
  /** What was looked at last: with thousands of wishes, looking again at each round would cost. */
  #config: GroupConfig | undefined;
  #circumstances = '';
  #said = '';

  constructor(private readonly say: (text: string) => void) {}

  look(config: GroupConfig, roster: Roster, total: number): void {
    // As in most groups: then not even the seats are looked at, for there may be thousands.
    if (Object.keys(config.items).length === 0) {
      this.#config = config;
      this.#said = '';
      return;
    }
    const seats = roster.seats.map(({ id, labels }) => [id, labels]);
    const circumstances = JSON.stringify([total, seats]);
    if (config === this.#config && circumstances === this.#circumstances) return;
    this.#config = config;
    this.#circumstances = circumstances;
    const unmet = unmetWishes(config, roster, total).join('. ');
    if (unmet !== '' && unmet !== this.#said) this.say(unmet);
    this.#said = unmet;
  }
}

export function unmetWishes(config: GroupConfig, { seats }: Roster, total: number): string[] {
  const unmet = new Map<string, number[]>();
  const note = (item: number, text: string): void => {
    const items = unmet.get(text);
    if (items) items.push(item);
    else unmet.set(text, [item]);
  };
  const ids = new Set(seats.map(({ id }) => id));
  const complaints = new Map<string, string | undefined>();
  for (const [key, { disabled, pin, needs }] of Object.entries(config.items)) {
    const item = Number(key);
    if (disabled || item >= total) continue;
    const isPinned = pin !== undefined && ids.has(pin);
    if (pin !== undefined && !isPinned) {
      note(item, `is pinned to ${pin}, which cannot be given anything: the pin is ignored`);
    }
    if (isPinned || !needs) continue;
    const wanted = JSON.stringify(needs);
    if (!complaints.has(wanted)) complaints.set(wanted, complaintAbout(needs, seats));
    const complaint = complaints.get(wanted);
    if (complaint !== undefined) note(item, complaint);
  }
  return [...unmet].map(([text, items]) => `${nameItems(items)} ${text}`);
}

function complaintAbout(
  needs: Readonly<Record<string, string>>,
  seats: Roster['seats'],
): string | undefined {
  const wanted = Object.entries(needs);
  if (seats.some(({ labels }) => hasLabels(labels, wanted))) return undefined;
  const said = wanted.map(([label, value]) => `${label}=${value}`).join(' and ');
  return `needs ${said}, which no instance has that can be given anything: it is given to nobody`;
}

function nameItems(items: readonly number[]): string {
  if (items.length === 1) return `Item ${items[0]}`;
  const shown = items.slice(0, 10).join(', ');
  return `Each of the items ${shown}${items.length > 10 ? ', …' : ''}`;
}
