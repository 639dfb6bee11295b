import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  // On SIGTERM and Ctrl-C: jobs under way end, then leadership and shards go to the others.
  app.enableShutdownHooks();
}

void bootstrap();
