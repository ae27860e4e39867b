import type { IncomingMessage } from 'node:http';

/** One action on one resource of an AWS service. */
export interface Call {
  readonly action: string;
  readonly resource: string;
}

/** How one service names the calls of a request, and how it refuses them. */
export interface Service {
  callsOf(request: IncomingMessage, body: Buffer): readonly Call[];
  readonly refusal: { readonly status: number; readonly contentType: string; readonly body: string };
}

const ACCOUNT = '123456789012';
const REGION = 'us-east-1';
const OBJECT_ACTIONS: Readonly<Record<string, string>> = {
  GET: 's3:GetObject',
  HEAD: 's3:GetObject',
  PUT: 's3:PutObject',
  DELETE: 's3:DeleteObject',
};

export const S3: Service = {
  callsOf({ method = '', url = '' }, body) {
    // The preflight of a browser needs no right.
    if (method === 'OPTIONS') return [];
    const [, bucket = '', ...rest] = new URL(url, 'http://s3').pathname.split('/').map(decodeURIComponent);
    const key = rest.join('/');
    if (method === 'POST' && key === '') {
      const [, formKey = ''] = /name="key"\r\n\r\n(.*?)\r\n/s.exec(body.toString('latin1', 0, 20_000)) ?? [];
      const decoded = Buffer.from(formKey, 'latin1').toString();
      return [{ action: 's3:PutObject', resource: `arn:aws:s3:::${bucket}/${decoded}` }];
    }
    if (key === '') return [{ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}` }];
    const action = OBJECT_ACTIONS[method] ?? `s3:${method}`;
    return [{ action, resource: `arn:aws:s3:::${bucket}/${key}` }];
  },
  refusal: {
    status: 403,
    contentType: 'application/xml',
    body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
  },
};

export const DYNAMODB: Service = {
  callsOf({ headers }, body) {
    const operation = String(headers['x-amz-target']).split('.').at(-1);
    const { TableName, RequestItems = {} } = JSON.parse(body.toString()) as {
      TableName?: string;
      RequestItems?: object;
    };
    const tables = TableName === undefined ? Object.keys(RequestItems) : [TableName];
    return tables.map((table) => ({
      action: `dynamodb:${operation}`,
      resource: `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${table}`,
    }));
  },
  refusal: {
    status: 400,
    contentType: 'application/x-amz-json-1.0',
    body: '{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"not authorized"}',
  },
};

export const LAMBDA: Service = {
  callsOf({ url = '' }) {
    const [, name = ''] = /\/functions\/([^/]+)\/invocations/.exec(decodeURIComponent(url)) ?? [];
    return [{ action: 'lambda:InvokeFunction', resource: name }];
  },
  refusal: {
    status: 403,
    contentType: 'application/json',
    body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
  },
};

export const SSM: Service = {
  callsOf({ headers }, body) {
    const operation = String(headers['x-amz-target']).split('.').at(-1);
    const { Names = [] } = JSON.parse(body.toString()) as { Names?: string[] };
    return Names.map((name) => ({
      action: `ssm:${operation}`,
      resource: `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter${name}`,
    }));
  },
  refusal: {
    status: 400,
    contentType: 'application/x-amz-json-1.1',
    body: '{"__type":"AccessDeniedException","Message":"not authorized"}',
  },
};
