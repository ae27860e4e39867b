// Plain JavaScript for any Node version from 20 on any system.
import { sentence, systemName } from '../local/requirements.mjs';

/**
 * First version of Node that runs TypeScript without a flag. Linux uses the Node version in the lock file instead.
 */
const NODE = [22, 18];

/**
 * Decides where the server starts: `here`, in a `container`, or nowhere (`declined`). In a terminal, asks once.
 * Scripts use `--container` instead.
 * @throws Error with the program to install or the command to type.
 */
export async function placeOfServer({ platform, wantsContainer, program, isTerminal, ask }) {
  if (wantsContainer) {
    if (program === undefined)
      throw new Error('No running docker, podman or finch was found. Install and start one of them.');
    return 'container';
  }
  if (platform === 'linux') return 'here';
  const reason = `The conversion engines run on Linux, and this is ${systemName(platform)}.`;
  if (program === undefined)
    throw new Error(`${reason} Install and start docker, podman or finch, then run this again.`);
  if (!isTerminal) throw new Error(`${reason} Run 'npm start -- --container' to start them in a container.`);
  const answer = await ask(`${reason} Build and start a container? [Y/n] `);
  return /^(y|yes|)$/i.test(answer.trim()) ? 'container' : 'declined';
}

/** Advice for a machine that can build the layers only in a container but has no container program. */
export const INSTALL_PROGRAM = 'install and start docker, podman or finch, then run this again';

/**
 * Decides where the layers for AWS are built: `here` or in a `container`. `unmet` lists the build requirements that a
 * Linux does not meet.
 * @throws Error with the program to install.
 */
export function placeOfBuild({ platform, node, wantsContainer, program, unmet }) {
  if (platform === 'linux' && !wantsContainer && unmet === undefined) return 'here';
  if (program === undefined) {
    if (platform === 'linux' && unmet !== undefined) throw new Error(unmet);
    const reason =
      platform === 'linux' ? '' : `The layers are built on Linux, and this is ${systemName(platform)}. `;
    throw new Error(`${reason}${sentence(INSTALL_PROGRAM)}`);
  }
  const [major, minor] = node.split('.').map(Number);
  if (platform !== 'linux' && (major < NODE[0] || (major === NODE[0] && minor < NODE[1])))
    throw new Error(
      `On ${systemName(platform)}, 'cdk' needs Node ${NODE.join('.')} or newer to read the stack; this is v${node}.`,
    );
  return 'container';
}
