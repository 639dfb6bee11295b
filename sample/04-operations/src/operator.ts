import 'reflect-metadata';
import { Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type GroupStatus, ShardingAdmin, ShardingModule } from 'nestjs-dynamic-sharding';
import { createInterface } from 'node:readline';
import { filter, firstValueFrom } from 'rxjs';
import { NAMESPACE, registryFrom } from './settings.js';

/** What the commands in the README do, from a program: each is one change of the shared configuration. */
@Injectable()
class Operator {
  readonly steps: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['ada gets as much as the others', () => this.admin.setWeight({ instance: 'ada' }, 1)],
    ['shard 3 gets a parameter', () => this.admin.setParam([3], { region: 'eu' })],
    ['there are 14 shards', () => this.admin.setTotal(14)],
    ['they are spread over zones', () => this.admin.setSpread('zone')],
    ['dora is drained', () => this.drain('dora')],
    ['dora is back', () => this.admin.undrain('dora')],
  ];

  constructor(private readonly admin: ShardingAdmin) {}

  /** Resolves when everything is where it should be. */
  settled(): Promise<GroupStatus> {
    return firstValueFrom(this.admin.watch().pipe(filter(({ state }) => state === 'settled')));
  }

  private async drain(instance: string): Promise<void> {
    await this.admin.drain(instance);
    // The wish is stored; from here on the instance lets go of one shard after the other, in good order.
    await this.admin.whenEmpty(instance);
  }
}

@Module({
  imports: [
    ShardingModule.forRootAsync({
      useFactory: () => ({ registry: registryFrom(), namespace: NAMESPACE, role: 'observer' }),
    }),
  ],
  providers: [Operator],
})
class OperatorModule {}

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(OperatorModule);
  const operator = app.get(Operator);
  const logger = new Logger('Operator');
  const input = createInterface({ input: process.stdin });
  const enter = input[Symbol.asyncIterator]();
  logger.log(`to begin with: ${loadsOf(await operator.settled())}; Enter for each step`);
  for (const [name, take] of operator.steps) {
    await enter.next();
    await take();
    logger.log(`${name}: ${loadsOf(await operator.settled())}`);
  }
  input.close();
  await app.close();
}

function loadsOf({ instances }: GroupStatus): string {
  return instances.map(({ id, items }) => `${id} ${items.length}`).join(', ');
}

void bootstrap();
