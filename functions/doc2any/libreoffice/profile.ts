import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeLibrary } from './page-layout.ts';

type Setting = readonly [path: string, name: string, value: string | number | boolean];

const OFFICE = '/org.openoffice.Office';

/** A profile for documents that nobody trusts: nothing of them runs, nothing they point to is opened. */
const SETTINGS: readonly Setting[] = [
  [`${OFFICE}.Common/Security/Scripting`, 'MacroSecurityLevel', 3],
  [`${OFFICE}.Common/Security/Scripting`, 'DisablePythonRuntime', true],
  // Pictures, style sheets and sections that a document only points to, local files included.
  [`${OFFICE}.Common/Security/Scripting`, 'BlockUntrustedRefererLinks', true],
  // Linked sheets and sections: never. The two programs number it differently.
  [`${OFFICE}.Calc/Content/Update`, 'Link', 1],
  [`${OFFICE}.Writer/Content/Update`, 'Link', 0],
  [`${OFFICE}.Java/VirtualMachine`, 'Enable', false],
  // Whatever still tried to reach the network would end at the discard port of this machine.
  ['/org.openoffice.Inet/Settings', 'ooInetProxyType', 1],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyName', '127.0.0.1'],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPProxyPort', 9],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyName', '127.0.0.1'],
  ['/org.openoffice.Inet/Settings', 'ooInetHTTPSProxyPort', 9],
  ['/org.openoffice.Inet/Settings', 'ooInetNoProxy', ''],
  [`${OFFICE}.Recovery/AutoSave`, 'Enabled', false],
  [`${OFFICE}.Recovery/RecoveryInfo`, 'SessionData', false],
  [`${OFFICE}.Common/Misc`, 'FirstRun', false],
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', true],
];

/**
 * Writes a new profile below the private directory of an engine process and answers its address. `arranging` adds
 * macros of ours, for which macros must not be off as a whole; LibreOfficeKit never runs those of a document.
 */
export function writeProfile(home: string, { arranging }: { arranging: boolean }): string {
  const profile = join(home, 'profile');
  mkdirSync(join(profile, 'user'), { recursive: true, mode: 0o700 });
  if (arranging) writeLibrary(join(profile, 'user/basic'));
  const macros: Setting = [`${OFFICE}.Common/Security/Scripting`, 'DisableMacrosExecution', !arranging];
  const items = [macros, ...SETTINGS].map(
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
