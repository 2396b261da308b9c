// Where a column of a row is at offset 0, adding it or subtracting it is the same: no test can tell such mutants.
import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin';

const ZERO_OFFSETS = 'zero-offsets';

function isConstantZero(name, program) {
  const declarations = program.body.map((node) => node.declaration ?? node);
  return declarations
    .filter(({ type, kind }) => type === 'VariableDeclaration' && kind === 'const')
    .flatMap((declaration) => declaration.declarations)
    .some(({ id, init }) => id.name === name && init?.value === 0);
}

function shouldIgnore(path) {
  if (!path.isBinaryExpression({ operator: '+' }) || path.node.right.type !== 'Identifier') return undefined;
  const program = path.findParent((parent) => parent.isProgram()).node;
  return isConstantZero(path.node.right.name, program) ? 'The offset is 0.' : undefined;
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, ZERO_OFFSETS, { shouldIgnore })];
