"""Does a check see a small change of what is right? Mutants of an exercise's solution.

A mutant is the solution with one edit of its syntax tree: an operator is swapped for its
neighbour, a number moved by 1, True and False turned over, a keyword dropped, two arguments of a
call exchanged, a statement deleted; or an argument is ignored: it stays as it was at the first
call, or it is zero. One that the check calls right shows a hole in the cases, or it is equivalent,
which the exercise's text says under *Equivalent* (DeMillo, Lipton and Sayward, 1978).
"""

import ast
import copy
import difflib

from tutor.check.examine import trouble_with
from tutor.check.exercise import MEND, TEST, WRITE, evaluate

MOST = 30  # edits tried of an exercise, besides its arguments ignored
SWAPS = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, In NotIn, Add Sub, Mult Div, BitOr BitAnd, And Or"
SWAPS += ", FloorDiv Mod"
SYMMETRIC = {"min", "max", "minimum", "maximum", "transpose", "equal", "allclose", "isclose"}
OPPOSITES = [[getattr(ast, name) for name in pair.split()] for pair in SWAPS.split(", ")]
NEIGHBOUR = {one: other for pair in OPPOSITES for one, other in (pair, pair[::-1])}
FROZEN = "{0} = globals().setdefault('first {0}', {0})"
ZEROED = "{0} = torch.zeros_like({0}) if isinstance({0}, torch.Tensor) else type({0})()"


def number_of(node):
    """The number that an expression writes out, with its sign; None if it writes none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return None if number is None else -number
    number = node.value if isinstance(node, ast.Constant) else None
    return number if type(number) in (int, float) else None


def edits(node, field):
    """Yield what may stand in a field of a node (in the place of an item, if it holds a list)."""
    if isinstance(node, ast.AST) and type(node) in NEIGHBOUR:
        yield NEIGHBOUR[type(node)]()
    elif number_of(node) is not None:
        yield from (ast.Constant(number_of(node) + step) for step in (1, -1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.UnaryOp):  # `~`, `not`, `-`
        yield node.operand
    elif isinstance(node, ast.Call):
        for at in range(len(node.keywords)):
            call = copy.copy(node)
            call.keywords = node.keywords[:at] + node.keywords[at + 1 :]
            yield call
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        for at in range(len(node.args) - 1) if name not in SYMMETRIC else ():
            call = copy.copy(node)
            call.args = node.args[:at] + node.args[at : at + 2][::-1] + node.args[at + 2 :]
            yield call
    elif field in ("body", "orelse") and may_go(node):
        yield ast.Pass()


def may_go(statement):
    """Whether a program without a statement is more than a program with a name undefined."""
    if isinstance(statement, ast.Assign):
        stored = {n.id for n in statement.targets if isinstance(n, ast.Name)}
        used = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
        return not stored or bool(stored & used)
    return isinstance(statement, ast.Expr | ast.AugAssign | ast.Assert | ast.Raise | ast.Return)


def is_text(node):
    """Whether a node is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def edited_trees(tree, kind):
    """Yield a tree with each edit in turn; it is the same tree, put right again afterwards.

    A test chooses its inputs: of one, only what it asserts is edited. So does what takes no
    arguments, an example that may be any of its kind: its numbers are left alone.
    """
    free = not any(isinstance(node, ast.arg) for node in ast.walk(tree))

    def tried(node, everywhere):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.arg):
            return
        for field, old in ast.iter_fields(node):
            several = isinstance(old, list)
            for at, item in enumerate(old if several else [old]):
                if not isinstance(item, ast.AST) or is_text(item):
                    continue
                here = everywhere or isinstance(item, ast.Assert)
                last = isinstance(node, ast.FunctionDef) and item is node.body[-1]
                spared = last and isinstance(item, ast.Return) or not here
                spared |= free and number_of(item) is not None
                for new in [] if spared else edits(item, field):
                    if several:
                        old[at] = new
                    else:
                        setattr(node, field, new)
                    yield tree
                if several:
                    old[at] = item
                else:
                    setattr(node, field, item)
                if number_of(item) is None:
                    yield from tried(item, here)

    yield from tried(tree, kind != TEST)


def ignoring(code):
    """The code with each argument that its functions read ignored, in two ways."""
    for place, function in enumerate(ast.walk(ast.parse(code))):
        if not isinstance(function, ast.FunctionDef):
            continue
        known = function.args
        read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} - {"self"}
        for argument in [*known.posonlyargs, *known.args, *known.kwonlyargs]:
            for way in (FROZEN, ZEROED) if argument.arg in read else ():
                tree = ast.parse(code)
                body = [*ast.walk(tree)][place].body
                body.insert(is_text(body[0]), ast.parse(way.format(argument.arg)).body[0])
                yield ast.unparse(tree)


def mutants(exercise):
    """The mutants of an exercise with code: MOST of its edits, spread evenly, and all arguments
    ignored."""
    if exercise.kind not in (WRITE, MEND, TEST):
        return []
    edited = edited_trees(ast.parse(exercise.solution), exercise.kind)
    codes = dict.fromkeys(normal(ast.unparse(tree)) for tree in edited)
    codes.pop(normal(exercise.solution), None)
    codes, many = [*codes], min(len(codes), MOST)
    chosen = [codes[at * len(codes) // many] for at in range(many)]
    return [*dict.fromkeys([*chosen, *ignoring(exercise.solution)])]


def survives(exercise, code):
    """Whether the check calls a mutant right."""
    try:
        return trouble_with(exercise, evaluate(exercise, code)) is None
    except Exception:  # as it is defined
        return False


def tried(exercise):
    """(number of mutants, those that pass, what is said to be equivalent and is no such mutant)."""
    codes = mutants(exercise)
    known = {normal(code): code for code in exercise.equivalent}
    living = [code for code in codes if survives(exercise, code)]
    idle = [code for form, code in known.items() if form not in living]
    return len(codes), [code for code in living if code not in known], idle


def normal(code):
    """Code as the syntax tree writes it: no comments, one style."""
    return ast.unparse(ast.parse(code))


def lines_changed(exercise, code):
    """The lines in which a mutant differs from the solution, with their signs."""
    ours = (normal(text).splitlines() for text in (exercise.solution, code))
    lines = [*difflib.unified_diff(*ours, n=0, lineterm="")][2:]
    return "\n".join(line for line in lines if not line.startswith("@@"))
