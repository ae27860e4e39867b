import { groupMembers } from '../proc.ts';
import { answer } from './answer.ts';
import { findUnlinked } from './unlinked.ts';

answer((group: number) => findUnlinked(groupMembers(group)));
