import type { Row } from './row.ts';
import { addresses } from './rows/addresses.ts';
import { aftermath } from './rows/aftermath.ts';
import { apiKey } from './rows/api-key.ts';
import { bombs } from './rows/bombs.ts';
import { browserLeaks } from './rows/browser-leaks.ts';
import { browserRebinding } from './rows/browser-rebinding.ts';
import { corpus } from './rows/corpus.ts';
import { hostilePages } from './rows/hostile-pages.ts';
import { kills } from './rows/kills.ts';
import { load } from './rows/load.ts';
import { officeLeaks } from './rows/office-leaks.ts';
import { queries } from './rows/queries.ts';
import { downloadRebinding } from './rows/rebinding.ts';
import { rules } from './rows/rules.ts';
import { runtimeApi } from './rows/runtime-api.ts';
import { sources } from './rows/sources.ts';

/** The table of what must hold, in the order it is printed. */
export const ROWS: readonly Row[] = [
  addresses,
  downloadRebinding,
  browserRebinding,
  browserLeaks,
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
];
