/** What is used of the package, which brings no types of its own. */
declare module 'cliui' {
  interface Column {
    readonly text: string;
    readonly width?: number;
    readonly align?: 'right' | 'center';
    /** Top, right, bottom, left. */
    readonly padding?: readonly number[];
  }

  interface Ui {
    div(...columns: readonly Column[]): void;
    toString(): string;
  }

  export default function cliui(options: { readonly width: number; readonly wrap: boolean }): Ui;
}
