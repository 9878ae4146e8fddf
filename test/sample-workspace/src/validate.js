const MAX_TITLE = 120;
const MAX_BODY = 10_000;
const MAX_TAGS = 10;

/**
 * Checks what a client sent for a note.
 * @returns {{errors: string[], value?: {title: string, body: string, tags: string[]}}}
 */
export function validateNote(input) {
  const errors = [];
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { errors: ['the note must be an object'] };
  }

  let title = '';
  if (input.title === undefined) {
    errors.push('title is missing');
  } else if (typeof input.title !== 'string') {
    errors.push('title must be a string');
  } else {
    title = input.title.trim();
    if (title.length === 0) {
      errors.push('title is empty');
    } else if (title.length > MAX_TITLE) {
      errors.push(`title is longer than ${MAX_TITLE} characters`);
    }
  }

  let body = '';
  if (input.body !== undefined) {
    if (typeof input.body !== 'string') {
      errors.push('body must be a string');
    } else {
      body = input.body.trim();
      if (body.length > MAX_BODY) {
        errors.push(`body is longer than ${MAX_BODY} characters`);
      }
    }
  }

  let tags = [];
  if (input.tags !== undefined) {
    if (!Array.isArray(input.tags)) {
      errors.push('tags must be a list');
    } else if (input.tags.some((tag) => typeof tag !== 'string')) {
      errors.push('every tag must be a string');
    } else {
      tags = [...new Set(input.tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== '');
      if (tags.length > MAX_TAGS) {
        errors.push(`there are more than ${MAX_TAGS} tags`);
      }
    }
  }

  return errors.length > 0 ? { errors } : { errors, value: { title, body, tags } };
}
