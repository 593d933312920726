import { messageOf, type Clock, type Ids } from '@agentd/contract';
import type { EventOf, PermissionMode } from '../events.ts';
import { decide, type RuleLayers } from '../permissions/decide.ts';
import type { GrantView } from '../permissions/grants.ts';
import type { ApprovalAnswer, Approver, EventSink } from '../ports.ts';
import { cancelledEnd, NOT_STARTED, type CallEnd, type ReadyCall, type StagedCall } from './call-stages.ts';
import { forbiddenEnd, refusedEnd } from './denial.ts';
import { settleWithGrace } from './settle-with-grace.ts';

export interface PermitPorts {
  readonly approver: Approver;
  readonly grants: GrantView;
  readonly sink: EventSink;
  readonly ids: Ids;
  readonly clock: Clock;
}

export interface PermitPolicy {
  readonly rules: RuleLayers;
  readonly mode: PermissionMode;
}

type Finalized = Pick<EventOf<'approval_finalized'>, 'decision' | 'source' | 'feedback'>;

const CANCELLED: ApprovalAnswer = { decision: 'cancelled', source: 'policy', feedback: null };

/**
 * Decides who may run.
 *   P1. Decisions are made in call order, one question at a time, and none is left when `permit` resolves (SCH-11).
 *   P2. A denial is final: it never asks, whatever the mode (PERM-6).
 *   P3. What was asked and what was answered is on disk before `permit` resolves (SES-2).
 *   P4. A grant answers later questions about the same action and label, after a restart too (PERM-7).
 */
export class Permissions {
  readonly #ports: PermitPorts;
  #isUnsynced = false;

  constructor(ports: PermitPorts) {
    this.#ports = ports;
  }

  async permit(
    calls: readonly StagedCall[],
    policy: PermitPolicy,
    signal: AbortSignal,
  ): Promise<readonly StagedCall[]> {
    const decided: StagedCall[] = [];
    for (const call of calls) {
      const end = call.stage === 'ready' ? await this.#decide(call, policy, signal) : null;
      decided.push(end === null ? call : { ...call, stage: 'settled', end });
    }
    if (this.#isUnsynced) await this.#sync();
    return decided;
  }

  /** Null lets the call run. */
  async #decide(
    call: ReadyCall,
    { rules, mode }: PermitPolicy,
    signal: AbortSignal,
  ): Promise<CallEnd | null> {
    if (signal.aborted) return cancelledEnd(NOT_STARTED);
    const { permission } = call.operation;
    const { effect, rule } = decide(permission, rules);
    if (effect === 'allow') return null;
    if (effect === 'deny' || rule === null) return forbiddenEnd(permission, rule);
    return this.#ask(call, mode === 'auto' ? `${rule} (mode auto asks: it has no classifier)` : rule, {
      mode,
      signal,
    });
  }

  async #ask(
    call: ReadyCall,
    rule: string,
    { mode, signal }: { mode: PermissionMode; signal: AbortSignal },
  ): Promise<CallEnd | null> {
    const approvalId = this.#request(call);
    const granted = this.#ports.grants.has(call.operation.permission);
    if (granted || mode === 'yolo') {
      const source = granted ? 'grant' : 'mode';
      this.#finalize(approvalId, { decision: 'once', source, feedback: null });
      return null;
    }
    await this.#sync();
    const answer = await this.#answer({ approvalId, rule }, call, signal);
    this.#finalize(approvalId, answer);
    await this.#sync();
    if (answer.decision === 'always' || answer.decision === 'once') return null;
    if (answer.decision === 'cancelled') return cancelledEnd('the question about this call was cancelled');
    return refusedEnd(call.operation.permission, rule, answer);
  }

  /** An approver that breaks its contract refuses: nothing may run because of a fault. */
  async #answer(
    { approvalId, rule }: { approvalId: string; rule: string },
    { callId, tool, operation }: ReadyCall,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer> {
    const { approver, clock } = this.#ports;
    const name = operation.standsFor?.tool ?? tool.spec.name;
    const question = { approvalId, callId, tool: name, request: operation.permission, rule };
    const settled = await settleWithGrace(() => approver.ask(question, signal), { clock, signal });
    if (signal.aborted || settled.kind === 'abandoned') return CANCELLED;
    if (settled.kind === 'value') return settled.value;
    return { decision: 'reject', source: 'policy', feedback: messageOf(settled.thrown) };
  }

  #request({ callId, operation: { permission, operationSha256 } }: ReadyCall): string {
    const approvalId = this.#ports.ids.uuid();
    this.#ports.sink.append({
      type: 'approval_requested',
      approval_id: approvalId,
      tool_call_id: callId,
      action: permission.action,
      label: permission.label,
      operation_sha256: operationSha256,
      expires_at: null,
    });
    return approvalId;
  }

  async #sync(): Promise<void> {
    await this.#ports.sink.sync();
    this.#isUnsynced = false;
  }

  #finalize(approvalId: string, { decision, source, feedback }: Finalized): void {
    this.#isUnsynced = true;
    this.#ports.sink.append({
      type: 'approval_finalized',
      approval_id: approvalId,
      decision,
      source,
      feedback,
    });
  }
}
