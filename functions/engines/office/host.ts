import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EngineDependencies } from '../../shared/tool.ts';
import type { WorkerCommand } from '../worker/process.ts';
import { fontEnvironment, nativeEngine } from '../worker/sandbox.ts';
import { writeLibrary } from './macro.ts';

/** One document for the host in the libreoffice layer; see `layers/libreoffice/main.c`. */
export interface HostRequest {
  /** URLs of the files; see `urlOf`. */
  readonly source: string;
  readonly target: string;
  /** Load options of LibreOfficeKit. */
  readonly load: string;
  /** Extension of the target, which selects LibreOfficeKit's export filter. Empty if the macro saves the file. */
  readonly filter: string;
  /** Options of the export filter. */
  readonly save: string;
  readonly password?: string | undefined;
  /** URL of a macro in the service's profile that runs between loading and saving. */
  readonly macro?: string | undefined;
  /** Maximum number of pages that a spreadsheet may extend over, including empty ones. */
  readonly maxPages?: number | undefined;
  /**
   * CPU seconds to find the pages of a spreadsheet that exceeds `maxPages`, because its print ranges may be small.
   * Without it, such a spreadsheet is rejected immediately.
   */
  readonly maxSeconds?: number | undefined;
  /**
   * Maximum CPU seconds to open and save a document, because LibreOffice repeats the layout of some texts forever.
   */
  readonly layoutSeconds?: number | undefined;
}

export interface HostReply {
  /** Numbers of the slides or sheets that are not hidden; empty for other documents. */
  readonly shown: readonly number[];
  /** Number of sheets; 0 for other documents. */
  readonly sheets: number;
}

/** Returns the command of the warm host, which gets its own profile. `locale` is a name such as `de_DE`. */
export function hostCommand(
  dependencies: Pick<EngineDependencies, 'layers' | 'sandbox'>,
  locale = 'en_US',
): (home: string) => WorkerCommand {
  const { layers } = dependencies;
  const program = resolve(layers, 'libreoffice/program');
  return nativeEngine(dependencies, {
    layer: 'libreoffice',
    program: 'host',
    libraries: [program],
    reads: ['fonts'],
    args: (home) => [program, writeProfile(home)],
    environment: (home) => ({ ...environmentOf(layers), ...localeEnvironment(layers, home, locale) }),
  });
}

/**
 * Returns the URL of a file in the host's working directory. Documents can print their own path, so this URL is the
 * same on all machines, yet absolute, as LibreOffice requires.
 */
export function urlOf(name: string): string {
  return pathToFileURL(join('/proc/self/cwd', name)).href;
}

function environmentOf(layers: string): Readonly<Record<string, string>> {
  return {
    ...fontEnvironment(layers, 'office.conf'),
    // The C library converts the encodings of XML with these modules.
    GCONV_PATH: resolve(layers, 'libreoffice/lib/gconv'),
    // Documents without a page size are printed on A4.
    LC_PAPER: 'C',
    // Makes random numbers start from the same seed for each document; see `restart_random` in main.c.
    SAL_RAND_REPEATABLE: '1',
    // Renders without a screen.
    SAL_USE_VCLPLUGIN: 'svp',
    // Complements the profile's settings.
    http_proxy: 'http://127.0.0.1:9',
    https_proxy: 'http://127.0.0.1:9',
  };
}

type Setting = readonly [path: string, name: string, value: string | number | boolean];

const OFFICE = '/org.openoffice.Office';

/** Settings for untrusted documents: links are never followed. LibreOfficeKit never runs their macros. */
const SETTINGS: readonly Setting[] = [
  [`${OFFICE}.Common/Security/Scripting`, 'MacroSecurityLevel', 3],
  [`${OFFICE}.Common/Security/Scripting`, 'DisablePythonRuntime', true],
  // Blocks linked images, style sheets and sections, even in local files.
  [`${OFFICE}.Common/Security/Scripting`, 'BlockUntrustedRefererLinks', true],
  // Never updates links. Calc and Writer number the choices differently.
  [`${OFFICE}.Calc/Content/Update`, 'Link', 1],
  [`${OFFICE}.Writer/Content/Update`, 'Link', 0],
  [`${OFFICE}.Java/VirtualMachine`, 'Enable', false],
  // Sends any remaining request to a local port on which nothing listens.
  ['/org.openoffice.Inet/Settings', 'ooInetProxyType', 1],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyName', '127.0.0.1'],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyPort', 9],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyName', '127.0.0.1'],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyPort', 9],
  ['/org.openoffice.Inet/Settings', 'ooInetNoProxy', ''],
  // Draws embedded objects from their previews, as Word does. Otherwise, LibreOffice opens each of them as a document.
  ...['MathTypeToMath', 'WinWordToWriter', 'PowerPointToImpress', 'ExcelToCalc'].map(
    (name): Setting => [`${OFFICE}.Common/Filter/Microsoft/Import`, name, false],
  ),
  [`${OFFICE}.Recovery/AutoSave`, 'Enabled', false],
  [`${OFFICE}.Recovery/RecoveryInfo`, 'SessionData', false],
  [`${OFFICE}.Common/Misc`, 'FirstRun', false],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', true],
  // Hides the sidebar, which LibreOffice builds for every document that it opens outside LibreOfficeKit's mode.
  ...['swriter', 'scalc', 'simpress', 'sdraw', 'smath'].map(
    (module): Setting => [
      `${OFFICE}.Views/Windows/org.openoffice.Office.Views:WindowType['${module}/10336']`,
      'Visible',
      false,
    ],
  ),
];

/** Writes a new profile, with the service's macros, below a worker's private directory and returns its URL. */
export function writeProfile(home: string): string {
  const profile = join(home, 'profile');
  mkdirSync(join(profile, 'user'), { recursive: true, mode: 0o700 });
  writeLibrary(join(profile, 'user/basic'));
  const items = SETTINGS.map(
    ([path, name, value]) =>
      `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  writeFileSync(
    join(profile, 'user/registrymodifications.xcu'),
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"' +
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
      ...items,
      '</oor:items>',
      '',
    ].join('\n'),
  );
  return pathToFileURL(profile).href;
}

/** The locale of documents that name no language, unless the caller or the operator sets another one. */
export const DEFAULT_LOCALE = 'en-US';

/** The locale that the layer has a folder for. */
const LAYER_LOCALE = 'en_US';

/**
 * Returns the name that the C library has for a language tag, such as `de_DE` for `de`, or `undefined` if the tag is not valid, not
 * known or has no region.
 */
export function systemLocaleOf(tag: string): string | undefined {
  try {
    const { language, region } = new Intl.Locale(tag).maximize();
    const isKnown = Intl.DateTimeFormat.supportedLocalesOf([tag]).length > 0;
    return isKnown && region !== undefined && /^[A-Z]{2}$/.test(region) ? `${language}_${region}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a locale available to a process below its private directory, and returns its environment variables. LibreOffice has data for
 * many locales of its own, and needs the C library only to accept the name.
 */
function localeEnvironment(layers: string, home: string, locale: string): Readonly<Record<string, string>> {
  const name = `${locale}.UTF-8`;
  const own = resolve(layers, 'libreoffice/share/locale');
  if (locale === LAYER_LOCALE) return { LANG: name, LOCPATH: own };
  const folder = join(home, 'locale', name);
  mkdirSync(folder, { recursive: true });
  const characters = join(folder, 'LC_CTYPE');
  if (!existsSync(characters)) symlinkSync(join(own, `${LAYER_LOCALE}.UTF-8/LC_CTYPE`), characters);
  return { LANG: name, LOCPATH: join(home, 'locale') };
}
