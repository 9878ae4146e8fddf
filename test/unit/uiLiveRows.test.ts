import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { type Drawn, LiveRows } from '../../src/ui/liveRows';

interface TestNode {
  id: string;
  text: string;
}

interface TestRow {
  id: string;
  text: string;
  children?: readonly TestRow[];
}

function drawn({ id, text, children }: TestRow): Drawn<TestNode> {
  return {
    id,
    looks: text,
    make: () => ({ id, text }),
    update: (node) => {
      node.text = text;
    },
    ...(children === undefined ? {} : { children: children.map(drawn) }),
  };
}

/** A tree, and what VS Code was told since the last look: `tree`, or the ids of rows. */
function tree(): { draw(...rows: TestRow[]): string[]; rows: LiveRows<TestNode> } {
  let told: string[] = [];
  const rows = new LiveRows<TestNode>((node) => told.push(node === undefined ? 'tree' : node.id));
  return {
    rows,
    draw: (...all) => {
      told = [];
      rows.draw(all.map(drawn));
      return told;
    },
  };
}

/**
 * What VS Code shows after it has heard of these changes: rows it was not told of stay as they were, also where they
 * stand. A row without children is indented as far as its siblings when one of them has some.
 */
class Shown {
  #text = new Map<TestNode, string>();
  #isIndented = new Map<TestNode, boolean>();
  #children = new Map<TestNode | undefined, TestNode[]>();

  constructor(private readonly rows: LiveRows<TestNode>) {}

  hear(node: TestNode | undefined): void {
    if (node !== undefined) {
      this.#text.set(node, node.text);
      this.#isIndented.set(
        node,
        this.#levelOf(node).some((row) => this.rows.childrenOf(row).length > 0),
      );
    }
    const children = node === undefined ? this.rows.roots : this.rows.childrenOf(node);
    this.#children.set(node, children);
    for (const child of children) this.hear(child);
  }

  see(node?: TestNode): unknown {
    return (this.#children.get(node) ?? []).map((child) => [
      child.id,
      this.#text.get(child),
      this.#isIndented.get(child),
      this.see(child),
    ]);
  }

  #levelOf(node: TestNode): TestNode[] {
    const { roots } = this.rows;
    const levels = [roots, ...roots.map((root) => this.rows.childrenOf(root))];
    return levels.find((level) => level.includes(node)) ?? [];
  }
}

describe('the rows of a tree', () => {
  it('are announced as a whole when one comes, goes or moves', () => {
    const { draw } = tree();
    const [a, b] = [
      { id: 'a', text: '1' },
      { id: 'b', text: '1' },
    ];
    assert.deepEqual(draw(a), ['tree']);
    assert.deepEqual(draw(a, b), ['tree']);
    assert.deepEqual(draw(b, a), ['tree']);
    assert.deepEqual(draw(b), ['tree']);
    assert.deepEqual(draw(b), []);
  });

  it('are announced one by one when they look different, and keep their objects', () => {
    const { draw, rows } = tree();
    draw({ id: 'a', text: '1' }, { id: 'b', text: '1' });
    const before = rows.roots;
    assert.deepEqual(draw({ id: 'a', text: '1' }, { id: 'b', text: '2' }), ['b']);
    assert.deepEqual(
      rows.roots.map((node, index) => node === before[index]),
      [true, true],
    );
    assert.equal(rows.roots[1]?.text, '2');
  });

  it('are announced with what is under them when that list changes', () => {
    const { draw, rows } = tree();
    draw({ id: 'a', text: '1' });
    assert.deepEqual(draw({ id: 'a', text: '1', children: [{ id: 'x', text: '1' }] }), ['a']);
    assert.deepEqual(draw({ id: 'a', text: '1', children: [{ id: 'x', text: '2' }] }), ['x']);
    assert.deepEqual(draw({ id: 'a', text: '1' }), ['a']);
    assert.deepEqual(
      rows.roots.flatMap((node) => rows.childrenOf(node)),
      [],
    );
  });

  it('are all announced, one by one, when the first of their level gets something below it, or the last loses it', () => {
    const { draw } = tree();
    const [lead, alice, bob] = ['lead', 'alice', 'bob'].map((id) => ({ id, text: '1' }));
    assert.ok(lead && alice && bob);
    const below = { children: [{ id: 'x', text: '1' }] };
    draw(lead, alice, bob);
    assert.deepEqual(draw(lead, { ...alice, ...below }, bob), ['lead', 'alice', 'bob']);
    assert.deepEqual(draw(lead, { ...alice, ...below }, { ...bob, ...below }), ['bob']);
    assert.deepEqual(draw(lead, alice, { ...bob, ...below }), ['alice']);
    assert.deepEqual(draw(lead, alice, bob), ['lead', 'alice', 'bob']);
  });

  it('are shown as they are after any change', () => {
    const leaf = fc.record({ id: fc.constantFrom('x', 'y', 'z'), text: fc.constantFrom('1', '2') });
    const leaves = (maxLength: number) => fc.uniqueArray(leaf, { selector: ({ id }) => id, maxLength });
    const row = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      text: fc.constantFrom('1', '2'),
      children: fc.oneof(leaves(0), leaves(3)),
    });
    // Where a row comes, goes or moves all is drawn anyway: most often the same rows stay.
    const same = fc
      .tuple(row, row, row)
      .map((rows) => rows.map((each, index) => ({ ...each, id: `same ${index}` })));
    const drawing = fc.oneof(
      { weight: 3, arbitrary: same },
      { weight: 1, arbitrary: fc.uniqueArray(row, { selector: ({ id }) => id }) },
    );
    fc.assert(
      fc.property(fc.array(drawing), (drawings) => {
        let shown: Shown | undefined;
        const rows = new LiveRows<TestNode>((node) => shown?.hear(node));
        shown = new Shown(rows);
        for (const all of drawings) {
          rows.draw(all.map(drawn));
          assert.deepEqual(
            shown.see(),
            all.map(({ id, text, children }) => [
              id,
              text,
              all.some((other) => other.children.length > 0),
              children.map((child) => [child.id, child.text, false, []]),
            ]),
          );
        }
      }),
    );
  });
});
