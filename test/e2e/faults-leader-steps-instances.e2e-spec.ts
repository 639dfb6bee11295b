import { killsAtEveryStep } from './leader-steps.js';

killsAtEveryStep('instances');
