import type { Row } from './row.ts';
import { browserFlags, hostilePages } from './rows/browser.ts';
import { boundRows, downloadRows } from './rows/downloads.ts';
import {
  aftermath,
  kills,
  noNamespaces,
  pageTables,
  sharedTemporary,
  slowReader,
  takenOverBrowser,
  takenOverEngine,
} from './rows/engines.ts';
import { bombs, corpus, directEvents, emulatorQueries, queries, sources } from './rows/input.ts';
import { jobRows } from './rows/jobs.ts';
import { browserLeaks, officeLeaks, runtimeApi, uploadedLeaks } from './rows/leaks.ts';
import { emulatorLoad, load } from './rows/load.ts';
import { connectionRows, requestRows, toolbox } from './rows/neighbor.ts';
import {
  addresses,
  browserRebinding,
  downloadRebinding,
  emulatorBrowserRebinding,
  emulatorDownloadRebinding,
} from './rows/network.ts';
import { parameterRows } from './rows/parameters.ts';
import { apiKey, emulatorApiKey, results, site } from './rows/site.ts';
import { everyOption, worstInput } from './rows/worst-input.ts';

/** The rows for one machine, in the order in which they are printed. */
export const ROWS: readonly Row[] = [
  addresses,
  downloadRebinding,
  browserRebinding,
  browserLeaks,
  uploadedLeaks,
  browserFlags,
  officeLeaks,
  runtimeApi,
  hostilePages,
  sources,
  bombs,
  kills,
  queries,
  site,
  results,
  toolbox,
  corpus,
  aftermath,
  load,
  apiKey,
  takenOverEngine,
  takenOverBrowser,
  pageTables,
  noNamespaces,
  slowReader,
  sharedTemporary,
  ...downloadRows,
  ...connectionRows,
  ...requestRows,
  ...boundRows,
  ...jobRows,
  ...parameterRows,
  worstInput,
  everyOption,
];

/** One attack of each kind, of which `npm test` runs a few cases. */
export const SHORT_ROWS: readonly Row[] = [
  downloadRebinding,
  browserRebinding,
  browserLeaks,
  officeLeaks,
  sources,
  bombs,
  kills,
  queries,
  site,
  takenOverEngine,
  takenOverBrowser,
  pageTables,
  sharedTemporary,
];

/** The rows for the Lambda emulator, except those whose code is the same in every deployment. */
export const EMULATOR_ROWS: readonly Row[] = [
  emulatorDownloadRebinding,
  emulatorBrowserRebinding,
  browserLeaks,
  officeLeaks,
  runtimeApi,
  hostilePages,
  sources,
  bombs,
  kills,
  emulatorQueries,
  directEvents,
  corpus,
  aftermath,
  emulatorLoad,
  emulatorApiKey,
];
