import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** The first IPv4 address of this machine that others can reach it by, else 127.0.0.1. */
export function ownAddress(
  interfaces: NodeJS.Dict<readonly NetworkInterfaceInfo[]> = networkInterfaces(),
): string {
  const addresses = Object.values(interfaces).flatMap((addressesOfOne) => addressesOfOne ?? []);
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal);
  return outer?.address ?? '127.0.0.1';
}
