import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeLibrary } from './macro.ts';

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
