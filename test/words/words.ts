/** A word or a form that this project does not use. */
export interface Retired {
  readonly pattern: RegExp;
  /** What to write. */
  readonly instead: string;
  /** Names of others that contain it. They are removed from a line before it is searched. */
  readonly except?: RegExp;
  /** Beginning of the paths that it applies to. All by default. */
  readonly within?: string;
}

export const RETIRED: readonly Retired[] = [
  { pattern: /colour/i, instead: 'color', except: /@img\/colour|-colourful/ },
  // Colors of ImageMagick, and a color space of libvips.
  { pattern: /grey/i, instead: 'gray', except: /grey\d+|'-grey'/ },
  { pattern: /neighbour/i, instead: 'neighbor' },
  { pattern: /licence/i, instead: 'license' },
  { pattern: /artefact/i, instead: 'artifact' },
  { pattern: /e-mail/i, instead: 'email, or email address' },
  { pattern: /for ever\b/i, instead: 'forever' },
  { pattern: /metres?(?![a-z])/i, instead: 'meter' },
  // Its signals can stay in memory forever.
  { pattern: /AbortSignal\.any\(/, instead: 'withAnySignal(', within: 'functions|infra' },
  {
    pattern: /tenant/i,
    instead: 'account',
    // AWS's own terms.
    except: /[tT]enant(?:Id|ID| ID|Isolation| isolation)|TENANT\w*/,
    within: 'functions/(?!README)',
  },
  { pattern: /\bwalls?\b/i, instead: 'sandbox', except: /-Wall\b/ },
  { pattern: /\bMOST_|\bmost(?:[A-Z]|\??:)/, instead: 'MAX_, max…' },
  {
    pattern:
      /\b(?:[A-Z]+_)*(?:MOST|LEAST|LONGEST|SHORTEST|TALLEST|WIDEST|SMALLEST|LARGEST|BIGGEST|FASTEST|SLOWEST|FARTHEST|DEEPEST|HIGHEST|LOWEST)(?:_[A-Z]+)*\b/,
    instead: 'MAX_ or MIN_ with the name of the quantity',
    within: '.*\\.(?:ts|mjs)$',
  },
  { pattern: /\bservants?\b/i, instead: 'helper process' },
  { pattern: /\bstrays\b/i, instead: 'orphans' },
  {
    pattern: /\baddress(?:es)?\b/i,
    instead: 'URL, or IP address',
    // `sign('address')` would end the validity of all URLs if it changed.
    except:
      /(?:IP|IPv4|IPv6|email|another|own|link-local|loopback) address(?:es)?|\.address\b|sign\('address'|ip-address\.ts|RangeAddress/i,
    // The page for everyone uses the word that people know.
    within: 'functions/(?!README|shared/egress|engines/chromium/proxy|site/front-texts)',
  },
  {
    pattern: /^\s*(?:\/\*\*|\/\/|#|\*) (?:What|Whatever|Those|That of|For (?![^,]*,))\b/,
    instead: 'a sentence with a verb',
  },
  {
    pattern:
      /^\s*(?:\/\*\*|\/\/|#|\*) (?:Milliseconds|Bytes|Characters|Of|Who|Is told)\b.*\b(?:which|that)\b/,
    instead: 'Timeout for …, Maximum …, How long … or a verb',
  },
];
