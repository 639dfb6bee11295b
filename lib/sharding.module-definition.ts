import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import { ShardingAdmin } from './admin/index.js';
import type {
  ShardingModuleExtras,
  ShardingModuleOptions,
} from './interfaces/sharding-options.interface.js';
import { SHARDING_MODULE_OPTIONS } from './sharding.constants.js';
import { ShardingRegistrations } from './sharding.registrations.js';
import { ShardingService } from './sharding.service.js';
import {
  getShardingAdminToken,
  getShardingOptionsToken,
  getShardingToken,
} from './sharding.tokens.js';

/** What a registration provides, all of it exported. */
function registrationProviders(
  name: string | undefined,
): readonly (Provider & { provide: unknown })[] {
  const service: Provider = {
    provide: getShardingToken(name),
    inject: [SHARDING_MODULE_OPTIONS, ShardingRegistrations],
    useFactory: (options: ShardingModuleOptions, registrations: ShardingRegistrations) =>
      registrations.add(name, options).service,
  };
  const options: Provider = {
    provide: getShardingOptionsToken(name),
    useExisting: SHARDING_MODULE_OPTIONS,
  };
  const admin: Provider = {
    provide: getShardingAdminToken(name),
    // The service is not used, but there is no registration before it has been made.
    inject: [ShardingRegistrations, getShardingToken(name)],
    useFactory: (registrations: ShardingRegistrations) => registrations.get(name)!.admin,
  };
  const unnamed: (Provider & { provide: unknown })[] = [
    { provide: ShardingService, useExisting: getShardingToken() },
    { provide: ShardingAdmin, useExisting: getShardingAdminToken() },
  ];
  return [service, options, admin, ...(name === undefined ? unnamed : [])];
}

export const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<ShardingModuleOptions>({
  optionsInjectionToken: SHARDING_MODULE_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createShardingOptions')
  .setExtras<ShardingModuleExtras>(
    { name: undefined, isGlobal: true },
    (definition, { name, isGlobal }) => {
      const providers = registrationProviders(name);
      return {
        ...definition,
        global: isGlobal ?? true,
        providers: [...(definition.providers ?? []), ...providers],
        exports: providers.map(({ provide }) => provide as string),
      };
    },
  )
  .build();
