import type { ArtifactReader, MediaGate } from '@agentd/contract';

/** A stage name on record. */
export interface StageRecord {
  /** Takes the name off the record. Idempotent. */
  readonly forget: () => Promise<void>;
}

/**
 * Remembers which files are only stages of a publication, so that a crash leaves no litter (FS-9).
 * Contract: a stage name is recorded before it is used and forgotten after; the record of a process that died is
 * told from that of a living one, and whoever opens the project next removes what the dead one left.
 */
export interface StageJournal {
  /** `stage` is an absolute path that does not exist yet. Resolves once the name would survive a kill. */
  readonly record: (stage: string) => Promise<StageRecord>;
}

/** What the file tools ask of their surroundings. */
export interface FileToolPorts {
  /** Serves `read` of `artifact://` URIs; null where nothing retains output. */
  readonly artifacts: ArtifactReader | null;
  /** Says which files `read` attaches for the model; null, or absent, where nothing carries attachments. */
  readonly media?: MediaGate | null;
  /** Null leaves the stage of a killed process where it is. */
  readonly stages: StageJournal | null;
  /** Absolute folder that `~` stands for. */
  readonly home: string;
}
