import { join } from 'node:path';
import { App, Tags, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { checkContext } from './context.ts';
import { readStage, stackName } from './outputs.ts';
import { ServiceStack } from './service-stack.ts';
import { checkRegion, readSettings } from './settings.ts';

const app = new App();
checkContext(app.node);
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const stage = readStage(app.node.tryGetContext('stage'));
const { name, tags } = stage;
const file = app.node.tryGetContext('settings') as string | undefined;
const settings = readSettings({ ...(file && { file }), ...(name && { stage: name }) });
// The CDK's command sets it to the region of the credentials.
checkRegion(settings, textSetting('CDK_DEFAULT_REGION', undefined));
const stack = new ServiceStack(app, stackName(settings.name, stage), {
  settings,
  artifacts: join(import.meta.dirname, '../../dist/aws'),
  description: 'docmill: converts documents, web pages and images with one GET.',
  terminationProtection: settings.production,
});
for (const [name, value] of Object.entries(tags)) Tags.of(stack).add(name, value);
