export {
  ConfigConflictError,
  NoSuchGroupError,
  RefusedError,
  ShardingAdminError,
  type ShardingAdminErrorCode,
  UncertainChangeError,
} from './admin.errors.js';
export type { ShardingTarget } from './changes.js';
export type { Problem, ProblemCode } from './diagnose.js';
export type { Wait, WaitReason } from './explain.js';
export type {
  JoiningInstance,
  PredictedLoad,
  PredictedMove,
  Prediction,
  WhatIf,
} from './predict.js';
export {
  type ChangeOptions,
  type ChangePreview,
  type ChangeResult,
  type DrainProgress,
  type PlanQuestion,
  ShardingAdmin,
  type ShardingAdminOptions,
  type WaitOptions,
} from './sharding-admin.js';
export type { InstanceState } from './standing.js';
export type { GroupStatus, InstanceStatus, LeaderStatus } from './status.js';
