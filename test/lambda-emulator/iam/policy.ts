/** One statement of a policy. `*` stands for any text, `?` for any character. */
export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** Whether statements allow an action on a resource: one must, and none may deny it. */
export function isAllowed(statements: readonly Statement[], action: string, resource: string): boolean {
  const found = statements.filter(
    ({ actions, resources }) =>
      actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
      resources.some((pattern) => matches(pattern, resource)),
  );
  return found.length > 0 && found.every(({ effect }) => effect === 'Allow');
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split(/([*?])/).map((part) => {
    if (part === '*') return '.*';
    return part === '?' ? '.' : part.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's').test(text);
}
