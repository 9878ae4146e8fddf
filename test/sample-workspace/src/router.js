import { validateNote } from './validate.js';

const notFound = { status: 404, body: { error: 'Not found' } };

function listNotes({ store, query }) {
  return { status: 200, body: store.list(query.get('tag') ?? undefined) };
}

function createNote({ store, body }) {
  const { errors, value } = validateNote(body);
  if (errors.length > 0) return { status: 400, body: { error: errors.join('; ') } };
  return { status: 201, body: store.create(value) };
}

function getNote({ store, params }) {
  const note = store.get(params.id);
  return note ? { status: 200, body: note } : notFound;
}

function replaceNote({ store, params, body }) {
  const { errors, value } = validateNote(body);
  if (errors.length > 0) return { status: 400, body: { error: errors.join('; ') } };
  const note = store.replace(params.id, value);
  return note ? { status: 200, body: note } : notFound;
}

function deleteNote({ store, params }) {
  return store.delete(params.id) ? { status: 204 } : notFound;
}

const routes = [
  { method: 'GET', path: '/notes', handler: listNotes },
  { method: 'POST', path: '/notes', handler: createNote },
  { method: 'GET', path: '/notes/:id', handler: getNote },
  { method: 'PUT', path: '/notes/:id', handler: replaceNote },
  { method: 'DELETE', path: '/notes/:id', handler: deleteNote },
];

/** The values of `:name` parts, or undefined when the path does not fit the pattern. */
function match(pattern, path) {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(':') && given[index] !== '') params[part.slice(1)] = given[index];
    else if (part !== given[index]) return undefined;
  }
  return params;
}

/**
 * Answers one request.
 * @param {{method: string, path: string, query: URLSearchParams, body: unknown, store: object}} request
 * @returns {{status: number, body?: unknown}}
 */
export function route(request) {
  let pathKnown = false;
  for (const { method, path, handler } of routes) {
    const params = match(path, request.path);
    if (params === undefined) continue;
    if (method === request.method) return handler({ ...request, params });
    pathKnown = true;
  }
  return pathKnown ? { status: 405, body: { error: 'Method not allowed' } } : notFound;
}
