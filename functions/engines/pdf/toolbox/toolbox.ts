import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../../shared/errors.ts';
import { choosePages, integers, pagesText, selectsAll } from '../../../shared/options/page-selection.ts';
import type { Conversion, EngineDependencies, SourceFile } from '../../../shared/tool.ts';
import { sandboxedClient } from '../../client.ts';
import { ATTACHED } from '../graph/attachments.ts';
import type { Edited, GraphOperations, GraphWork, SourceFacts } from '../graph/operations.ts';
import type { PdfOptions } from '../options.ts';
import type { Part } from '../qpdf/job.ts';
import { createQpdf } from '../qpdf/qpdf.ts';
import { selectPages } from '../selection.ts';
import type { ToolboxOptions } from './options.ts';
import { checkPdfs, downloadSources, type NamedSource } from './sources.ts';

type ToolboxConversion = Conversion<PdfOptions & ToolboxOptions, SourceFile>;

/** A changed PDF. It has the selected pages in their order, and is not encrypted. */
export interface Prepared {
  readonly path: string;
  /** Number of pages of all sources. */
  readonly pageCount: number;
  /** The selected pages, as numbered in the merged document. */
  readonly pages: readonly number[];
  readonly warnings: readonly string[];
}

const SCRIPT = fileURLToPath(new URL('../graph/worker.ts', import.meta.url));

/** Maximum bytes of the JSON with all objects of a document. Reading it takes several times as much memory. */
const MAX_GRAPH = 100_000_000;

/** Changes PDFs before they are drawn or written: qpdf merges and writes, and a Node process changes objects. */
export function createToolbox(dependencies: EngineDependencies) {
  const qpdf = createQpdf(dependencies);
  const limits = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };
  const graphs = sandboxedClient(dependencies, { script: SCRIPT, ...limits });

  /** Whether the options ask for a change. */
  function isNeeded({ append, rotations }: ToolboxOptions): boolean {
    return append.length > 0 || rotations.some(({ pages }) => pages);
  }

  async function prepare(conversion: ToolboxConversion): Promise<Prepared> {
    const { source, options, directory, limits } = conversion;
    const appended = await downloadSources(
      options.append.map((url) => ({ parameter: '-append', url })),
      conversion,
      dependencies.download,
    );
    const sources: NamedSource[] = [{ ...source, parameter: 'infile', url: undefined }, ...appended];
    await checkPdfs(sources);

    const inspected: Inspected[] = [];
    for (const each of sources) inspected.push(await inspect(each, inspected.length, conversion));
    const counts = inspected.map(({ facts }) => facts.pageCount);
    const pageCount = counts.reduce((sum, count) => sum + count, 0);
    if (pageCount > limits.pages) {
      const message = `All sources together have ${pagesText(pageCount)}. The maximum is ${limits.pages}.`;
      throw new ConversionError('SOURCE_TOO_LARGE', message);
    }
    const pages = selectPages(conversion, pageCount);
    const all = counts.flatMap((count, index) =>
      integers(0, count - 1).map((page) => ({ source: index, page })),
    );
    const order = pages.map((page) => all[page - 1]!);

    const merged = join(directory, 'merged.pdf');
    await qpdf.edit(
      {
        source: source.path,
        target: merged,
        password: inspected[0]!.password,
        merge: partsOf(order, inspected),
        attachments: inspected
          .slice(1)
          .map(({ path, password }, index) => ({ file: path, password, prefix: `${ATTACHED}${index + 2}-` })),
        decrypt: true,
      },
      conversion,
    );
    const isWhole = inspected.length === 1 && selectsAll(pages, pageCount);
    const { update, warnings } = await editGraph(
      merged,
      {
        sources: isWhole ? [] : inspected.map(({ graph }) => relative(directory, graph)),
        order,
        work: { rotations: rotationsOf(options, pages.length) },
      },
      conversion,
    );
    if (!update) return { path: merged, pageCount, pages, warnings };
    const path = join(directory, 'prepared.pdf');
    await qpdf.edit({ source: merged, target: path, update }, conversion);
    return { path, pageCount, pages, warnings };
  }

  /** Reads the objects of a source. Tries each password in turn. */
  async function inspect(
    source: NamedSource,
    index: number,
    conversion: ToolboxConversion,
  ): Promise<Inspected> {
    const { userPassword, ownerPassword } = conversion.options;
    const passwords = [undefined, userPassword, ownerPassword];
    const graph = join(conversion.directory, `graph-${index}.json`);
    let failure: unknown;
    for (const password of new Set(passwords)) {
      try {
        await readGraph({ path: source.path, graph, password }, conversion);
        const facts = await run<SourceFacts>(
          'inspect',
          { graph: relative(conversion.directory, graph) },
          { inputs: [graph] },
          conversion,
        );
        return { path: source.path, graph, password, facts };
      } catch (thrown) {
        failure = thrown;
        const isLocked =
          thrown instanceof ConversionError && /^(PASSWORD_REQUIRED|WRONG_PASSWORD)$/.test(thrown.code);
        if (!isLocked) break;
      }
    }
    if (source.url === undefined || !(failure instanceof ConversionError)) throw failure;
    const { parameter } = source;
    const message = `The file for '${parameter}' could not be read. ${failure.message}`;
    throw new ConversionError(failure.code, message, { parameter, cause: failure });
  }

  async function readGraph(
    { path, graph, password }: Pick<Inspected, 'path' | 'graph' | 'password'>,
    conversion: ToolboxConversion,
  ): Promise<void> {
    await qpdf.edit({ source: path, target: graph, password, json: true }, conversion);
    const { size } = await stat(graph);
    if (size <= MAX_GRAPH) return;
    throw new ConversionError('SOURCE_TOO_LARGE', 'The document has too many objects to be changed.');
  }

  /** Changes the objects of a document. Returns the path of the changes for qpdf, if there are any. */
  async function editGraph(
    path: string,
    edit: Omit<GraphOperations['edit'], 'graph' | 'target'>,
    conversion: ToolboxConversion,
  ): Promise<{ update: string | undefined; warnings: readonly string[] }> {
    const { directory } = conversion;
    const graph = join(directory, 'merged.json');
    const update = join(directory, 'update.json');
    await readGraph({ path, graph, password: undefined }, conversion);
    const args = { ...edit, graph: relative(directory, graph), target: relative(directory, update) };
    const inputs = [graph, ...edit.sources.map((name) => join(directory, name))];
    const { isChanged, warnings } = await run<Edited>(
      'edit',
      args,
      { inputs, outputs: [update] },
      conversion,
    );
    return { update: isChanged ? update : undefined, warnings };
  }

  function run<Reply>(
    operation: keyof GraphOperations,
    args: GraphOperations[typeof operation],
    files: { readonly inputs: readonly string[]; readonly outputs?: readonly string[] },
    { directory, account, signal, onQueued }: ToolboxConversion,
  ): Promise<Reply> {
    const names = (paths: readonly string[] = []) => paths.map((path) => relative(directory, path));
    const work = { operation, arguments: args, inputs: names(files.inputs), outputs: names(files.outputs) };
    return graphs.run<Reply>(work, { account, signal, directory, ...(onQueued && { onQueued }) });
  }

  return {
    isNeeded,
    prepare,
    close: async () => {
      await Promise.all([qpdf.close(), graphs.close()]);
    },
  };
}

export type Toolbox = ReturnType<typeof createToolbox>;

/** A source whose objects have been read. */
interface Inspected {
  readonly path: string;
  readonly graph: string;
  readonly password: string | undefined;
  readonly facts: SourceFacts;
}

/** Returns runs of pages from the same source. */
function partsOf(order: GraphOperations['edit']['order'], sources: readonly Inspected[]): Part[] {
  const parts: Array<Part & { readonly source: number; readonly pages: number[] }> = [];
  for (const { source, page } of order) {
    const last = parts.at(-1);
    const { path, password } = sources[source]!;
    if (last?.source === source) last.pages.push(page + 1);
    else parts.push({ source, file: path, password, pages: [page + 1] });
  }
  return parts;
}

function rotationsOf({ rotations }: ToolboxOptions, pageCount: number): GraphWork['rotations'] {
  return rotations.flatMap(({ degrees, pages }) => {
    const chosen = { firstPage: undefined, lastPage: undefined, pages };
    const numbers = choosePages(chosen, pageCount, '-rotate') ?? integers(1, pageCount);
    return numbers.map((page) => [page - 1, degrees] as const);
  });
}
