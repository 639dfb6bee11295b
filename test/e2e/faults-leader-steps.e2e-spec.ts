import { killsAtEveryStep } from './leader-steps.js';

killsAtEveryStep(12);
