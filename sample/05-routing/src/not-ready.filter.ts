import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { ShardingNotReadyError } from 'nestjs-dynamic-sharding';

interface Response {
  status(code: number): { json(body: object): void };
}

/** Before the first plan nobody knows how many shards there are, so which one a key belongs to. */
@Catch(ShardingNotReadyError)
export class NotReadyFilter implements ExceptionFilter {
  catch({ message }: ShardingNotReadyError, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(503).json({ statusCode: 503, message });
  }
}
