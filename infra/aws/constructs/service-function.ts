import { Duration, RemovalPolicy, Size, Validations } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type Architecture,
  Code,
  type FunctionProps,
  type IFunction,
  type ILayerVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface ServiceFunctionProps {
  readonly description: string;
  /** Folder with `index.mjs` and what it needs. */
  readonly code: string;
  readonly architecture: Architecture;
  readonly layers: readonly ILayerVersion[];
  /** MiB. */
  readonly memory: number;
  /** MiB of `/tmp`. */
  readonly temporary: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly logDays: RetentionDays;
  readonly reserved: number | undefined;
  readonly provisioned: number | undefined;
  readonly placement?: Pick<FunctionProps, 'vpc' | 'vpcSubnets' | 'securityGroups'>;
}

/** A function with a role and a log group of its own; the role may write that log and nothing else until it is granted. */
export class ServiceFunction extends Construct {
  /** What callers invoke: the function, or the alias that is kept warm. */
  readonly invoked: IFunction;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Log', {
      retention: props.logDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]);
    if (props.placement) this.#allowNetworkInterfaces();

    const lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: props.architecture,
      handler: 'index.handler',
      code: Code.fromAsset(props.code),
      layers: [...props.layers],
      memorySize: props.memory,
      ephemeralStorageSize: Size.mebibytes(props.temporary),
      timeout: Duration.millis(props.timeout),
      environment: { ...props.environment },
      role: this.#role.withoutPolicyUpdates(),
      logGroup,
      ...(props.reserved !== undefined && { reservedConcurrentExecutions: props.reserved }),
      ...props.placement,
    });
    const { provisioned } = props;
    // The CDK's own classes do not fit its own interfaces under `exactOptionalPropertyTypes`.
    this.invoked = (
      provisioned === undefined
        ? lambda
        : lambda.addAlias('warm', { provisionedConcurrentExecutions: provisioned })
    ) as IFunction;
  }

  /** Adds one right. */
  allow(actions: string[], resources: string[]): void {
    this.#role.addToPolicy(new PolicyStatement({ actions, resources }));
  }

  /** Says why a right may end in a star. */
  acknowledgeStar(resource: string, reason: string): void {
    Validations.of(this).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`,
      reason,
    });
  }

  /** What Lambda itself needs to attach a function to a VPC; code in the function is denied the same. */
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
    this.acknowledgeStar('*', 'An interface that does not exist yet has no narrower name.');
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
