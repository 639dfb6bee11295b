/** Java's `String.hashCode`: a signed number of 32 bits over the UTF-16 units of the text. */
export function javaHash(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
