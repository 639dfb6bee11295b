import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ShardingService } from 'nestjs-dynamic-sharding';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);

  // Workers finish the order at hand and let go while the database is open, whoever closes it and when.
  const close = async (): Promise<void> => {
    await app.get(ShardingService).drain();
    await app.close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
}

void bootstrap();
