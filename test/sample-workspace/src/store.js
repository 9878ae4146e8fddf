/** Keeps notes in memory. */
export class NoteStore {
  #notes = new Map();
  #nextId = 1;

  /** All notes, newest first; with a tag, only those that have it. */
  list(tag) {
    const notes = [...this.#notes.values()].reverse();
    return tag === undefined ? notes : notes.filter((note) => note.tags.includes(tag));
  }

  create({ title, body, tags }) {
    const note = { id: String(this.#nextId), title, body, tags };
    this.#nextId += 1;
    this.#notes.set(note.id, note);
    return note;
  }

  get(id) {
    return this.#notes.get(id);
  }

  /** @returns the new note, or undefined when there is none of that id */
  replace(id, { title, body, tags }) {
    if (!this.#notes.has(id)) return undefined;
    const note = { id, title, body, tags };
    this.#notes.set(id, note);
    return note;
  }

  /** @returns whether there was such a note */
  delete(id) {
    return this.#notes.delete(id);
  }
}
