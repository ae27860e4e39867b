import { Annotations, Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { type IVpc, SecurityGroup, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Effect, Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  type Alias,
  type Architecture,
  type CfnFunction,
  type Code,
  type EventInvokeConfigOptions,
  type FunctionProps,
  type IDestination,
  type ILayerVersion,
  Function as LambdaFunction,
  Runtime,
  TenancyConfig,
  type Version,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  ENVIRONMENT_VARIABLE,
  type HeartbeatEnvironment,
  type RouterEnvironment,
  type SiteEnvironment,
  type ToolEnvironment,
} from '../../../functions/platform/aws/environment.ts';
import { LIVE_ALIAS } from '../../../functions/shared/settings/aws.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

/** Bytes of a function's environment. Lambda accepts 4 KB with the names of the variables. */
const MAX_ENVIRONMENT = 3900;

export interface ServiceFunctionProps {
  readonly description: string;
  /** Code whose module `index` exports `handler`. */
  readonly code: Code;
  readonly architecture: Architecture;
  readonly layers: readonly ILayerVersion[];
  /** Memory in MiB. */
  readonly memory: number;
  /** Size of `/tmp` in MiB. */
  readonly temporaryMegabytes: number;
  /** Timeout in milliseconds. */
  readonly timeout: number;
  /** Settings that the function reads at startup, as JSON in one variable. */
  readonly environment: RouterEnvironment | SiteEnvironment | ToolEnvironment | HeartbeatEnvironment;
  /** Whether each account has its own execution environments. */
  readonly isolated: boolean;
  readonly logDays: RetentionDays;
  /** Encrypts the log. */
  readonly key: IKey | undefined;
  readonly reserved: number | undefined;
  readonly provisioned: number | undefined;
  /** Queues or topics for the results of asynchronous invocations. */
  readonly destinations?: Settings['destinations'];
  /** Keeps the events of asynchronous invocations that fail. */
  readonly failures?: IQueue | undefined;
  /** Makes it a durable function, whose executions may take this many days. */
  readonly durableDays?: number;
  readonly placement?: Pick<FunctionProps, 'vpc' | 'vpcSubnets' | 'securityGroups'>;
}

/**
 * A function with its own role and log group. The role may only write to that log until it is granted more. Each
 * deployment publishes a version and keeps the earlier ones, so that a release can be rolled back.
 */
export class ServiceFunction extends Construct {
  /** The version of this deployment. */
  readonly version: Version;
  /** Points to the version of the last deployment or, after a rollback, to an earlier one. */
  readonly live: Alias;
  readonly logGroup: LogGroup;
  readonly #lambda: LambdaFunction;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Log', {
      retention: props.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(props.key && { encryptionKey: props.key }),
    });
    this.logGroup = logGroup;
    this.#role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
    if (props.placement) this.#allowNetworkInterfaces();
    if (props.failures) this.allow(['sqs:SendMessage'], [props.failures.queueArn]);

    const { provisioned } = props;
    const environment = Stack.of(this).toJsonString(props.environment);
    // References to other resources are about as long as their values.
    const bytes = JSON.stringify(props.environment).length;
    if (bytes > MAX_ENVIRONMENT)
      throw new Error(
        `The settings of ${id} take ${bytes} of at most ${MAX_ENVIRONMENT} bytes. Shorten corsOrigins or the URLs.`,
      );
    this.#lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: props.architecture,
      handler: 'index.handler',
      code: props.code,
      layers: [...props.layers],
      memorySize: props.memory,
      ephemeralStorageSize: Size.mebibytes(props.temporaryMegabytes),
      timeout: Duration.millis(props.timeout),
      environment: { [ENVIRONMENT_VARIABLE]: environment },
      role: this.#role.withoutPolicyUpdates(),
      logGroup,
      ...(props.durableDays !== undefined && {
        durableConfig: {
          executionTimeout: Duration.days(props.durableDays),
          retentionPeriod: Duration.days(1),
        },
      }),
      ...(props.failures && { deadLetterQueue: props.failures }),
      ...(props.isolated && { tenancyConfig: TenancyConfig.PER_TENANT }),
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      currentVersionOptions:
        provisioned === undefined
          ? // Not RETAIN: if the deployment fails, a version that stays would keep the same code from being published again.
            { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE }
          : // Provisioned concurrency of an old version would still be billed.
            { removalPolicy: RemovalPolicy.DESTROY, provisionedConcurrentExecutions: provisioned },
      ...props.placement,
    });
    this.version = this.#lambda.currentVersion;
    // Lambda would repeat a failed asynchronous invocation and convert again.
    if (props.durableDays !== undefined) this.#allowCheckpoints();
    this.live = this.#lambda.addAlias(LIVE_ALIAS, { retryAttempts: 0, ...this.#allowDestinations(props) });
  }

  /** Grants one permission. */
  allow(actions: string[], resources: string[], conditions: Record<string, object> = {}): void {
    this.#role.addToPolicy(new PolicyStatement({ actions, resources, conditions }));
  }

  /**
   * Allows this function to invoke any version of another, because after a rollback an older router invokes the
   * tools' older versions.
   */
  allowInvoke(others: readonly ServiceFunction[]): void {
    this.allow(
      ['lambda:InvokeFunction'],
      others.map((other) => `${other.#lambda.functionArn}:*`),
    );
    for (const other of others) {
      const id = Stack.of(other).getLogicalId(other.#lambda.node.defaultChild as CfnFunction);
      this.acknowledgeStar(`<${id}.Arn>:*`, 'All versions of one function.');
    }
  }

  /** Allows a durable function to record its steps. A policy of its own, because the role's would wait for the function. */
  #allowCheckpoints(): void {
    const actions = ['lambda:CheckpointDurableExecution', 'lambda:GetDurableExecutionState'];
    new Policy(this, 'Checkpoints', {
      roles: [this.#role],
      statements: [new PolicyStatement({ actions, resources: [`${this.#lambda.functionArn}:*`] })],
    });
    const id = Stack.of(this).getLogicalId(this.#lambda.node.defaultChild as CfnFunction);
    this.acknowledgeStar(`<${id}.Arn>:*`, 'All versions of one function.');
  }

  /** Documents why a permission may end with a wildcard. */
  acknowledgeStar(resource: string, reason: string): void {
    acknowledge(this, { [`IAM5[Resource::${resource}]`]: reason });
  }

  /** Returns the destinations of asynchronous invocations, which Lambda writes to with the role of the function. */
  #allowDestinations({ destinations = {} }: ServiceFunctionProps): EventInvokeConfigOptions {
    const configured = Object.entries(destinations).filter(([, arn]) => arn !== undefined);
    for (const arn of new Set(configured.map(([, arn]) => arn!)))
      this.allow([arn.split(':')[2] === 'sqs' ? 'sqs:SendMessage' : 'sns:Publish'], [arn]);
    return Object.fromEntries(
      configured.map(([name, arn]) => [name, { bind: () => ({ destination: arn! }) } satisfies IDestination]),
    );
  }

  /**
   * Grants the permissions that Lambda needs to attach a function to a VPC, and denies them to code in the function.
   */
  #allowNetworkInterfaces(): void {
    const actions = [
      'ec2:CreateNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:DeleteNetworkInterface',
      'ec2:AssignPrivateIpAddresses',
      'ec2:UnassignPrivateIpAddresses',
    ];
    this.allow(actions, ['*']);
    this.acknowledgeStar('*', 'A network interface that does not exist yet has no ARN.');
    this.#role.addToPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions,
        resources: ['*'],
        conditions: { ArnLike: { 'lambda:SourceFunctionArn': 'arn:*:lambda:*:*:function:*' } },
      }),
    );
  }
}

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
