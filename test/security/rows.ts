import type { Row } from './row.ts';
import { addresses } from './rows/addresses.ts';
import { aftermath } from './rows/aftermath.ts';
import { apiKey, shapeApiKey } from './rows/api-key.ts';
import { bombs } from './rows/bombs.ts';
import { browserLeaks } from './rows/browser-leaks.ts';
import { browserRebinding } from './rows/browser-rebinding.ts';
import { browserWalls } from './rows/browser-walls.ts';
import { corpus } from './rows/corpus.ts';
import { shapeLoad } from './rows/emulator-load.ts';
import { shapeBrowserRebinding, shapeDownloadRebinding } from './rows/emulator-rebinding.ts';
import { hostilePages } from './rows/hostile-pages.ts';
import { kills } from './rows/kills.ts';
import { load } from './rows/load.ts';
import { neighbourRows } from './rows/neighbours.ts';
import { officeLeaks } from './rows/office-leaks.ts';
import { queries, shapeQueries } from './rows/queries.ts';
import { downloadRebinding } from './rows/rebinding.ts';
import { rules } from './rows/rules.ts';
import { runtimeApi } from './rows/runtime-api.ts';
import { sources } from './rows/sources.ts';
import { takenOverEngine } from './rows/taken-over-engine.ts';

/** The table of what must hold on one machine, in the order it is printed. */
export const ROWS: readonly Row[] = [
  addresses,
  downloadRebinding,
  browserRebinding,
  browserLeaks,
  browserWalls,
  officeLeaks,
  runtimeApi,
  hostilePages,
  sources,
  bombs,
  kills,
  queries,
  corpus,
  aftermath,
  load,
  apiKey,
  rules,
  takenOverEngine,
  ...neighbourRows,
];

/** The same for the Lambda emulator. */
export const SHAPE_ROWS: readonly Row[] = [
  notAgain(addresses, 'the guard is the same code, asked here without any deployment'),
  shapeDownloadRebinding,
  shapeBrowserRebinding,
  browserLeaks,
  notAgain(browserWalls, 'the browser and its command line are the same'),
  officeLeaks,
  runtimeApi,
  hostilePages,
  sources,
  bombs,
  kills,
  shapeQueries,
  corpus,
  aftermath,
  shapeLoad,
  shapeApiKey,
  notAgain(rules, 'the rules are the same code, and their tests need no deployment'),
];

function notAgain(row: Row, skipped: string): Row {
  return { ...row, run: async () => ({ figure: 'see one machine', failures: [], skipped }) };
}
