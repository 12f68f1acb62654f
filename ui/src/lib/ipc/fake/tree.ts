// The scripted backend's message tree: edits and regenerations are siblings, the chosen branch is what is shown.
import type { ConversationView, MessageStats, MessageView, Role } from '../generated';

interface Node {
  id: number;
  parent: number | null;
  role: Role;
  text: string;
  state: MessageView['state'];
  stats: MessageStats | null;
  dropped: boolean;
}

export class FakeConversation {
  draft = '';
  generation: number | null = null;
  #nodes = new Map<number, Node>();
  /** Chosen child of each parent; the root's key is 0. */
  #chosen = new Map<number, number>();
  #next = 1;

  constructor(readonly id: number) {}

  add(parent: number | null, role: Role, text: string, state: MessageView['state'] = 'done'): number {
    const id = this.#next++;
    this.#nodes.set(id, { id, parent, role, text, state, stats: null, dropped: false });
    this.#chosen.set(parent ?? 0, id);
    return id;
  }

  update(id: number, change: Partial<Pick<Node, 'text' | 'state' | 'stats' | 'dropped'>>): void {
    const node = this.#nodes.get(id);
    if (node) Object.assign(node, change);
  }

  node(id: number): Readonly<Node> | undefined {
    return this.#nodes.get(id);
  }

  #siblings(node: Node): Node[] {
    return [...this.#nodes.values()].filter((other) => other.parent === node.parent);
  }

  select(id: number, position: number): void {
    const node = this.#nodes.get(id);
    const wanted = node && this.#siblings(node)[position - 1];
    if (wanted) this.#chosen.set(wanted.parent ?? 0, wanted.id);
  }

  branch(): Node[] {
    const branch: Node[] = [];
    let next = this.#chosen.get(0);
    while (next !== undefined) {
      const node = this.#nodes.get(next);
      if (!node) break;
      branch.push(node);
      next = this.#chosen.get(node.id);
    }
    return branch;
  }

  view(): ConversationView {
    const branch = this.branch();
    return {
      id: this.id,
      title: branch[0]?.text.split('\n', 1)[0]?.slice(0, 60) ?? '',
      messages: branch.map((node) => {
        const siblings = this.#siblings(node);
        return { ...node, sibling: siblings.indexOf(node) + 1, siblings: siblings.length };
      }),
      draft: this.draft,
      generation: this.generation,
    };
  }
}
