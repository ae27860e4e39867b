import { basename, relative } from 'node:path';
import { ConversionError, type DetailsOf } from '../../shared/errors.ts';
import type { EngineDependencies } from '../../shared/tool.ts';
import { WarmWorkers } from '../../shared/warm-workers.ts';
import { WorkerPool } from '../worker/pool.ts';
import { exportOptions, FILTERS, loadOptions, saveOptions } from './filter-options.ts';
import {
  DEFAULT_LOCALE,
  type HostReply,
  type HostRequest,
  hostCommand,
  systemLocaleOf,
  urlOf,
} from './host.ts';
import { INPUTS } from './inputs.ts';
import { macroUrl, type Stored } from './macro.ts';
import { columns, type OfficeConversion, type OfficeOptions } from './options.ts';
import type { Editable } from './outputs.ts';
import type { Document } from './sources.ts';

/**
 * Multiple of the page limit that a spreadsheet may extend over, because LibreOffice examines about 200,000 pages per
 * second.
 */
const EMPTY_PAGES = 2000;
/** CPU seconds to find the pages of a spreadsheet that extends further. Small print ranges take less than one. */
const EXTENT_SECONDS = 4;
/**
 * CPU limit in seconds for laying out a text document: a base, plus an allowance per byte. Documents of 300 pages
 * take 10 s, and shorter ones with complex tables take 1 s per 50 kB.
 */
const LAYOUT_SECONDS = 20;
const LAYOUT_SECONDS_PER_BYTE = 1 / 10_000;
/** Assumed number of cells per page. Each takes at least a byte of csv. */
const CELLS_PER_PAGE = 400;

/** MiB of an idle host, and how many for other locales stay warm where no budget of the machine applies. */
const COST = 160;
const MAX_FOREIGN = 2;

/** Messages for the error codes of the host; see `layers/libreoffice/main.c`. */
export const MESSAGES = {
  CORRUPT_SOURCE: () => 'LibreOffice cannot open the document. It may be damaged.',
  CONVERSION_FAILED: ({ seconds, hidden }: DetailsOf<'CONVERSION_FAILED'>) => {
    if (seconds !== undefined)
      return `LibreOffice did not finish the layout of the document in ${seconds} s.`;
    if (hidden !== undefined) return "All slides are hidden. Set '--hidden-slides' to include them.";
    return 'LibreOffice opened the document but could not convert it.';
  },
  PASSWORD_REQUIRED: () => "The document is encrypted. Set '--password' to open it.",
  WRONG_PASSWORD: () => "The value of '--password' does not open the document.",
  RESULT_TOO_LARGE: ({ sheet, cell }: DetailsOf<'RESULT_TOO_LARGE'>) =>
    `Sheet ${sheet} extends to cell ${cell}, which is too far for this output format.`,
};

/** Where a PDF is written, and which pages of the document it contains (all by default). */
interface Target {
  readonly path: string;
  readonly pageRange: string | undefined;
}

interface EditableTarget {
  readonly path: string;
  readonly format: Editable;
}

interface SaveRequest extends Pick<HostRequest, 'filter' | 'save' | 'maxPages' | 'maxSeconds'> {
  readonly path: string;
  readonly stored?: Stored | undefined;
}

/** Runs LibreOffice in up to `size` processes of each kind. Most conversions need only the first kind. */
export function createOffice(dependencies: EngineDependencies) {
  const usual = systemLocaleOf(dependencies.locale ?? DEFAULT_LOCALE) ?? systemLocaleOf(DEFAULT_LOCALE)!;
  const startHosts = (requests: number, locale = usual, own: Partial<EngineDependencies> = {}) =>
    new WorkerPool(hostCommand(dependencies, locale), {
      ...dependencies,
      ...own,
      requests,
      cost: COST,
      memory: 900,
      messages: MESSAGES,
    });
  const printing = startHosts(500);
  // For one document each. Editable formats store which area of the window shows the document, and its size depends on
  // earlier documents. LibreOffice asks for a password in a dialog, and `Batch`, which cancels all dialogs, stays in
  // effect until the process exits.
  const fresh = startHosts(1);

  /** Hosts for other locales. LibreOffice reads its locale only when it starts, so each has processes of its own. */
  const foreign = new Map<string, WorkerPool>();
  const warm = dependencies.warm ?? new WarmWorkers(MAX_FOREIGN * COST);

  function hostsOf({ locale }: Document, filter: string, password: string | undefined): WorkerPool {
    const hosts = password === undefined && filter === 'pdf' ? printing : fresh;
    if (locale === usual) return hosts;
    const requests = hosts === printing ? 500 : 1;
    const name = `${locale} ${requests}`;
    // No spare waits for a locale that few documents have.
    const client = foreign.get(name) ?? startHosts(requests, locale, { singleAccount: true, warm });
    foreign.set(name, client);
    return client;
  }

  /** Converts a document to PDF. */
  function convert(document: Document, { path, pageRange }: Target, conversion: OfficeConversion) {
    const { options, limits } = conversion;
    const bounds = {
      maxPages: EMPTY_PAGES * limits.pages,
      // One page for the whole sheet ignores print ranges and takes gigabytes.
      maxSeconds: options.fit === 'sheet' ? undefined : EXTENT_SECONDS,
    };
    const save = exportOptions(options, pageRange);
    return run(document, { path, filter: 'pdf', save, ...bounds }, conversion);
  }

  /** Converts a document to an editable format. */
  function save(document: Document, { path, format }: EditableTarget, conversion: OfficeConversion) {
    const options = saveOptions(format, conversion.options);
    const stored = options.includes(',')
      ? { name: basename(path), filter: FILTERS[format], options }
      : undefined;
    // Formats other than csv do not store the empty cells between others.
    const maxPages = format === 'csv' ? conversion.limits.resultBytes / CELLS_PER_PAGE : undefined;
    return run(document, { path, filter: format, save: options, maxPages, stored }, conversion);
  }

  async function run(
    document: Document,
    saving: SaveRequest,
    conversion: OfficeConversion,
  ): Promise<HostReply> {
    const { options, directory } = conversion;
    const { stored } = saving;
    const macro = macroUrl(options, {
      stored,
      pages: fittedPages(document, options),
      isTight: document.isTight,
      hasPageFields: document.hasPageFields,
    });
    const password = document.encrypted ? options.password : undefined;
    const [source, target] = [relative(directory, document.path), relative(directory, saving.path)];
    const args: HostRequest = {
      source: urlOf(source),
      target: urlOf(target),
      load: loadOptions({
        batch: password === undefined,
        separator: document.separator,
        textColumns: options.textColumns ?? (conversion.format === 'csv' ? columns('all') : undefined),
      }),
      filter: stored ? '' : saving.filter,
      save: saving.save,
      password,
      macro,
      maxPages: saving.maxPages,
      maxSeconds: saving.maxSeconds,
      layoutSeconds: layoutSeconds(document, conversion),
    };
    const hosts = hostsOf(document, saving.filter, password);
    try {
      // The name of a table contains the name of its sheet.
      const outputs = saving.filter === 'csv' ? '.' : [target];
      return await hosts.run<HostReply>(
        { operation: 'convert', arguments: args, inputs: [source], outputs },
        conversion,
      );
    } catch (thrown) {
      throw document.encrypted && isDamage(thrown) ? passwordError(password) : thrown;
    }
  }

  return {
    convert,
    save,
    warm: () => printing.warm(),
    close: async () => {
      await Promise.all([printing, fresh, ...foreign.values()].map((hosts) => hosts.close()));
    },
  };
}

/** Returns the CPU limit for the layout. Half of it is for fitting pages, because a plain conversion may have to follow. */
function layoutSeconds({ kind, pages }: Document, { source }: OfficeConversion): number | undefined {
  if (INPUTS[kind] !== 'writer') return undefined;
  const seconds = LAYOUT_SECONDS + source.bytes * LAYOUT_SECONDS_PER_BYTE;
  return Math.ceil(pages === undefined ? seconds : seconds / 2);
}

/** Returns the number of pages to fit a document to, unless the caller's options change its pages. */
function fittedPages({ pages }: Document, { landscape, changes }: OfficeOptions): number | undefined {
  return landscape || changes !== undefined ? undefined : pages;
}

/** Whether LibreOffice found the document damaged. It reports the same error if a document needs a password. */
function isDamage(thrown: unknown): boolean {
  return thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
}

function passwordError(password: string | undefined): ConversionError {
  if (password === undefined) {
    return new ConversionError('PASSWORD_REQUIRED', MESSAGES.PASSWORD_REQUIRED());
  }
  // LibreOffice did not ask for the password, for example because the document uses rights management.
  return new ConversionError(
    'UNSUPPORTED_SOURCE',
    'The document is encrypted with a method that LibreOffice does not support.',
  );
}
