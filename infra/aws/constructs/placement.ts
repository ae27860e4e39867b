import { Annotations } from 'aws-cdk-lib';
import { type IVpc, SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { FunctionProps } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

/** References the operator's subnets and security groups without a lookup, so that synthesis works offline. */
export function placementOf(
  scope: Construct,
  { subnetIds, securityGroupIds }: NonNullable<Settings['network']>,
): Pick<FunctionProps, 'vpc' | 'vpcSubnets' | 'securityGroups'> {
  const once = <Found extends Construct>(id: string, make: () => Found) =>
    (scope.node.tryFindChild(id) as Found | undefined) ?? make();
  const subnets = subnetIds.map((subnetId) =>
    once(subnetId, () => Subnet.fromSubnetId(scope, subnetId, subnetId) as Subnet),
  );
  const groups = securityGroupIds.map((groupId) =>
    once(
      groupId,
      () => SecurityGroup.fromSecurityGroupId(scope, groupId, groupId, { mutable: false }) as SecurityGroup,
    ),
  );
  const vpc = once(
    'Network',
    () =>
      // A function names only its subnets and security groups.
      Vpc.fromVpcAttributes(scope, 'Network', {
        vpcId: 'unused',
        availabilityZones: ['unused'],
        privateSubnetIds: [...subnetIds],
      }) as Vpc,
  );
  for (const subnet of [...subnets, ...vpc.privateSubnets]) {
    // The route tables of these subnets are never read.
    Annotations.of(subnet).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId');
  }
  // Under `exactOptionalPropertyTypes` the CDK's classes do not match its own interfaces.
  return { vpc: vpc as IVpc, vpcSubnets: { subnets }, securityGroups: groups };
}
