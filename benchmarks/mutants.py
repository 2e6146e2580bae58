"""Small changes of the code, for `benchmarks.mutation`: where they can be made, and making one."""

import ast
import copy
import gc
from types import CodeType, FunctionType

_SWAPS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_CALLS = {"min": "max", "max": "min", "maximum": "minimum", "any": "all", "all": "any"}


def sites(tree):
    """Yield the nodes that can be changed, by their place in a walk."""
    skipped = {id(part) for node in ast.walk(tree) for part in _untested(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in skipped and list(changes(copy.deepcopy(node))):
            yield number


def _untested(node):
    """Yield what is no behaviour: annotations, docstrings, type aliases, error texts."""
    parts = []
    if isinstance(node, ast.FunctionDef):
        parts = [node.returns, *(a.annotation for a in node.args.args + node.args.kwonlyargs)]
    elif isinstance(node, ast.AnnAssign):
        parts = [node.annotation]
        if "Constraints" in ast.unparse(node.target) or "TypeAlias" in ast.unparse(node.annotation):
            parts.append(node.value)
        if ast.unparse(node.target) == "_parameter_constraints":
            parts.append(node.value)
    elif isinstance(node, ast.Raise):
        parts = [node.exc]
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        parts = node.body
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def changes(node):
    """Yield (what, node) for every change of one node, made in place of a copy."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        node.ops[0] = _SWAPS[type(node.ops[0])]()
        yield node
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _SWAPS:
        node.op = _SWAPS[type(node.op)]()
        yield node
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
        yield node
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(_other_number(node.value))
    elif isinstance(node, ast.Call) and _called(node) in _CALLS:
        other = _CALLS[_called(node)]
        if isinstance(node.func, ast.Name):
            node.func.id = other
        else:
            node.func.attr = other
        yield node


def _called(node):
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def _other_number(value):
    # A tolerance that is a little off is no defect; one that is far off is.
    return value * 1e4 if isinstance(value, float) and 0 < value < 1e-2 else value + 1


class _At(ast.NodeTransformer):
    """Replaces the node at one place of a walk."""

    def __init__(self, node):
        self._node = node

    def visit(self, node):
        if node is self._node:
            (changed,) = changes(copy.deepcopy(node))
            return ast.copy_location(changed, node)
        return self.generic_visit(node)


def mutate(source, number):
    """Return the changed tree, the line, and the code before and after."""
    tree = ast.parse(source)
    node = next(each for place, each in enumerate(ast.walk(tree)) if place == number)
    before = ast.unparse(node)
    (after,) = changes(copy.deepcopy(node))
    line = source.splitlines()[node.lineno - 1].strip()
    tree = ast.fix_missing_locations(_At(node).visit(tree))
    return tree, node.lineno, line, f"{before}  ->  {ast.unparse(after)}"


def enclosing(tree, line):
    """Return the lines where the functions around a line start, the outermost first."""
    return sorted(
        min([node.lineno, *(each.lineno for each in node.decorator_list)])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and _first(node.body) <= line <= node.end_lineno
    )


def _first(body):
    # Defaults of arguments are computed outside of the function.
    return min(node.lineno for node in body)


def install(tree, path, start):
    """Give the functions that start at this line their changed code; False if there are none."""
    changed = _codes(compile(tree, str(path), "exec"))
    by_name = {code.co_qualname: code for code in changed if code.co_firstlineno == start}
    found = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
    found = [each for each in found if each.__code__.co_filename == str(path)]
    found = [each for each in found if each.__code__.co_firstlineno == start]
    for function in found:
        function.__code__ = by_name[function.__code__.co_qualname]
    return bool(found)


def _codes(code):
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)
