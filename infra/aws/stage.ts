interface Stage {
  /** Name of the stage. Absent for the default stage. */
  readonly name?: string;
  /** Appended to the stack's name. */
  readonly suffix: string;
  /** Tags of every resource. */
  readonly tags: Readonly<Record<string, string>>;
  /** Whether the stack is protected against deletion. */
  readonly terminationProtection: boolean;
}

/** Returns the name of a stage's stack. */
export function stackName(serviceName: string, { suffix }: Pick<Stage, 'suffix'>): string {
  return `${serviceName}${suffix}`;
}

/** Reads `-c stage=dev`. Each stage has its own stack, and `prod` cannot be deleted by accident. */
export function readStage(stage: unknown): Stage {
  const service = { service: 'docmill' };
  if (stage === undefined) return { suffix: '', tags: service, terminationProtection: false };
  if (typeof stage !== 'string' || !/^[a-z][a-z0-9]{0,15}$/.test(stage)) {
    throw new Error(`The stage must be a word such as dev or prod, got '${stage}'.`);
  }
  return {
    name: stage,
    suffix: `-${stage}`,
    tags: { ...service, stage },
    terminationProtection: stage === 'prod',
  };
}
