/**
 * Which room may touch what. A reader should be able to trust the folder a line of code lives in:
 * strategies touch nothing, the coordinator knows only the port, an adapter only its own client,
 * and only the module, the explorer and the companions know Nest's core.
 */
const spec = '[.]spec[.]ts$';
const adapter = '^lib/registry/([^/]+)/';
const port = '^lib/registry/[^/]+[.]ts$';
const companions = 'health|metrics|dashboard|cli|recipes|testing';

/** A package as resolved, or as written where it is not installed (zookeeper is optional). */
const npm = (name) => `(^|node_modules/)${name}(/|$)`;
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });
/** Specs may use test libraries and other rooms; the rules are for what is shipped. */
const room = (path) => ({ path, pathNot: spec });

module.exports = {
  forbidden: [
    rule('no-cycles', 'Data flows one way.', {}, { circular: true }),
    rule(
      'resolvable',
      'An import that leads nowhere fails at run time.',
      // The tools run what they have just compiled, which a fresh checkout does not have yet.
      { pathNot: ['^lib/registry/zookeeper/', '^tools/'] },
      { couldNotResolve: true },
    ),
    rule(
      'strategies-import-nothing',
      'Strategies are pure functions of their input.',
      room('^lib/strategies/'),
      { pathNot: '^lib/(strategies|interfaces)/' },
    ),
    rule(
      'strategies-know-interfaces-as-types',
      'A type costs nothing at run time; use `import type`.',
      room('^lib/strategies/'),
      { path: '^lib/interfaces/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'coordinator-knows-only-the-port',
      'The protocol is simulated and proven, so it sees the store only through the port.',
      room('^lib/coordinator/'),
      {
        pathNot: [
          '^lib/(coordinator|strategies|interfaces)/',
          port,
          npm('rxjs'),
          '^(events|zlib)$',
        ],
      },
    ),
    rule(
      'admin-needs-no-application',
      'Operators use it from anywhere: it knows the protocol and the store, and no framework.',
      room('^lib/admin/'),
      { pathNot: ['^lib/(admin|coordinator|strategies|interfaces|registry)/', npm('rxjs')] },
    ),
    rule(
      'only-the-command-parses-arguments',
      'An application that never runs the command never loads what it is made of.',
      { path: '^lib/', pathNot: '^lib/cli/' },
      { path: [npm('yargs'), npm('cliui'), '^lib/cli/'] },
    ),
    rule(
      'registry-stands-alone',
      'The registry can be used without Nest and without the protocol above it.',
      room('^lib/registry/'),
      {
        pathNot: ['^lib/registry/', npm('rxjs'), npm('zookeeper')],
        dependencyTypesNot: ['core'],
      },
    ),
    rule('port-knows-no-adapter', 'Whoever sees the port must not see a client.', room(port), {
      path: adapter,
    }),
    rule(
      'adapters-do-not-know-each-other',
      'An adapter can be removed without a trace.',
      room(adapter),
      { path: adapter, pathNot: '^lib/registry/$1/' },
    ),
    rule(
      'only-its-adapter-imports-zookeeper',
      'The client is native and optional.',
      { path: '^lib/', pathNot: '^lib/registry/zookeeper/' },
      { path: npm('zookeeper') },
    ),
    rule(
      'only-module-and-explorer-import-nest-core',
      'Everything else gets what it needs by injection.',
      {
        path: '^lib/',
        pathNot: [spec, '^lib/sharding[.](module|explorer)[.]ts$', `^lib/(${companions})/`],
      },
      { path: npm('@nestjs/core') },
    ),
    rule(
      'nest-stays-at-the-surface',
      'Rooms below the surface know no framework.',
      { path: '^lib/', pathNot: [spec, '^lib/[^/]+[.]ts$', `^lib/(decorators|${companions})/`] },
      // Interfaces are types only, and some of them describe Nest modules.
      { path: npm('@nestjs/common'), dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'inner-rooms-know-no-nest',
      'Not even its types: the protocol runs anywhere.',
      room('^lib/(admin|coordinator|strategies|registry)/'),
      { path: npm('@nestjs/[^/]+') },
    ),
    rule('lib-imports-only-lib', 'What is shipped cannot use what is not.', room('^lib/'), {
      path: '^(test|bench|sample|demo|tools)/',
    }),
    rule(
      'lib-ships-no-dev-dependency',
      'A development dependency is missing in the application that uses the package.',
      room('^lib/'),
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm-peer'],
      },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Samples import the built package by its own name.
    exclude: { path: '^(dist|[.]build|[.]cache)/' },
    // Type imports count as well, except where a rule says otherwise.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'module-sync', 'require', 'node', 'default', 'types'],
    },
  },
};
