import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textSetting } from '../../functions/shared/settings/environment.ts';

/** File in which `npm run deploy` keeps the outputs of each stack that was deployed from this checkout. */
export const OUTPUTS_FILE = join(import.meta.dirname, '../../dist/aws/outputs.json');

/** File among the built functions with the versions of the service and its engines. */
export const VERSION_FILE = 'version.json';

/** The outputs of one stack by name. */
type Outputs = Readonly<Record<string, string>>;

/**
 * Reads the outputs of all stacks from a file that `cdk deploy --outputs-file` has written. Returns none if it does
 * not exist.
 */
export async function readOutputs(file: string): Promise<Readonly<Record<string, Outputs>>> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? {} : (JSON.parse(text) as Record<string, Outputs>);
}

/**
 * Returns the region for a client of the SDK, which unlike the CDK ignores `AWS_DEFAULT_REGION`. Without a variable, it is that of the
 * profile.
 */
export function regionOption(chosen?: string): { readonly region?: string } {
  const region =
    chosen ?? textSetting('AWS_REGION', undefined) ?? textSetting('AWS_DEFAULT_REGION', undefined);
  return region === undefined ? {} : { region };
}

interface Stage {
  /** Name of the stage. Absent for the default stage. */
  readonly name?: string;
  /** Appended to the stack's name. */
  readonly suffix: string;
  /** Tags of every resource. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Returns the name of a stage's stack. */
export function stackName(serviceName: string, { suffix }: Pick<Stage, 'suffix'>): string {
  return `${serviceName}${suffix}`;
}

/** Reads `-c stage=dev`. Each stage has its own stack. */
export function readStage(stage: unknown): Stage {
  const service = { service: 'docmill' };
  if (stage === undefined) return { suffix: '', tags: service };
  if (typeof stage !== 'string' || !/^[a-z][a-z0-9]{0,15}$/.test(stage)) {
    throw new Error(`The stage must be a word such as dev or prod, got '${stage}'.`);
  }
  return {
    name: stage,
    suffix: `-${stage}`,
    tags: { ...service, stage },
  };
}
