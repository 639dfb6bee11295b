import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/kit/eventually.js';
import { MemoryGroup } from '../../test/kit/memory-group.js';
import type { ShardingAdminOptions } from '../admin/index.js';
import { UnreachableError } from '../registry/registry.errors.js';
import { EXIT } from './exit-codes.js';
import { type Connect, run } from './run.js';
import { type Terminal, unpainted } from './terminal.js';
import { verbs } from './verbs.js';

/** A terminal whose user says what the test wants. */
class FakeTerminal implements Terminal {
  width = 80;
  readonly isLive = false;
  readonly paint = unpainted;
  readonly questions: string[] = [];
  readonly interrupted = new AbortController();
  environment: Record<string, string | undefined> = { ZOOKEEPER_CONNECT: 'zk:2181' };
  output = '';
  errors = '';

  constructor(
    readonly canAsk: boolean,
    private readonly answer = false,
  ) {}

  out(text: string): void {
    this.output += text;
  }

  err(text: string): void {
    this.errors += text;
  }

  async ask(question: string): Promise<boolean> {
    this.questions.push(question);
    return this.answer;
  }

  interruption(): AbortSignal {
    return this.interrupted.signal;
  }
}

describe('the command', () => {
  let group: MemoryGroup;
  let connected: ShardingAdminOptions[];
  let terminal: FakeTerminal;

  const connect: Connect = (options) => {
    connected.push(options);
    return Promise.resolve(group.admin());
  };
  const command = (line: string, on = terminal): Promise<number> =>
    run(line.split(' '), on, connect);

  beforeEach(async () => {
    connected = [];
    terminal = new FakeTerminal(false);
    group = new MemoryGroup('group', { total: 4 });
    await group.startAll('a', 'b');
  });

  afterEach(() => group.close());

  it('answers people and machines', async () => {
    expect(await command('status')).toBe(EXIT.done);
    expect(terminal.output).toContain('2 instances with leases of 5 s, led by a');
    terminal.output = '';
    expect(await command('status --json')).toBe(EXIT.done);
    expect(JSON.parse(terminal.output)).toMatchObject({ namespace: 'group', total: 4 });
    expect(terminal.errors).toBe('');
  });

  it('asks before it changes something, and takes no for an answer', async () => {
    const asked = new FakeTerminal(true, false);
    expect(await command('set-total 6', asked)).toBe(EXIT.failed);
    expect(asked.questions).toEqual(['Do this? [y/N] ']);
    expect(asked.errors).toBe(
      '6 items of 6 would move; 4 would be stopped on the way.\n' +
        'nest-sharding: Called off; nothing was changed\n',
    );
    expect(asked.output).toBe('');
    const sure = new FakeTerminal(true, true);
    expect(await command('set-total 6', sure)).toBe(EXIT.done);
    await eventually(() => group.items('a').length === 3);
  });

  it('refuses to change something where there is nobody to ask, before it connects', async () => {
    for (const { usage } of verbs.filter(({ isChange }) => isChange)) {
      const positionals = (usage.match(/<[^>]+>/g) ?? []).map(() => '1');
      const silent = new FakeTerminal(false);
      const args = [usage.split(' ')[0]!, ...positionals];
      expect(await run(args, silent, connect)).toBe(EXIT.failed);
      expect(silent.errors).toMatch(/^nest-sharding: .*add --yes\n$/);
    }
    expect(connected).toEqual([]);
  });

  it('asks nothing with --yes', async () => {
    expect(await command('cordon a --yes --json')).toBe(EXIT.done);
    expect(JSON.parse(terminal.output)).toMatchObject({
      changed: true,
      warnings: [],
      configuration: { instances: { a: { cordoned: true } } },
    });
  });

  it('drains, and says how far it is', async () => {
    expect(await command('drain a --yes --json')).toBe(EXIT.done);
    expect(JSON.parse(terminal.output)).toMatchObject({ instance: 'a', drained: true, items: [] });
    expect(group.items('a')).toEqual([]);
  });

  it('leaves a drain going that takes too long, or is interrupted', async () => {
    await command('pause --yes');
    await eventually(async () => (await group.admin().status()).configuration?.paused);
    const late = new FakeTerminal(false);
    expect(await command('drain a --yes --timeout 0.05', late)).toBe(EXIT.failed);
    expect(late.errors).toBe('2 items left: the group is paused\n');
    expect(late.output).toMatch(/a still holds .+; the drain goes on, "undrain" takes it back\n$/);
    const narrow = new FakeTerminal(false);
    narrow.width = 20;
    expect(await command('drain a --yes --timeout 0.05', narrow)).toBe(EXIT.failed);
    expect(narrow.errors).toBe('2 items left: the\ngroup is paused\n');
    const interrupted = new FakeTerminal(false);
    interrupted.interrupted.abort();
    expect(await command('drain a --yes', interrupted)).toBe(EXIT.interrupted);
    expect(interrupted.output).toContain('the drain goes on');
    expect(await command('drain a --yes --no-wait')).toBe(EXIT.done);
  });

  it('watches until it is interrupted, or the time is over', async () => {
    const live = new FakeTerminal(false);
    const watching = command('watch --json', live);
    await eventually(() => live.output.includes('\n'));
    await command('set-total 6 --yes');
    await eventually(() => {
      const documents = live.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { total: number });
      expect(documents.at(-1)).toMatchObject({ total: 6, state: 'settled' });
    });
    live.interrupted.abort();
    expect(await watching).toBe(EXIT.done);
    expect(await command('watch --timeout 0.05')).toBe(EXIT.done);
    expect(terminal.output).toMatch(/\d settled, 6 items, led by a, a 3 b 3\n$/);
  });

  it('says what is wrong by its exit code', async () => {
    expect(await command('doctor')).toBe(EXIT.done);
    expect(terminal.output).toBe('Healthy: nothing was found.\n');
    await command('set-needs 1 zone=x --yes');
    expect(await command('doctor --json')).toBe(EXIT.failed);
    expect(terminal.output).toContain('"healthy": false');
  });

  it.each([
    ['status --connect ', EXIT.usage],
    ['nonsense', EXIT.usage],
    ['status extra', EXIT.usage],
    ['status --auth user:secret', EXIT.usage],
    ['set-total', EXIT.usage],
    ['set-total x --yes', EXIT.usage],
    ['set-total 0 --yes', EXIT.failed],
    ['set-limit --yes', EXIT.usage],
    ['pin 1 nobody --yes', EXIT.failed],
    ['remove --yes', EXIT.failed],
    ['status --auth-file /nowhere', EXIT.usage],
    ['set-total 24 --yes --namespace', EXIT.usage],
    ['set-total 24 --namespace --yes', EXIT.usage],
    ['set-total 24 --yes --namespace one --namespace two', EXIT.usage],
    ['drain a --yes --timeout 5 --timeout 9', EXIT.usage],
    ['plan --join', EXIT.usage],
  ])('fails in one line: %s', async (line, code) => {
    terminal.environment = {};
    const at = line.startsWith('status --connect ') ? '' : ' --connect zk:2181';
    expect(await command(`${line}${at}`.trimEnd())).toBe(code);
    expect(terminal.errors).toMatch(/^nest-sharding: [^\n]+\n$/);
    expect(terminal.errors).not.toContain('secret');
    expect(terminal.output).toBe('');
  });

  it('does nothing without a value, or with two of them', async () => {
    for (const line of [
      'set-total 24 --yes --namespace',
      'set-total 24 --yes --connect',
      'set-total 24 --namespace --yes',
      'drain a --yes --timeout 5 --timeout 9',
    ]) {
      expect(await command(line)).toBe(EXIT.usage);
    }
    expect(terminal.errors).toContain('--namespace lacks its value');
    expect(terminal.errors).toContain('--timeout was given more than once');
    expect(connected).toEqual([]);
    expect(await command('pause --yes --yes')).toBe(EXIT.done);
  });

  it('says it in its own words when nobody answers', async () => {
    const unreachable = new UnreachableError(
      'no ZooKeeper server answered within 10000 ms: zk:2181; check registry.connect and that …',
    );
    expect(await run(['status'], terminal, () => Promise.reject(unreachable))).toBe(
      EXIT.unreachable,
    );
    expect(terminal.errors).toBe(
      'nest-sharding: no ZooKeeper server answered within 10000 ms: zk:2181\n',
    );
  });

  it.each(verbs.map(({ usage, examples }) => [usage, examples] as const))(
    'explains %s, with examples that can be copied',
    async (usage, examples) => {
      expect(await command(`${usage.split(' ')[0]} --help`)).toBe(EXIT.done);
      for (const [example] of examples)
        expect(terminal.output).toContain(`nest-sharding ${example}`);
      for (const line of terminal.output.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      expect(connected).toEqual([]);
    },
  );

  it('takes credentials from where nobody sees them', async () => {
    terminal.environment['NEST_SHARDING_AUTH'] = 'ada:secret';
    await command('status --namespace other');
    expect(connected[0]).toEqual({
      connect: 'zk:2181',
      namespace: 'other',
      auth: { credentials: 'ada:secret' },
    });
    expect(terminal.output + terminal.errors).not.toContain('secret');
  });
});
