import 'reflect-metadata';
import { type INestApplication, Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ShardingService } from 'nestjs-dynamic-sharding';
import { FrontModule } from './front.js';
import { NotReadyFilter } from './not-ready.filter.js';
import { FRONT_PORT, HOST, ROLE, WORKER_PORT } from './settings.js';
import { WorkerModule } from './worker.js';

async function serve(module: Type, port: number): Promise<INestApplication> {
  const app = await NestFactory.create(module);
  app.useGlobalFilters(new NotReadyFilter());
  // On SIGTERM and Ctrl-C a worker hands its shards over first, and answers (409) until that is done.
  app.enableShutdownHooks();
  await app.listen(port, HOST);
  new Logger('Sample').log(`${module.name} listens on http://${HOST}:${port}`);
  return app;
}

async function bootstrap(): Promise<void> {
  if (ROLE !== 'front') {
    const worker = await serve(WorkerModule, WORKER_PORT);
    await worker.get(ShardingService).start();
  }
  if (ROLE !== 'worker') await serve(FrontModule, FRONT_PORT);
}

void bootstrap();
