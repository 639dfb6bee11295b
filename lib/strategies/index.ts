export { average } from './average.strategy.js';
export { builtInStrategies } from './built-in-strategies.js';
export { checkAssignment } from './check-assignment.js';
export { frozenView } from './frozen-view.js';
export { odevity } from './odevity.strategy.js';
export { rendezvous } from './rendezvous.strategy.js';
export { roundRobin } from './round-robin.strategy.js';
export { sticky } from './sticky.strategy.js';
