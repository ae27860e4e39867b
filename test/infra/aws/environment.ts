import type { Template } from 'aws-cdk-lib/assertions';

type Part = string | { readonly Ref?: string; readonly 'Fn::GetAtt'?: readonly [string, string] };

/**
 * Returns what the functions of a stack read at their start, by the logical ID of the function. References to other resources are
 * their logical IDs.
 */
export function environmentsOf(template: Template): Readonly<Record<string, Record<string, unknown>>> {
  const functions = Object.entries(template.findResources('AWS::Lambda::Function'));
  return Object.fromEntries(
    functions
      .filter(([, { Properties }]) => Properties.Environment?.Variables?.ENVIRONMENT !== undefined)
      .map(([id, { Properties }]) => [id, JSON.parse(textOf(Properties.Environment.Variables.ENVIRONMENT))]),
  );
}

/** Returns the environment of the router, or of a tool. */
export function environmentOf(template: Template, name: string): Record<string, unknown> {
  const [, environment] = Object.entries(environmentsOf(template)).find(([id]) =>
    id.startsWith(`${name}Function`),
  )!;
  return environment;
}

function textOf(value: string | { readonly 'Fn::Join': readonly [string, readonly Part[]] }): string {
  if (typeof value === 'string') return value;
  const [separator, parts] = value['Fn::Join'];
  return parts
    .map((part) => (typeof part === 'string' ? part : (part.Ref ?? part['Fn::GetAtt']?.join('.') ?? '')))
    .join(separator);
}
