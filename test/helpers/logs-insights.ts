/** A log event: the fields of its JSON, and those that CloudWatch adds, such as `@timestamp`. */
export type LogEvent = Readonly<Record<string, unknown>>;

/** Returns the log events of functions, whose logs are given by name. Lines that are not JSON are left out. */
export function readEvents(logs: ReadonlyMap<string, string>): LogEvent[] {
  return [...logs].flatMap(([name, log]) =>
    log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .map((fields) => ({ ...fields, '@log': name, '@timestamp': Date.parse(fields.time) })),
  );
}

type Command = (text: string) => (events: readonly LogEvent[]) => LogEvent[];

/** The commands of the saved queries, in the forms that these have. */
const COMMANDS: Readonly<Record<string, Command>> = {
  fields: (text) => {
    const names = text.split(', ').map(fieldName);
    return (events) => events.map((event) => pick(event, names));
  },
  filter: (text) => {
    const choices = text.split(' or ').map((choice) => choice.split(' and ').map(comparison));
    return (events) => events.filter((event) => choices.some((all) => all.every((holds) => holds(event))));
  },
  sort: (text) => {
    const [, name, order] = match(/^(\S+) (asc|desc)$/, text);
    const sign = order === 'asc' ? 1 : -1;
    return (events) =>
      events.toSorted((one, other) => sign * (Number(one[name!] ?? 0) - Number(other[name!] ?? 0)));
  },
  limit: (text) => {
    const [limit] = match(/^\d+$/, text);
    return (events) => events.slice(0, Number(limit));
  },
  stats: (text) => {
    const [, columns, by] = match(/^(.+) by (.+)$/, text);
    const names = by!.split(', ').map(fieldName);
    const aggregates = columns!.split(', ').map(aggregate);
    return (events) =>
      [...Map.groupBy(events, (event) => JSON.stringify(pick(event, names)))].map(([group, all]) => ({
        ...JSON.parse(group),
        ...Object.fromEntries(aggregates.map(({ name, of }) => [name, of(all)])),
      }));
  },
};

const AGGREGATES: Readonly<Record<string, (events: readonly LogEvent[], field: string) => unknown>> = {
  count: (events) => events.length,
  count_distinct: (events, field) => new Set(events.flatMap((event) => event[field] ?? [])).size,
  latest: (events, field) =>
    events.toSorted((one, other) => Number(one['@timestamp']) - Number(other['@timestamp'])).at(-1)?.[field],
};

/**
 * Runs a saved query of CloudWatch Logs Insights over log events.
 * @throws Error for anything that the saved queries do not use.
 */
export function runQuery(query: string, events: readonly LogEvent[]): LogEvent[] {
  // `fields` chooses what is shown. The commands after it still see all fields.
  const lines = query.split('\n| ').toSorted((one, other) => rank(one) - rank(other));
  return lines.reduce<LogEvent[]>(
    (found, line) => {
      const [, name, text] = match(/^(\w+) (.+)$/, line);
      return known(COMMANDS, name!)(text!)(found);
    },
    [...events],
  );
}

function rank(line: string): number {
  return Number(line.startsWith('fields '));
}

function comparison(text: string): (event: LogEvent) => boolean {
  const [, name, operator, value] = match(/^(\w+) (!?=) '([^']*)'$/, text);
  return (event) => name! in event && (event[name!] === value) === (operator === '=');
}

function aggregate(text: string) {
  const [, call, field, name] = match(/^(\w+)\((\*|\w+)\) as (\w+)$/, text);
  const compute = known(AGGREGATES, call!);
  return { name: name!, of: (events: readonly LogEvent[]) => compute(events, field!) };
}

function fieldName(text: string): string {
  return match(/^@?\w+$/, text)[0];
}

function pick(event: LogEvent, names: readonly string[]): LogEvent {
  return Object.fromEntries(names.filter((name) => name in event).map((name) => [name, event[name]]));
}

function match(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (!found) throw new Error(`The test helper does not know this part of a query: ${text}`);
  return found;
}

function known<Value>(values: Readonly<Record<string, Value>>, name: string): Value {
  const value = values[name];
  if (!value) throw new Error(`The test helper does not know '${name}' in a query.`);
  return value;
}
