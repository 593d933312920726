/** One promise of a port as plain data: run it against every implementation. It throws where the promise is broken. */
export interface ContractCase<Subject> {
  readonly name: string;
  readonly run: (subject: Subject) => Promise<void>;
}
