import { inFile } from '../list.ts';

/** Faults in how options, names and formats are read. */
export const options = [
  ...inFile('functions/shared/options/args.ts', [
    ['return /[:,]/.test(first) || second === undefined', 'return second === undefined'],
  ]),
  ...inFile('functions/shared/options/geometry.ts', [['side > MAX_SIDE', 'side >= MAX_SIDE']]),
  ...inFile('functions/shared/options/option.ts', [
    ['isOn !== inverted.includes(name)', 'isOn || inverted.includes(name)'],
    ['length <= max && ', ''],
    [' && !/\\p{Cc}/u.test(value)', ''],
    ['url && /^https?:$/.test(url.protocol) && ', 'url && '],
    ['if (first > 0 && last > 0 && last < first) return undefined;', ''],
    ['value >= min && value <= max', 'value > min && value <= max'],
  ]),
  ...inFile('functions/shared/options/args.ts', [
    ['!settings.has(name) || given', '!settings.has(name) && given'],
  ]),
  ...inFile('functions/shared/options/page-selection.ts', [
    ['Math.min(lastPage || pageCount, pageCount)', 'lastPage || pageCount'],
    ['if (first < 1 || first > pageCount)', 'if (first > pageCount)'],
  ]),
  ...inFile('functions/shared/options/read-options.ts', [
    ['one.value.length > max', 'one.value.length > 10 * max'],
    ['if (length > MAX_VALUES) return', 'if (length > 10 * MAX_VALUES) return'],
    ['total <= (option.maxTotal ?? total)', 'total <= total'],
    ['options[known!.key] = tool.options[known!.key]!.default;', ''],
    ['else if (known?.option.protects)', 'else if (!known?.option.protects)'],
    ['return !isWritten || inputs?.includes(sourceKind) === false;', 'return !isWritten;'],
    ['for (const issue of tool.validate?.(options, format) ?? []) issues.add(issue);', ''],
  ]),
  ...inFile('functions/shared/options/option.ts', [['{1,100}$/u', '{1,100}/u']]),
  ...inFile('functions/shared/output-name.ts', [['/^\\.|\\.\\./.test(pattern)', '/^\\./.test(pattern)']]),
  ...inFile('functions/imageproc/options/values.ts', [['black + white < 100', 'black + white <= 100']]),
  ...inFile(
    'functions/engines/chromium/page-options.ts',
    [['read && !OWN_HEADERS.test(read.name) && ', 'read && !OWN_HEADERS.test(read.value) && ']],
    'test/functions/engines/chromium/page/visit.engine',
  ),
];
