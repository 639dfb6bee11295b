import {
  Controller,
  Get,
  HttpException,
  Injectable,
  Logger,
  Module,
  type OnModuleInit,
  Param,
  ServiceUnavailableException,
} from '@nestjs/common';
import { ShardingModule, ShardingService, type ShardOwner } from 'nestjs-dynamic-sharding';
import { filter, firstValueFrom, map, of, timeout } from 'rxjs';
import { EPOCH_HEADER, NAMESPACE, REGISTRY } from './settings.js';

/** How long a request waits for an answer, and how long for another owner. */
const PATIENCE = 5_000;

interface Answer {
  readonly status: number;
  readonly body: object;
}

@Injectable()
class Router implements OnModuleInit {
  private readonly logger = new Logger('Router');
  private epoch = 0;

  constructor(private readonly sharding: ShardingService) {}

  onModuleInit(): void {
    this.sharding.owners$.subscribe(({ epoch, total, changed }) => {
      this.epoch = epoch;
      this.logger.log(`${changed.length} of ${total} shards have another owner`);
    });
  }

  /** Asks the owner of the key, and if that has just changed, or is changing, the next one. */
  async ask(key: string): Promise<Answer> {
    const owner = this.sharding.ownerOfKey(key);
    const answer = await this.send(key, owner);
    if (answer) return answer;
    const second = await this.send(key, await this.otherOwner(key, owner));
    if (second) return second;
    throw new ServiceUnavailableException(`nobody answers for ${key}`);
  }

  /** Looks at the present owner first: it may have changed while the former one was asked. */
  private otherOwner(key: string, former?: ShardOwner) {
    const other = this.sharding.owners$.pipe(
      map(() => this.sharding.ownerOfKey(key)),
      filter((owner) => owner !== undefined && owner.instanceId !== former?.instanceId),
      timeout({ first: PATIENCE, with: () => of(undefined) }),
    );
    return firstValueFrom(other, { defaultValue: undefined });
  }

  /**
   * Undefined from whoever is not the owner, or does not answer. That one may have done the work all the
   * same, so send only what may be done twice, such as a GET.
   */
  private async send(key: string, owner?: ShardOwner): Promise<Answer | undefined> {
    if (owner?.address === undefined) return undefined;
    const url = `${owner.address}/keys/${encodeURIComponent(key)}`;
    // An owner that has not heard yet of what we know waits for it, instead of refusing.
    const headers = { [EPOCH_HEADER]: String(this.epoch) };
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE) });
      const body = (await response.json()) as object;
      const { status } = response;
      return status === 409 ? undefined : { status, body };
    } catch {
      return undefined;
    }
  }
}

@Controller('keys')
class FrontController {
  constructor(private readonly router: Router) {}

  @Get(':key')
  async forward(@Param('key') key: string): Promise<object> {
    const { status, body } = await this.router.ask(key);
    if (status !== 200) throw new HttpException(body, status);
    return body;
  }
}

@Module({
  imports: [ShardingModule.forRoot({ registry: REGISTRY, namespace: NAMESPACE, role: 'observer' })],
  controllers: [FrontController],
  providers: [Router],
})
export class FrontModule {}
