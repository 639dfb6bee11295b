import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ShardingService } from 'nestjs-dynamic-sharding';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);

  // Whoever deploys stops a process with SIGTERM: Nest then closes the application, and the module
  // hands over what it holds.
  app.enableShutdownHooks(['SIGTERM']);

  // Where you close the application yourself, drain first: all that the work needs is still open.
  const close = async (): Promise<void> => {
    await app.get(ShardingService).drain();
    await app.close();
  };
  process.once('SIGINT', () => void close());
}

void bootstrap();
