/** A row as it is to be drawn now. */
export interface Drawn<N> {
  /** The id of its tree item; another id is another row. */
  id: string;
  /** All that is seen of it, its tooltip included: VS Code hears of a row when this changes. */
  looks: string;
  /** The row's object, when it is new. */
  make(): N;
  /** Brings the object of a row that stands already up to date. */
  update(node: N): void;
  children?: readonly Drawn<N>[];
}

interface Placed<N> {
  id: string;
  looks: string;
  node: N;
  children: Placed<N>[];
}

/**
 * The rows of a tree, whose objects last as long as the rows do, and of whose changes VS Code hears one by one.
 * A tree that is announced as changed as a whole forgets its rows until it is drawn again: a click that lands
 * in between reaches its command without a row.
 */
export class LiveRows<N extends object> {
  #roots: Placed<N>[] = [];
  #placeOf = new Map<N, Placed<N>>();

  /** @param changed tells VS Code: one row with what is under it, or (undefined) the whole tree */
  constructor(private readonly changed: (node: N | undefined) => void) {}

  get roots(): N[] {
    return this.#roots.map(({ node }) => node);
  }

  childrenOf(node: N): N[] {
    return this.#placeOf.get(node)?.children.map((child) => child.node) ?? [];
  }

  /** Puts these rows, from top to bottom, in place of those that stand, and announces what is different. */
  draw(rows: readonly Drawn<N>[]): void {
    const changed: N[] = [];
    const before = this.#roots;
    this.#placeOf = new Map();
    this.#roots = this.#place(rows, before, changed);
    if (!isSameList(before, this.#roots)) this.changed(undefined);
    else for (const node of changed) this.changed(node);
  }

  /**
   * VS Code puts a row to the left, or in line with siblings that can be unfolded, when it draws the row: where the
   * first of a level gets something below it, or the last one loses it, all of the level are to be drawn.
   * @param changed takes the rows whose looks, list of children, or place from the left are different
   */
  #place(rows: readonly Drawn<N>[], before: readonly Placed<N>[], changed: N[]): Placed<N>[] {
    const stands = new Map(before.map((place) => [place.id, place]));
    const news: { node: N; isChanged: boolean; below: N[] }[] = [];
    const places = rows.map((row) => {
      const old = stands.get(row.id);
      const node = old?.node ?? row.make();
      if (old) row.update(node);
      const below: N[] = [];
      const children = this.#place(row.children ?? [], old?.children ?? [], below);
      const isChanged = old?.looks !== row.looks || !isSameList(old.children, children);
      news.push({ node, isChanged, below });
      const place = { id: row.id, looks: row.looks, node, children };
      this.#placeOf.set(node, place);
      return place;
    });
    const moves = before.some(hasChildren) !== places.some(hasChildren);
    for (const { node, isChanged, below } of news) changed.push(...(isChanged || moves ? [node] : below));
    return places;
  }
}

function hasChildren({ children }: { children: readonly unknown[] }): boolean {
  return children.length > 0;
}

function isSameList(before: readonly { id: string }[], now: readonly { id: string }[]): boolean {
  return before.length === now.length && before.every(({ id }, index) => id === now[index]?.id);
}
