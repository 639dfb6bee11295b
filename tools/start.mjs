/**
 * `npm start`: compiles what has changed, which takes a second or two the first time, then runs the demo.
 * Instances that "crash" inside this process leave timers behind, so it ends explicitly.
 */
import { compile } from './compile.mjs';

process.stdout.write('Compiling the sources …');
const { compiled } = await compile();
process.stdout.write(` ${compiled} compiled\n`);
const { main } = await import('../.build/demo/main.js');
process.exit(await main(process.argv.slice(2)));
