/** `[messaging]` of the configuration (MSG-8). */
export interface MessagingSettings {
  readonly enabled: boolean;
  /** 0 or less turns hop counting off. */
  readonly maxHops: number;
  /** UTF-8 bytes. */
  readonly maxBodyBytes: number;
  /** Agents' messages that are neither consumed nor discarded, for one recipient. */
  readonly maxPendingPerSession: number;
  /** The same for one sender and one recipient; 0 turns the window off. */
  readonly maxInflightPerPair: number;
}

export const DEFAULT_MESSAGING_SETTINGS: MessagingSettings = {
  enabled: true,
  maxHops: 0,
  maxBodyBytes: 32_768,
  maxPendingPerSession: 32,
  maxInflightPerPair: 4,
};
