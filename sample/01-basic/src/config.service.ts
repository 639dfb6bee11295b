import { Injectable, Module } from '@nestjs/common';

/** Stands in for the ConfigService of @nestjs/config: settings by name, from the environment. */
@Injectable()
export class ConfigService {
  get(name: string): string | undefined;
  get(name: string, fallback: string): string;
  get(name: string, fallback?: string): string | undefined {
    return process.env[name] || fallback;
  }
}

@Module({ providers: [ConfigService], exports: [ConfigService] })
export class ConfigModule {}
