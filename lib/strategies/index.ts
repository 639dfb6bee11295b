export { sticky } from './sticky.strategy.js';
