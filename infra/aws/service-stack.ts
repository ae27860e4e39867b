import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Docmill, type DocmillProps } from './docmill.ts';

/** A stack with nothing but the service. */
export class ServiceStack extends Stack {
  readonly service: Docmill;

  constructor(scope: Construct, id: string, { settings, artifacts, ...props }: StackProps & DocmillProps) {
    super(scope, id, props);
    // The ID `Default` is not part of the logical IDs of resources, so that they do not depend on this class.
    this.service = new Docmill(this, 'Default', { artifacts, settings });
  }
}
