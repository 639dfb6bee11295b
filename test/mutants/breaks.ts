/** One place of the source, and what stands there instead. */
export interface Edit {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly search: string;
  readonly replacement: string;
}

/** A deliberate break of the protocol, which the simulation has to find out. */
export interface Break {
  readonly name: string;
  /** What does not hold any more, in one sentence. */
  readonly breaks: string;
  readonly edits: readonly Edit[];
}

/** The room of most of them. */
function coordinator(file: string, search: string, replacement: string): Edit {
  return { file: `lib/coordinator/${file}.ts`, search, replacement };
}

function registry(file: string, search: string, replacement: string): Edit {
  return { file: `lib/registry/${file}.ts`, search, replacement };
}

function strategy(file: string, search: string, replacement: string): Edit {
  return { file: `lib/strategies/${file}.ts`, search, replacement };
}

const handingOver: Break[] = [
  {
    name: 'revocation-skipped',
    breaks: 'An item that has to move is granted to its next holder without being asked back.',
    edits: [
      coordinator(
        'planner',
        'this.#revoke(item, this.revoked < most);',
        'this.#grant(item, target[item]!);',
      ),
    ],
  },
  {
    name: 'granted-before-acknowledgement',
    breaks: 'What was asked back counts as free before its holder has acknowledged.',
    edits: [coordinator('planner', '(mark > 0 && acked[owner]! >= mark)', 'mark > 0')],
  },
  {
    name: 'any-acknowledgement-counts',
    breaks: 'An acknowledgement of an earlier revocation counts for a later one.',
    edits: [
      coordinator(
        'planner',
        '(mark > 0 && acked[owner]! >= mark)',
        '(mark > 0 && acked[owner]! > 0)',
      ),
    ],
  },
  {
    name: 'acknowledged-before-drain',
    breaks: 'A revocation is acknowledged while the worker of its item still ends.',
    edits: [
      coordinator(
        'follower',
        'if (shards.isBusy(item)) outstanding',
        'if (shards.get(item)) outstanding',
      ),
    ],
  },
  {
    name: 'mark-renewed',
    breaks: 'Each plan marks outstanding revocations anew, so that acknowledgements come too late.',
    edits: [
      coordinator(
        'planner',
        'this.marks = before.marks.slice();',
        'this.marks = before.marks.map((mark) => (mark > 0 ? epoch : 0));',
      ),
    ],
  },
  {
    name: 'revocation-withdrawn',
    breaks: 'A revocation is called off where the item would come back to its holder anyway.',
    edits: [
      coordinator(
        'planner',
        'if (states[item] === FREE) this.#grant(item, target[item]!);',
        'if (states[item] === REVOKING && this.owners[item] === target[item]) this.marks[item] = 0;\n' +
          'else if (states[item] === FREE) this.#grant(item, target[item]!);',
      ),
    ],
  },
  {
    name: 'total-without-barrier',
    breaks: 'The total changes while items of the old one are still held.',
    edits: [
      coordinator(
        'planner',
        'if (!isBarrier || census.isEmpty) {',
        'if (!isBarrier || census.dead.size === 0) {',
      ),
    ],
  },
  {
    name: 'barrier-without-the-dead',
    breaks: 'The total changes before dead holders of the old one have been waited out.',
    edits: [
      coordinator(
        'planner',
        'isEmpty = false;\n    if (isLive[owner] === 0) {',
        'if (isLive[owner] === 1) isEmpty = false;\n    if (isLive[owner] === 0) {',
      ),
    ],
  },
  {
    name: 'two-totals-in-a-process',
    breaks: 'A member starts items of a new total while it still drains items of the old one.',
    edits: [
      coordinator(
        'follower',
        'if (leaving || !shards.allows(total)) return;',
        'if (leaving) return;',
      ),
    ],
  },
  {
    name: 'next-worker-too-early',
    breaks: "An item's next worker in the same process starts before the former has ended.",
    edits: [
      coordinator(
        'follower',
        'if (token > surrendered && !shards.isBusy(item))',
        'if (token > surrendered && !shards.get(item))',
      ),
    ],
  },
];

const tokens: Break[] = [
  {
    name: 'epoch-does-not-rise',
    breaks: 'Without help from the clock, the next plan has the epoch of the one before.',
    edits: [
      coordinator(
        'planner',
        'let epoch = Math.max(plan.epoch + 1, Math.floor(wall));',
        'let epoch = Math.max(plan.epoch, Math.floor(wall));',
      ),
    ],
  },
  {
    name: 'epoch-follows-the-clock',
    breaks: "The epoch is the leader's time of day, whatever the plan before had.",
    edits: [
      coordinator(
        'planner',
        'let epoch = Math.max(plan.epoch + 1, Math.floor(wall));',
        'let epoch = Math.floor(wall);',
      ),
    ],
  },
  {
    name: 'token-reused',
    breaks: 'An item keeps its token when it is granted to another holder.',
    edits: [
      coordinator(
        'planner',
        'this.tokens[item] = owner < 0 ? 0 : this.epoch;',
        'this.tokens[item] = owner < 0 ? 0 : this.tokens[item]! || this.epoch;',
      ),
    ],
  },
  {
    name: 'surrendered-grant-taken',
    breaks: 'A member takes up again what it has surrendered, with the same token.',
    edits: [
      coordinator(
        'follower',
        'if (token > surrendered && !shards.isBusy(item))',
        'if (!shards.isBusy(item))',
      ),
    ],
  },
  {
    name: 'plan-without-version',
    breaks: 'The plan is replaced whatever its version, so that a stale leader overwrites it.',
    edits: [
      coordinator(
        'leader',
        'await this.#writes.set(this.keyspace.plan, data, version, this.#pinned);',
        'await this.registry.set(this.keyspace.plan, data, -1, this.#pinned);',
      ),
    ],
  },
];

const membership: Break[] = [
  {
    name: 'leader-ignores-incarnations',
    breaks: 'A member that is back under its id counts as the holder of what it held before.',
    edits: [
      coordinator(
        'planner',
        'const member = live.get(incarnation);',
        'const member = [...live.values()].find(({ id }) => id === members[index]!.id);',
      ),
    ],
  },
  {
    name: 'member-ignores-incarnations',
    breaks: 'A member that is back under its id takes what the plan grants to its former life.',
    edits: [
      coordinator(
        'follower',
        'const share = shareOf(plan, this.parts.membership.incarnation);',
        'const { id, incarnation } = this.parts.membership.record;\n' +
          'const share = shareOf(plan, plan.members.find((member) => member.id === id)?.incarnation ?? incarnation);',
      ),
    ],
  },
  {
    name: 'no-new-registration',
    breaks: 'Whoever has lost its session does not take part in the next one.',
    edits: [
      coordinator(
        'coordinator',
        'if (this.#participation?.session !== id) this.#takePart',
        'if (this.#highestEpoch === 0 && this.#participation?.session !== id) this.#takePart',
      ),
    ],
  },
  {
    name: 'deleted-registration-unnoticed-by-the-idle',
    breaks: 'Whoever holds nothing does not notice that its registration was deleted.',
    edits: [
      coordinator(
        'participation',
        '(isRegistered ? this.#lookOut() : this.#evicted())',
        '(isRegistered ? this.#lookOut() : undefined)',
      ),
    ],
  },
  {
    name: 'deleted-registration-unnoticed-by-holders',
    breaks: 'A renewal counts although the registration behind it was deleted.',
    edits: [coordinator('lease-keeper', 'if (!isRegistered) return this.options.onEvicted();', '')],
  },
  {
    name: 'no-wait-for-the-dead',
    breaks: 'What an absent member holds is granted to others at once.',
    edits: [
      coordinator(
        'leader',
        'this.#absences.set(incarnation, this.#waitFor(incarnation, lease));',
        'this.#waitedOut.add(incarnation);',
      ),
    ],
  },
  {
    name: 'short-wait-for-the-dead',
    breaks: 'A dead member is waited out for half of its lease only.',
    edits: [
      coordinator(
        'lease',
        'clock.setTimer(onOver, duration + margin)',
        'clock.setTimer(onOver, duration / 2)',
      ),
    ],
  },
  {
    name: 'member-change-missed',
    breaks: 'The leader does not look when a member changes what it says of itself.',
    edits: [
      coordinator(
        'members-watch',
        'member.version = node?.stat.version ?? 0;\n    this.onChange(record);',
        'member.version = node?.stat.version ?? 0;',
      ),
    ],
  },
  {
    name: 'moves-not-minimal',
    breaks: 'Shards are dealt out in turn, whoever holds them already.',
    edits: [
      strategy(
        'sticky.strategy',
        'const holder = holders[at]!;\n    if (holder >= 0 && left[holder]! > 0) {',
        'const holder = at % seats.length;\n    if (holder >= 0 && left[holder]! > 0) {',
      ),
    ],
  },
  {
    name: 'extra-seats-by-order',
    breaks: 'Extra seats go to the first members instead of to those that hold the most.',
    edits: [
      strategy('seats', 'gains[index] = held[index]! > seats[index]! ? 1 : 0;', ''),
      strategy('seats', 'held[b]! - held[a]! ||', ''),
    ],
  },
];

const lease: Break[] = [
  {
    name: 'lease-counted-from-the-answer',
    breaks: 'A renewal gives D from when its answer came, not from when it was sent.',
    edits: [
      coordinator(
        'lease-keeper',
        '!this.lease.renew(sent)',
        '!this.lease.renew(instantOf(this.environment.clock))',
      ),
    ],
  },
  {
    name: 'lapsed-lease-revived',
    breaks: 'A late answer revives a lease that has run out.',
    edits: [
      coordinator(
        'lease',
        "if (this.hasLapsed) {\n      this.#state = 'lapsed';\n      return false;\n    }\n",
        '',
      ),
    ],
  },
  {
    name: 'shard-valid-without-lease',
    breaks: '`owns()` and `shard.valid` do not look at the lease.',
    edits: [
      coordinator(
        'holding',
        'return !this.#isOver && this.lease.isValid;',
        'return !this.#isOver;',
      ),
    ],
  },
  {
    name: 'items-without-lease',
    breaks: '`items` does not look at the lease.',
    edits: [
      coordinator(
        'coordinator',
        'return this.#isLeaseValid ? this.#parts.assignment.items : [];',
        'return this.#parts.assignment.items;',
      ),
    ],
  },
  {
    name: 'holder-counts-monotonic-time-only',
    breaks: 'The sleep of a machine does not count against the lease of what runs on it.',
    edits: [
      coordinator(
        'lease',
        'return Math.max(this.clock.monotonic() - this.#monotonic, wall - this.#wall);',
        'return this.clock.monotonic() - this.#monotonic;',
      ),
    ],
  },
  {
    name: 'holder-counts-wall-time-only',
    breaks: 'A clock that is set back makes a lease longer.',
    edits: [
      coordinator(
        'lease',
        'return Math.max(this.clock.monotonic() - this.#monotonic, wall - this.#wall);',
        'return wall - this.#wall;',
      ),
    ],
  },
  {
    name: 'waiter-counts-wall-time',
    breaks: 'A clock that is set ahead ends the wait for the dead too early.',
    edits: [
      coordinator(
        'lease',
        'this.#timer = clock.setTimer(onOver, duration + margin);',
        'const end = clock.wall() + duration + margin;\n' +
          'let timer: Timer;\n' +
          'const look = (): void => {\n' +
          '  if (clock.wall() >= end) onOver();\n' +
          '  else timer = clock.setTimer(look, 50);\n' +
          '};\n' +
          'look();\n' +
          'this.#timer = { cancel: () => timer.cancel() };',
      ),
    ],
  },
  {
    name: 'no-surrender-after-a-lapse',
    breaks: 'Whoever lets go of everything with its lease does not say so.',
    edits: [
      coordinator(
        'follower',
        "await this.#surrender('lease-lost', {});",
        "await this.#releaseAll('lease-lost');",
      ),
    ],
  },
  {
    name: 'lapse-unnoticed',
    breaks: 'Nobody looks when the time of a lease is over.',
    edits: [
      coordinator(
        'lease-keeper',
        'if (this.lease.hasLapsed) this.options.onLapsed();\n        else',
        '',
      ),
    ],
  },
];

const leadership: Break[] = [
  {
    name: 'is-leader-without-lease',
    breaks: '`isLeader` does not look at the lease.',
    edits: [
      coordinator(
        'leadership',
        'return this.#term?.lease.isValid ?? false;',
        'return this.#term !== undefined;',
      ),
    ],
  },
  {
    name: 'lapsed-leader-not-demoted',
    breaks: 'Whoever led when its lease ran out leads on with the next one.',
    edits: [
      coordinator(
        'participation',
        'await Promise.all([this.#stopLeading(), this.#follower.lapse()]);',
        'await this.#follower.lapse();',
      ),
    ],
  },
  {
    name: 'earlier-leader-not-waited-out',
    breaks: 'A new leader says so while the lease of the one before may still run.',
    edits: [
      coordinator('leader', 'isOurs ? owed : Math.max(lease, owed));', 'isOurs ? owed : 0);'),
    ],
  },
  {
    name: 'owed-lease-forgotten',
    breaks: 'What an earlier leader still had to wait for is forgotten by the next one.',
    edits: [
      coordinator('leader', 'isOurs ? owed : Math.max(lease, owed));', 'isOurs ? 0 : lease);'),
    ],
  },
  {
    name: 'unknown-leader-not-waited-out',
    breaks:
      'Whoever makes a plan anew leads at once, though the leader under the deleted plan may still.',
    edits: [coordinator('leader', "if (!isOnlyOurs) this.#owe('unknown', longest);", '')],
  },
  {
    name: 'first-plan-without-a-look',
    breaks: 'A plan is made anew while others still hold what the deleted one granted them.',
    edits: [
      coordinator(
        'leader',
        'plan === undefined && (await this.#nobodyHolds());',
        'plan === undefined;',
      ),
    ],
  },
  {
    name: 'first-plan-without-wait',
    breaks: 'A plan is made anew before those who vanished with the deleted one are waited out.',
    edits: [coordinator('leader', 'if (hasNoneVanished) return true;', 'return true;')],
  },
  {
    name: 'necessary-forgotten',
    breaks: 'A request for a reshard is taken, and nothing is done about it.',
    edits: [coordinator('leader', 'this.#isForced = true;', '')],
  },
  {
    name: 'latch-left-behind',
    breaks: 'Whoever resigns leaves its latch standing in the line.',
    edits: [
      coordinator(
        'election',
        'await this.#running;\n    if (this.#path !== undefined) await this.#deleteLatch(this.#path);',
        'await this.#running;',
      ),
    ],
  },
  {
    name: 'predecessor-not-watched',
    breaks: 'Whoever stands in line looks at its own latch only.',
    edits: [
      coordinator(
        'election',
        'await this.#gone(childPath(this.latches, ordered[place - 1]!), path);',
        'await this.#gone(path);',
      ),
    ],
  },
];

const hooks: Break[] = [
  {
    name: 'completed-without-started',
    breaks: '@OnShardingCompleted runs though no rebalance was announced.',
    edits: [
      coordinator(
        'follower',
        'if (!plan.settled || !rebalances.isAnnounced || rebalances.isAnnouncing) return;',
        'if (!plan.settled || rebalances.isAnnouncing) return;',
      ),
    ],
  },
  {
    name: 'released-before-its-worker-ended',
    breaks: '@OnShardReleased runs without waiting for the worker.',
    edits: [
      coordinator(
        'drain',
        'void worker.then(...both(() => this.#workerEnded(holding)));',
        'void Promise.resolve().then(() => this.#workerEnded(holding));',
      ),
    ],
  },
  {
    name: 'told-while-owned',
    breaks: 'The signal of a shard fires while `owns()` still says yes.',
    edits: [
      coordinator(
        'shards',
        'const released: Holding[] = [];',
        'for (const holding of holdings) holding.abort(reasonOf(holding.item));\n    const released: Holding[] = [];',
      ),
    ],
  },
  {
    name: 'not-released-on-shutdown',
    breaks: '@OnShardReleased does not run for what is given up on shutdown.',
    edits: [
      coordinator(
        'shards',
        'this.hooks.shardReleased({ item, token, reason }),',
        "reason === 'shutdown' ? undefined : this.hooks.shardReleased({ item, token, reason }),",
      ),
    ],
  },
  {
    name: 'released-before-started',
    breaks: '@OnShardReleased does not wait for @OnShardingStarted.',
    edits: [coordinator('shards', 'await deadline.meets(announced);', '')],
  },
  {
    name: 'removed-items-not-streamed',
    breaks: '`assignment$` does not tell what was taken away.',
    edits: [coordinator('assignment-stream', 'removed: notIn(now, before),', 'removed: [],')],
  },
  {
    name: 'surrendered-before-drain',
    breaks: 'A surrender is stored while the workers of its items still end.',
    edits: [
      coordinator(
        'follower',
        'await this.#releaseAll(reason);\n      if',
        'void this.#releaseAll(reason);\n      if',
      ),
    ],
  },
  {
    name: 'former-announcement-missed',
    breaks: 'A new registration does not go on when what the former one announced has ended.',
    edits: [
      coordinator(
        'follower',
        'void Promise.all([rebalances.announced(), shards.drained()]).then(this.reconcile);',
        '',
      ),
    ],
  },
];

const store: Break[] = [
  {
    name: 'watch-event-missed',
    breaks: 'An event that comes while its view is being read is dropped.',
    edits: [
      registry(
        'live-views',
        'this.#stale = true;\n    if (this.#reading) return;',
        'if (this.#reading) return;\n    this.#stale = true;',
      ),
    ],
  },
  {
    name: 'reconnect-missed',
    breaks: 'What changed while a client was not connected is not read again.',
    edits: [
      registry(
        'live-views',
        'for (const view of this.#all()) view.refresh({ isNewSession });',
        'if (isNewSession) for (const view of this.#all()) view.refresh({ isNewSession });',
      ),
    ],
  },
  {
    name: 'lost-answer-looked-for-in-the-past',
    breaks:
      'A latch whose creation was answered by nobody is looked for on a server that lags behind.',
    edits: [registry('sure-writes', 'await this.registry.sync(parent, attempt);', '')],
  },
  {
    name: 'lost-answer-taken-for-failure',
    breaks: 'A write whose answer was lost is not looked for and not tried again.',
    edits: [
      registry(
        'sure-writes',
        "case 'TIMED_OUT':\n      return true;",
        "case 'TIMED_OUT':\n      return false;",
      ),
    ],
  },
  {
    name: 'lost-answer-not-looked-for',
    breaks: 'A latch whose creation was answered by nobody is made a second time.',
    edits: [registry('sure-writes', 'candidate.startsWith(name)', 'candidate === name')],
  },
];

const operations: Break[] = [
  {
    name: 'awaited-before-waited-out',
    breaks: 'Whoever comes back gets its items before its former life has been waited out.',
    edits: [
      coordinator(
        'planner',
        'const owner = owners[item]!;\n    if (owner < 0) continue;\n    const mark',
        'const owner = owners[item]!;\n    if (owner < 0 || plan.homes[item]! >= 0) continue;\n    const mark',
      ),
    ],
  },
  {
    name: 'awaited-for-ever',
    breaks: 'Nobody counts how long the group waits for somebody who is away.',
    edits: [coordinator('away-watch', 'this.#overstayed.add(id);', '')],
  },
  {
    name: 'home-forgotten-while-lent',
    breaks: 'What was lent out is not given back.',
    edits: [
      coordinator(
        'target',
        'claims[item] = back >= 0 ? back : isHeld(item)',
        'claims[item] = back >= 0 && !isHeld(item) ? back : isHeld(item)',
      ),
    ],
  },
  {
    name: 'limit-ignored',
    breaks: 'More items move at once than may.',
    edits: [coordinator('planner', 'mayRevoke ? limit : 0', 'mayRevoke ? Infinity : 0')],
  },
  {
    name: 'pause-ignored',
    breaks: 'Items move although the group is paused.',
    edits: [coordinator('target', 'if (config.paused) holdStill(', 'if (false) holdStill(')],
  },
  {
    name: 'cordon-ignored',
    breaks: 'A cordoned instance is given new items.',
    edits: [coordinator('roster', 'if (config.instances[id]?.cordoned !== true) seats', 'seats')],
  },
  {
    name: 'drain-ignored',
    breaks: 'Whoever is drained by the configuration keeps its items.',
    edits: [
      coordinator(
        'roster',
        'return said?.disabled === true || said?.drained === true;',
        'return said?.disabled === true;',
      ),
    ],
  },
  {
    name: 'pin-ignored',
    breaks: 'An item is not held where it is pinned.',
    edits: [
      coordinator(
        'target',
        'if (pin !== undefined && this.#seatIds.has(pin)) return { id: pin };',
        '',
      ),
    ],
  },
  {
    name: 'disabled-item-held',
    breaks: 'A disabled item is given to somebody.',
    edits: [coordinator('target', 'if (disabled) return BY_NOBODY;', '')],
  },
  {
    name: 'configuration-taken-once',
    breaks: 'The leader does not hear that the configuration was changed.',
    edits: [
      coordinator(
        'leader',
        'this.config.config$.subscribe(() => this.#loop.wake()),',
        'this.config.config$.subscribe(() => {}),',
      ),
    ],
  },
];

/** One that nothing can see, because the rule is kept by something else as well. */
export interface HarmlessBreak extends Break {
  readonly because: string;
}

/** Not hunted, unless asked for by name; who takes away what keeps them harmless finds them here. */
export const harmless: readonly HarmlessBreak[] = [
  {
    name: 'latch-owner-unchecked',
    breaks: 'Whoever finds its latch first in line does not look whose it is.',
    because:
      'the name of a latch has a GUID and its creation is pinned to the session, so it is nobody else’s; ' +
      'one that has vanished meanwhile is noticed by the watch that comes next',
    edits: [
      coordinator(
        'election',
        'if (place === 0) return stat?.owner === this.session;',
        'if (place === 0) return true;',
      ),
    ],
  },
  {
    name: 'older-plan-applied',
    breaks: 'A plan that was read late replaces a newer one.',
    because:
      'the store answers the reads of one session in order and a view reads one at a time, so that an ' +
      'older plan is never read; what remains is a plan made anew by a clock that is behind',
    edits: [
      coordinator(
        'follower',
        '(previous && plan.epoch <= previous.epoch)',
        '(previous && plan.epoch === previous.epoch)',
      ),
      coordinator('plan-store', 'if (node.stat.modifiedId <= this.#modifiedId) return;', ''),
    ],
  },
  {
    name: 'latch-not-looked-at',
    breaks: 'A leader renews its lease although its latch was deleted.',
    because:
      'the watch on our own latch tells of its deletion before any later answer, on a new connection too',
    edits: [coordinator('lease-keeper', 'if (!isLatched) this.options.onUnlatched();', '')],
  },
  {
    name: 'stale-read-trusted',
    breaks: 'The first read of a new session may be answered from the past.',
    because:
      'plans are written with the version read, promises never fall, and whoever the plan names is looked ' +
      'for on the server that showed the plan: a past that agrees with itself only costs another round',
    edits: [
      registry(
        'live-views',
        'if (this.#mustSync) {\n      this.#mustSync = false;',
        'if (false) {',
      ),
    ],
  },
];

export const breaks: readonly Break[] = [
  ...handingOver,
  ...tokens,
  ...membership,
  ...lease,
  ...leadership,
  ...hooks,
  ...store,
  ...operations,
];
