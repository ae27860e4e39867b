import { join } from 'node:path';
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { Architecture, Code, type ILayerVersion, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { TIMEOUTS } from '../../functions/shared/settings/timeouts.ts';
import type { Layer, Tool } from '../../functions/shared/tool.ts';
import { Endpoint } from './constructs/endpoint.ts';
import { Front } from './constructs/front.ts';
import { KeyTable } from './constructs/key-table.ts';
import { placementOf } from './constructs/placement.ts';
import { RateRule } from './constructs/rate-rule.ts';
import { ResultsBucket } from './constructs/results-bucket.ts';
import { ServiceFunction, type ServiceFunctionProps } from './constructs/service-function.ts';
import type { Settings } from './settings.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly tools: readonly Tool[];
  /** Folder of the built `functions/` and `layers/`. */
  readonly artefacts: string;
}

/** The whole service: endpoint → router → one function per tool → bucket. */
export class ServiceStack extends Stack {
  readonly #settings: Settings;
  readonly #artefacts: string;
  readonly #layers = new Map<Layer, ILayerVersion>();

  constructor(scope: Construct, id: string, { settings, tools, artefacts, ...props }: ServiceStackProps) {
    super(scope, id, props);
    this.#settings = settings;
    this.#artefacts = artefacts;
    const bucket = new ResultsBucket(this, 'Results', { days: settings.resultDays });
    const table = new KeyTable(this, 'Keys');
    const endpoint = new Endpoint(this, 'Endpoint', settings);
    const gateway = `${endpoint.restApiId}.execute-api.${this.region}.${this.urlSuffix}`;
    const host = settings.domain?.name ?? gateway;
    const front = settings.front && new Front(this, 'Front', { host, ...settings.front });

    const ownHosts = [gateway, settings.domain?.name, settings.front?.domain?.name].filter((name) => name);
    const functions = tools.map((tool) => [tool.name, this.#addTool(tool, ownHosts.join(','))] as const);
    const arns = Object.fromEntries(functions.map(([name, { invoked }]) => [name, invoked.functionArn]));
    const router = this.#addFunction('router', {
      description: 'Reads requests, invokes tools, signs addresses.',
      // Nothing native in it, so the cheaper processor will do.
      architecture: Architecture.ARM_64,
      layers: [],
      memory: 1024,
      temporary: 512,
      timeout: TIMEOUTS.router,
      environment: {
        RESULTS_BUCKET: bucket.bucketName,
        KEY_TABLE: table.tableName,
        TOOL_FUNCTIONS: this.toJsonString(arns),
        ADDRESS_LIFE: String(settings.addressLife),
        ACCOUNT_URL: settings.accountUrl,
        SUPPORT_URL: settings.supportUrl,
        MAX_SOURCE_MB: String(settings.limits.sourceMegabytes),
        MAX_RESULT_MB: String(settings.limits.resultMegabytes),
        CONVERSION_TIME: String(settings.limits.seconds),
      },
    });
    // What the router signs is done with its rights: forms that store results, addresses that read them.
    router.allow(['s3:PutObject', 's3:GetObject'], [bucket.arnForObjects('*')]);
    router.acknowledgeStar(
      `<${this.getLogicalId(bucket.node.defaultChild as CfnBucket)}.Arn>/*`,
      'All objects of one bucket.',
    );
    router.allow(['dynamodb:GetItem'], [table.tableArn]);
    router.allow(['lambda:InvokeFunction'], Object.values(arns));
    endpoint.connect(router.invoked);
    if (settings.wafRate !== undefined) {
      new RateRule(this, 'RateRule', { rate: settings.wafRate, stageArn: endpoint.deploymentStage.stageArn });
    }

    this.#output('BaseAddress', `https://${host}`, 'Conversions are at this address with /api/ behind it.');
    if (front)
      this.#output('FrontAddress', `http://${front.distributionDomainName}`, 'The same, by http and https.');
    this.#output('ResultsBucket', bucket.bucketName, 'Holds the results.');
    this.#output('KeyTable', table.tableName, 'Holds the hashes of the keys.');
    this.#output(
      'CreateKey',
      `npm run key:aws -- --table ${table.tableName} --region ${this.region}`,
      'Makes a key.',
    );
  }

  #addTool(tool: Tool, ownHosts: string): ServiceFunction {
    const { network } = this.#settings;
    return this.#addFunction(tool.name, {
      description: tool.summary,
      // Chromium exists for this processor only, and every tool is proven on it.
      architecture: Architecture.X86_64,
      layers: tool.sizing.layers.map((layer) => this.#layer(layer)),
      memory: tool.sizing.memory,
      // A source, what is inflated of the layers, and all results of one conversion, with room.
      temporary: 2048,
      timeout: TIMEOUTS.tool,
      environment: { OWN_HOSTS: ownHosts },
      ...(network?.tools.includes(tool.name) && { placement: placementOf(this, network) }),
    });
  }

  #addFunction(
    name: string,
    props: Omit<ServiceFunctionProps, 'code' | 'logDays' | 'reserved' | 'provisioned'>,
  ): ServiceFunction {
    const { memory, logDays, reserved, provisioned } = this.#settings;
    return new ServiceFunction(this, name, {
      ...props,
      code: join(this.#artefacts, 'functions', name),
      memory: memory[name] ?? props.memory,
      logDays,
      reserved: reserved[name],
      provisioned: provisioned[name],
    });
  }

  #layer(name: Layer): ILayerVersion {
    const layer =
      this.#layers.get(name) ??
      new LayerVersion(this, `${name}Layer`, {
        code: Code.fromAsset(join(this.#artefacts, 'layers', name), { exclude: ['.recipe'] }),
        compatibleArchitectures: [Architecture.X86_64],
        description: `The contents of /opt/${name}.`,
      });
    this.#layers.set(name, layer);
    return layer;
  }

  #output(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}
