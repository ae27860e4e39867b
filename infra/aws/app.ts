import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as tools from '../../functions/tools.ts';
import { ServiceStack } from './service-stack.ts';
import { settings } from './settings.ts';

const app = new App();
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
new ServiceStack(app, settings.name, {
  settings,
  tools: Object.values(tools),
  artefacts: join(import.meta.dirname, '../../dist/aws'),
  description: 'docmill: converts documents, web pages and images with one GET.',
});
