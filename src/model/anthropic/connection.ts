/** Why a connection failed, from the codes that Node and its fetch put somewhere in a chain of causes. */

import { hostAndPort } from '../endpoint';

export interface ConnectionFailure {
  /** Continues a sentence, such as `nothing is listening at localhost:8080 (ECONNREFUSED)`. */
  what: string;
  /** A sentence, or ''. */
  advice: string;
  /** True where another try cannot help. */
  lasts?: true;
}

/** Describes the deepest error with a code that is known; else quotes the deepest message. */
export function describeConnection(error: unknown, baseUrl: string): ConnectionFailure {
  const chain = causes(error);
  const at = hostAndPort(baseUrl);
  for (const { code } of chain) {
    if (!code) continue;
    const known = describeCode(code, at);
    if (known) return known;
  }
  const deepest = chain.at(-1);
  return { what: deepest?.message || 'the connection failed', advice: '' };
}

function describeCode(code: string, at: string): ConnectionFailure | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return {
        what: `nothing is listening at ${at} (ECONNREFUSED)`,
        advice: 'Check that the endpoint runs and that the base URL is right.',
      };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        what: `the host name of ${at} was not found (${code})`,
        advice: 'Check the base URL and the network.',
      };
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
      return { what: `${at} did not answer in time (${code})`, advice: 'Check the network and try again.' };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ENETDOWN':
      return { what: `there is no way to ${at} from here (${code})`, advice: 'Check the network.' };
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return { what: `the connection to ${at} was closed (${code})`, advice: 'Try again.' };
    case 'UND_ERR_BODY_TIMEOUT':
      return { what: `${at} stopped sending (${code})`, advice: 'Try again.' };
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return {
        what: `${at} does not speak https (${code})`,
        advice: 'Check whether the base URL should begin with http://.',
        lasts: true,
      };
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME/.test(code))
    return {
      what: `the certificate of ${at} is not trusted (${code})`,
      advice:
        'If the endpoint or a proxy uses a certificate of your own organization, name its file in NODE_EXTRA_CA_CERTS and start VS Code again.',
      lasts: true,
    };
  return undefined;
}

interface Link {
  code: string | undefined;
  message: string;
}

/** Outermost first; an aggregate (several addresses tried) stands with its parts. */
function causes(error: unknown): Link[] {
  const chain: Link[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (depth > 8 || typeof value !== 'object' || value === null) return;
    const code = 'code' in value && typeof value.code === 'string' ? value.code : undefined;
    const message = 'message' in value && typeof value.message === 'string' ? value.message : '';
    chain.push({ code, message });
    if ('errors' in value && Array.isArray(value.errors))
      for (const part of value.errors) visit(part, depth + 1);
    if ('cause' in value) visit(value.cause, depth + 1);
  };
  visit(error, 0);
  return chain;
}
