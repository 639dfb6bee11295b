/**
 * How many bytes a node may hold in every registry. ZooKeeper refuses a whole request above
 * 1,048,575 bytes by dropping the connection, so the data has to leave room for the path and the rest.
 */
export const MAX_DATA_BYTES = 1_000_000;
