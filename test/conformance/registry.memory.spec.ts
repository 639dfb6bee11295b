import { adapters } from './harnesses.js';
import { describeRegistry } from './registry-conformance.js';

describeRegistry(adapters.memory);
