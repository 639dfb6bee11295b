import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  // No `drain()` before the close: whoever is drained gives its shards up for good, and is not waited for.
  app.enableShutdownHooks();
}

void bootstrap();
