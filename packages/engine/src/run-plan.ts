import type { ModelClient, ModelInfo, PrepareContext, Tool, ToolProvider } from '@agentd/contract';
import type { AgentDocument } from './agent-document.ts';
import { publishedTools } from './calls/publication.ts';
import { engineError } from './errors.ts';
import type { RuleLayers } from './permissions/decide.ts';
import type { AgentSource, ModelSource } from './ports.ts';
import { composePrompt, type PromptSection, type SystemPrompt } from './prompt.ts';

export interface RunPlanPorts {
  readonly agents: AgentSource;
  readonly models: ModelSource;
  readonly providers: readonly ToolProvider[];
}

export interface RunPlanInit {
  readonly session: PrepareContext['session'];
  readonly overlay: RuleLayers['overlay'];
  /** A fallback chain; null for a call by hand, which no model makes. */
  readonly models: readonly string[] | null;
}

/** What stands for the whole of a run, settled before its first event is written. */
export interface RunPlan {
  readonly session: PrepareContext['session'];
  readonly agent: AgentDocument;
  readonly models: readonly string[];
  /** The first model of the chain; null for a call by hand. */
  readonly client: ModelClient | null;
  readonly prompt: SystemPrompt;
  /** What is published to a model of this run (ARG-1, PERM-3). */
  readonly publishedTo: (model: ModelInfo | null) => ReadonlyMap<string, Tool>;
  /** Takes up what tool providers have changed since: before each request to a model. */
  readonly refresh: () => Promise<void>;
}

/** Gathers what a run rests on. Throws before anything is written where a part of it is missing. */
export async function planRun(ports: RunPlanPorts, init: RunPlanInit): Promise<RunPlan> {
  const { session, models } = init;
  const agent = agentOf(ports.agents, session.agent);
  const client = models === null ? null : await openFirst(ports.models, models);
  const offers = await Promise.all(ports.providers.map((provider) => offerOf(provider, session)));
  const rules = { document: agent.permissions, overlay: init.overlay };
  const catalogue = new ToolCatalogue(offers, rules);
  const published = catalogue.publishedTo(client?.info ?? null);
  return {
    session,
    agent,
    models: models ?? [],
    client,
    prompt: composePrompt({ agent: agent.prompt, cwd: session.cwd, sections: sectionsOf(offers, published) }),
    publishedTo: (model) => catalogue.publishedTo(model),
    refresh: () => catalogue.refresh(session),
  };
}

/** The agent document of an id. Throws `ENGINE_AGENT_UNKNOWN` with the ids that there are. */
export function agentOf(agents: AgentSource, id: string): AgentDocument {
  const agent = agents.find(id);
  if (agent !== undefined) return agent;
  const known = agents.ids().join(', ');
  throw engineError('ENGINE_AGENT_UNKNOWN', `no agent is named ${JSON.stringify(id)}; there are: ${known}`);
}

async function openFirst(models: ModelSource, chain: readonly string[]): Promise<ModelClient> {
  const [first] = chain;
  if (first === undefined) throw engineError('ENGINE_MODEL_UNKNOWN', 'a run needs a model; none was given');
  return models.open(first);
}

interface Offer {
  readonly provider: ToolProvider;
  readonly tools: readonly Tool[];
  readonly section: string | null;
}

async function offerOf(provider: ToolProvider, session: PrepareContext['session']): Promise<Offer> {
  const tools = await provider.tools(session);
  const section = (await provider.promptSection?.(session)) ?? null;
  return { provider, tools, section };
}

/** A provider speaks in the prompt only where some tool of its is published, or where it has none to publish. */
function sectionsOf(
  offers: readonly Offer[],
  published: ReadonlyMap<string, Tool>,
): readonly PromptSection[] {
  return offers.flatMap(({ provider, tools, section }) => {
    const isHeard = tools.length === 0 || tools.some(({ spec }) => published.has(spec.name));
    return isHeard && section !== null ? [{ provider: provider.id, text: section }] : [];
  });
}

/** The tools of a run as they stand. Remembers by model what is published: a turn must not sort the tools again. */
class ToolCatalogue {
  readonly #rules: RuleLayers;
  readonly #published = new Map<string, ReadonlyMap<string, Tool>>();
  #offers: readonly Offer[];

  constructor(offers: readonly Offer[], rules: RuleLayers) {
    this.#offers = offers;
    this.#rules = rules;
  }

  publishedTo(model: ModelInfo | null): ReadonlyMap<string, Tool> {
    const key = model?.id ?? '';
    const known = this.#published.get(key);
    if (known !== undefined) return known;
    const tools = this.#offers.flatMap((offer) => offer.tools);
    const published = publishedTools(tools, { rules: this.#rules, model });
    this.#published.set(key, published);
    return published;
  }

  async refresh(session: PrepareContext['session']): Promise<void> {
    if (this.#offers.every(({ provider }) => provider.refresh === undefined)) return;
    const offers = await Promise.all(
      this.#offers.map(async (offer) => {
        const tools = (await offer.provider.refresh?.(session)) ?? offer.tools;
        return tools === offer.tools ? offer : { ...offer, tools };
      }),
    );
    if (offers.some((offer, index) => offer !== this.#offers[index])) this.#published.clear();
    this.#offers = offers;
  }
}
