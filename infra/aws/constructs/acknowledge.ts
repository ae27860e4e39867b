import { Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** Says why a construct does not follow rules of `AwsSolutionsChecks`, by their names. */
export function acknowledge(construct: Construct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(construct).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
  }
}
