import type { Template } from 'aws-cdk-lib/assertions';
import { metricLine } from './aws-metrics.ts';

interface FilterResource {
  readonly FilterPattern: string;
  readonly LogGroupName: { readonly Ref: string };
  readonly MetricTransformations: ReadonlyArray<{
    readonly MetricNamespace: string;
    readonly MetricName: string;
    readonly MetricValue: string;
  }>;
}

/** Returns what the metric filters of a function's log group count in its lines, in the Embedded Metric Format. */
export function filterMetrics(template: Template, name: string, lines: readonly string[]): string[] {
  const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'))
    .map(({ Properties }) => Properties as FilterResource)
    .filter(({ LogGroupName }) => LogGroupName.Ref.replace(/Log[0-9A-F]{8}$/, '') === name);
  return filters.flatMap(({ FilterPattern, MetricTransformations }) => {
    const matching = lines.filter(matches(FilterPattern));
    return MetricTransformations.flatMap(({ MetricNamespace, MetricName, MetricValue }) =>
      matching.map(() => metricLine(MetricNamespace, {}, { [MetricName]: Number(MetricValue) })),
    );
  });
}

/** Reads a pattern of terms of which a line must contain at least one, such as `?"a b" ?"c"`. */
function matches(pattern: string): (line: string) => boolean {
  const terms = [...pattern.matchAll(/\?"([^"]+)"/g)].map(([, term]) => term!);
  if (terms.map((term) => `?"${term}"`).join(' ') !== pattern) throw new Error(`Unknown pattern: ${pattern}`);
  return (line) => terms.some((term) => line.includes(term));
}
