import type { Row } from './row.ts';
import { apiKey, emulatorApiKey } from './rows/api-key.ts';
import { browserFlags } from './rows/browser/flags.ts';
import { hostilePages } from './rows/browser/hostile-pages.ts';
import { browserLeaks } from './rows/browser/leaks.ts';
import { browserRebinding } from './rows/browser/rebinding.ts';
import { uploadedLeaks } from './rows/browser/uploaded-leaks.ts';
import { aftermath } from './rows/engines/aftermath.ts';
import { kills } from './rows/engines/kills.ts';
import { sharedTemporary, slowReader } from './rows/engines/lifecycle.ts';
import { noNamespaces } from './rows/engines/no-namespaces.ts';
import { officeLeaks } from './rows/engines/office-leaks.ts';
import { pageTables } from './rows/engines/page-tables.ts';
import { runtimeApi } from './rows/engines/runtime-api.ts';
import { takenOverBrowser, takenOverEngine } from './rows/engines/taken-over.ts';
import { bombs } from './rows/input/bombs.ts';
import { corpus } from './rows/input/corpus.ts';
import { directEvents } from './rows/input/direct-events.ts';
import { emulatorQueries, queries } from './rows/input/queries.ts';
import { sources } from './rows/input/sources.ts';
import { worstInput } from './rows/input/worst-input.ts';
import { boundRows } from './rows/load/bounds.ts';
import { connectionRows } from './rows/load/connections.ts';
import { downloadRows } from './rows/load/downloads.ts';
import { emulatorLoad } from './rows/load/emulator-load.ts';
import { load } from './rows/load/load.ts';
import { requestRows } from './rows/load/requests.ts';
import { toolbox } from './rows/load/toolbox.ts';
import { addresses } from './rows/network/addresses.ts';
import { emulatorBrowserRebinding, emulatorDownloadRebinding } from './rows/network/emulator-rebinding.ts';
import { downloadRebinding } from './rows/network/rebinding.ts';
import { results } from './rows/results.ts';
import { site } from './rows/site.ts';

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
  worstInput,
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
