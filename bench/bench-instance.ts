/** An instance in a process of its own, to be killed. */
import { BenchInstance, type GroupOptions } from './bench-group.js';

const options = JSON.parse(process.argv[2]!) as GroupOptions;
const instance = await BenchInstance.connect('victim', options);
await instance.coordinator.start();
console.log('ready');
