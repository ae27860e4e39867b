import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleConstruct } from '../../../infra/aws/build/bundle.ts';
import { createArtifacts } from './artifacts.ts';

const APP = `import { App, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Docmill } from './aws/construct.mjs';

const stack = new Stack(new App({ outdir: 'out' }), 'documents');
const docmill = new Docmill(stack, 'Docmill', { settings: { accountConcurrency: 1000 } });
const caller = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
docmill.grantInvoke(caller, 'pdftools');
docmill.metric('Calls', { dimensionsMap: { code: 'INTERNAL' } }).createAlarm(stack, 'Mine', { threshold: 1, evaluationPeriods: 1 });
stack.node.root.synth();
`;
/** An empty network namespace, where the kernel allows one. */
const ALONE = ['--user', '--map-root-user', '--net'];

const folder = mkdtempSync(join(tmpdir(), 'outside-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, never>;
}

/** Runs a script in the folder of the app, without a network where possible. */
function runApp(script: string) {
  writeFileSync(join(folder, 'app.mjs'), script);
  const alone = spawnSync('unshare', [...ALONE, 'true']).status === 0;
  const [command, ...args] = alone ? ['unshare', ...ALONE, process.execPath] : [process.execPath];
  return spawnSync(command!, [...args, 'app.mjs'], { cwd: folder, encoding: 'utf8', env: { HOME: folder } });
}

beforeAll(async () => {
  const { artifacts, remove } = createArtifacts();
  cpSync(artifacts, join(folder, 'aws'), { recursive: true });
  remove();
  writeFileSync(join(folder, 'aws/construct.mjs'), await bundleConstruct());
  writeFileSync(join(folder, 'aws/version.json'), '{ "version": "1.2.3" }');
  // The app itself installs these, and nothing else.
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['aws-cdk-lib', 'constructs'])
    symlinkSync(join(import.meta.dirname, '../../../node_modules', name), join(folder, 'node_modules', name));
});

it('is used by an app of ten lines outside of the repository, which synthesizes offline', () => {
  expect(APP.trimEnd().split('\n').length).toBeLessThanOrEqual(10);

  const { status, stderr } = runApp(APP);

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { Resources } = JSON.parse(readFileSync(join(folder, 'out/documents.template.json'), 'utf8')) as {
    Resources: Record<string, Resource>;
  };
  const entries = Object.entries(Resources);
  const [granted, ...others] = entries.filter(([id]) => id.startsWith('CallerDefaultPolicy'));
  expect(others).toEqual([]);
  // The alias alone: versions trust their caller.
  expect(JSON.stringify(granted![1].Properties)).toMatch(
    /"Action":"lambda:InvokeFunction","Effect":"Allow","Resource":\{"Ref":"DocmillpdftoolsFunctionAliaslive\w+"\}/,
  );
  const router = entries.find(([id]) => id.startsWith('DocmillrouterFunction'))!;
  expect(JSON.stringify(router[1])).toContain('1.2.3');
  const alarm = entries.find(([id]) => id.startsWith('Mine'))!;
  expect(alarm[1].Properties).toMatchObject({ Namespace: 'documents-Docmill', MetricName: 'Calls' });
});

it('refuses settings and tools that do not exist', () => {
  expect(runApp(APP.replace('accountConcurrency', 'acountConcurrency')).stderr).toContain(
    'Unrecognized key: "acountConcurrency"',
  );
  expect(runApp(APP.replace("'pdftools'", "'pdftool'")).stderr).toContain("There is no tool 'pdftool'.");
  expect(runApp(APP.replace('settings: {', "artifacts: '/missing', settings: {")).stderr).toContain(
    'There are no built functions and layers in /missing.',
  );
});

it('has metrics, an API and queries of its own beside another service in the stack', () => {
  const { status } = runApp(
    APP.replace(
      'const caller',
      "new Docmill(new Stack(stack, 'Nested'), 'Docmill');\nnew Docmill(stack, 'Other');\nconst caller",
    ),
  );

  expect(status).toBe(0);
  const text = readFileSync(join(folder, 'out/documents.template.json'), 'utf8');
  for (const name of ['documents-Docmill', 'documents-Other'])
    expect(
      text.match(new RegExp(`"(Name|Namespace|MetricNamespace|Value)": "${name}["/]`, 'g'))!.length,
    ).toBeGreaterThan(20);
  expect(text).not.toMatch(/"(Name|Namespace|MetricNamespace)": "documents["/]/);
});
