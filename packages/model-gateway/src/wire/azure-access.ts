import { authHeaders, type AdaptorSetup, type Endpoint } from '../adaptor.ts';
import type { OpenaiAccess } from './openai-clients.ts';

const AZURE_HOST = /\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.(?:com|us|cn)$/;

/** A version by date belongs to the addresses that name the deployment. */
const DATED = /^\d{4}-/;

/** Addresses and headers of Azure OpenAI. */
export function azureAccess({ endpoint, info }: AdaptorSetup): OpenaiAccess {
  const { apiVersion } = endpoint;
  const query = apiVersion === undefined ? '' : `?api-version=${apiVersion}`;
  const url =
    apiVersion !== undefined && DATED.test(apiVersion)
      ? (path: string) => `${datedUrl(endpoint, info.model, path)}${query}`
      : (path: string) => `${versionedUrl(endpoint)}${path}${query}`;
  return { host: 'azure', headers: authHeaders(endpoint, (key) => ({ 'api-key': key })), url };
}

function datedUrl({ baseUrl }: Endpoint, deployment: string, path: string): string {
  const root = withOpenai(baseUrl).replace(/\/v1$/, '');
  // Responses never had an address for each deployment.
  if (path === '/responses') return `${root}${path}`;
  return `${root}/deployments/${encodeURIComponent(deployment)}${path}`;
}

function versionedUrl({ baseUrl }: Endpoint): string {
  const root = withOpenai(baseUrl);
  return root.endsWith('/openai') ? `${root}/v1` : root;
}

/** Azure's bare address, as its portal shows it, is taken as well. */
function withOpenai(baseUrl: string): string {
  const { hostname, pathname } = new URL(baseUrl);
  return AZURE_HOST.test(hostname) && pathname === '/' ? `${baseUrl}/openai` : baseUrl;
}
