/**
 * How many items have to move at least so that these members, who hold so many each, hold equally many
 * to within one: what nobody of them holds, and what one holds beyond its seats. The members with the most
 * items get the seats that are left over.
 */
export function fewestMoves(held: readonly number[], total: number): number {
  const seats = Math.floor(total / held.length);
  const leftOver = total % held.length;
  const orphans = total - held.reduce((sum, count) => sum + count, 0);
  const surplus = held
    .toSorted((a, b) => b - a)
    .map((count, index) => Math.max(0, count - seats - (index < leftOver ? 1 : 0)))
    .reduce((sum, count) => sum + count, 0);
  return orphans + surplus;
}
