import * as z from 'zod';
import type { Credentials } from './credentials';
import { displayUrl } from './endpoint';

/** A model that the endpoint offers. */
export interface ListedModel {
  id: string;
  /** How people call it, where the endpoint says so. */
  name?: string;
}

const page = z.object({
  data: z.array(z.object({ id: z.string().min(1), display_name: z.string().optional() })),
});

/** As many as the API gives in one answer. */
const LIMIT = 1000;

/**
 * Asks the key's own endpoint for its models.
 * @throws {Error} with a sentence for the user; it never holds the key
 */
export async function listModels(credentials: Credentials, signal: AbortSignal): Promise<ListedModel[]> {
  const { apiKey, authToken, baseUrl } = credentials;
  const where = displayUrl(baseUrl);
  const headers: Record<string, string> = { 'anthropic-version': '2023-06-01' };
  if (apiKey) headers['x-api-key'] = apiKey;
  else if (authToken) headers.authorization = `Bearer ${authToken}`;
  let response: Response;
  try {
    // A redirect could carry the key to another place.
    response = await fetch(`${baseUrl}/v1/models?limit=${LIMIT}`, { headers, signal, redirect: 'error' });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`${where} could not be reached.`, { cause: error });
  }
  if (!response.ok) throw new Error(`${where} answered with status ${response.status}.`);
  const body = page.safeParse(await response.json().catch(() => undefined));
  if (!body.success) throw new Error(`${where} answered with something that is not a list of models.`);
  return body.data.data.map(({ id, display_name }) =>
    display_name === undefined ? { id } : { id, name: display_name },
  );
}
