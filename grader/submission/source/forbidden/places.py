"""Where each part of a module stands: in which function, whether it runs at import, what is bound around it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from grader.submission.source.forbidden.nodes import BINDING, OPENING, is_inert, parts, surely_bound
from grader.submission.source.forbidden.roundabout import BUILTINS

MODULE = ""  # the owner of what runs while the module is loaded
BODY = ":"  # ends the owner of what stands in a class and in none of its methods
# Classes that make no array and no module of what is derived from them.
_PLAIN_BASES = frozenset({
    "object", "ABC", "Protocol", "Generic", "NamedTuple", "Enum", "IntEnum", "StrEnum", "Exception", "ValueError",
})  # fmt: skip
# Python calls these while the class, or one derived from it, is made.
_AT_IMPORT = frozenset({"__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__", "__mro_entries__"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Self:
    """The name of a method's own object; lost where the method binds it anew."""

    name: str
    held: bool = True


@dataclass(eq=False)
class Place:
    """One scope, or part of one: owner is the function that reaches what is mentioned here.

    A use in what runs at import belongs to the module, whoever reaches it. sure is None in a function; in a module or a
    class, where Python goes on to the builtin of a name that is not bound yet, it says after which line a name is.
    """

    owner: str
    runs_at_import: bool
    kind: str  # module, class, function
    parent: Place | None = None
    own: Self | None = None
    bound: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)  # bound by what stands here, in a scope around it
    sure: dict[str, int] | None = None

    @property
    def user(self) -> str:
        return MODULE if self.runs_at_import else self.owner

    def at_import(self, owner: str) -> Place:
        """The same scope, for an expression that is evaluated at import and that another owner reaches."""
        return Place(owner, True, self.kind, self.parent, self.own, self.bound, self.elsewhere, self.sure)

    def binds(self, name: str, line: int) -> bool:
        """Whether a name in that line is bound here or around here; a class's names are not seen in its methods."""
        place: Place | None = self
        while place is not None:
            if name in place.bound and name not in place.elsewhere:
                if place.sure is None:
                    return True
                first, is_class = place.sure.get(name), place.parent is not None
                if first is not None and (first < line or not (is_class or self.runs_at_import)):
                    return place.bound is self.bound or not is_class
            place = place.parent
        return False


class Layout:
    """Every node of a module with its place, parents before their parts, and what the module defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.body = tree.body
        self.nodes: list[ast.AST] = []
        self.places: list[Place] = []
        self.binding: list[ast.AST] = []  # those of the nodes that bind names
        self.owners: set[str] = set()
        self.plain_classes: set[str] = set()
        self.edges: list[tuple[str, str]] = []  # who reaches whom, beside what is mentioned
        self.decorated: list[tuple[str, str]] = []  # owner, and the name that its decorator begins with
        module = Place(MODULE, True, "module", sure=surely_bound(tree.body))
        self._deleted: set[str] = set()
        self._queue: list[tuple[ast.AST, Place]] = []
        self._push(tree.body, module)
        while self._queue:
            node, place = self._queue.pop()
            self.nodes.append(node)
            self.places.append(place)
            kind = type(node)
            if kind in BINDING:
                self._bind(node, place)
            elif isinstance(node, ast.Global):
                place.elsewhere.update(node.names)
            if kind in OPENING or place.kind == "class":
                self._open(node, place)
            else:
                self._push(parts(node), place)
        for place in self.places if self._deleted else ():
            place.elsewhere |= self._deleted & (place.sure or {}).keys()

    def __iter__(self) -> Iterator[tuple[ast.AST, Place]]:
        return zip(self.nodes, self.places, strict=True)

    def _push(self, nodes: Iterable[ast.AST], place: Place) -> None:
        self._queue.extend([(node, place) for node in reversed(list(nodes))])

    def _bind(self, node: ast.AST, place: Place) -> None:
        names: Sequence[str] = ()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names = (name,)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = (name,)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names = [alias.asname or alias.name.partition(".")[0] for alias in aliases]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names = (name,)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            self._deleted.add(node.id)
        if names:
            self.binding.append(node)
        for name in names:
            if place.own is not None and name == place.own.name and not isinstance(node, ast.arg):
                place.own.held = False
            if name in BUILTINS or hasattr(builtins, name):
                place.bound.add(name)

    def _open(self, node: ast.AST, place: Place) -> None:
        """Queue the parts of a node, each with its place."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, place)
            case ast.Lambda(args=arguments, body=body):
                self._arguments(arguments, place, inner := self._inner(place))
                self._push([body], inner)
            case ast.ClassDef():
                self._class(node, place)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = Place(place.owner, place.runs_at_import, "function", place, place.own)
                inner.elsewhere.update(each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
                self._push(parts(node), inner)
            case ast.Assign() | ast.AnnAssign() if place.kind != "function" and node.value is not None:
                self._assignment(node, node.value, place)
            case _ if place.kind == "class" and not isinstance(node, ast.expr):
                for part in reversed(list(parts(node))):
                    self._push([part], place.at_import(MODULE) if isinstance(part, ast.expr) else place)
            case _:
                self._push(parts(node), place)

    def _inner(self, place: Place) -> Place:
        return Place(place.owner, place.owner == MODULE, "function", place, place.own)

    def _assignment(self, node: ast.Assign | ast.AnnAssign, value: ast.expr, place: Place) -> None:
        """Of `name = other` at the top level, who uses the name reaches the other; where a call stands, it runs."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) == len(targets) and is_inert([value]):
            owner = names[0] if place.kind == "module" else place.owner
            place, around = place.at_import(owner), place
            if around.kind == "module":
                self.owners.update(names)
                self.edges += [(name, owner) for name in names[1:]]
        elif place.kind == "class":
            place = place.at_import(MODULE)
        self._push(parts(node), place)

    def _function(self, node: _Function, place: Place) -> None:
        inner = self._inner(place)
        if place.kind != "function":
            within = place.owner.removesuffix(BODY)
            inner.owner = f"{within}.{node.name}" if place.kind == "class" else node.name
            inner.runs_at_import = False
            self._member(node.name, inner.owner, place)
            inner.own = self._own(node, within) if place.kind == "class" else None
        self._decorators(node.decorator_list, inner.owner, place)
        self._arguments(node.args, place, inner)
        self._header([node.returns], place, inner)
        self._push(node.body, inner)

    def _member(self, name: str, owner: str, place: Place) -> None:
        self.owners.add(owner)
        if place.kind != "class":
            return
        # A class reaches its methods; a method what stands beside them, and what Python calls by itself.
        self.edges += [(place.owner.removesuffix(BODY), owner), (f".{name}", owner), (owner, place.owner)]
        if name.startswith("__"):
            self.edges.append((place.owner, owner))
        if name in _AT_IMPORT:
            self.edges.append((MODULE, owner))

    def _own(self, node: _Function, within: str) -> Self | None:
        arguments = [*node.args.posonlyargs, *node.args.args]
        static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
        return Self(arguments[0].arg) if arguments and not static and within in self.plain_classes else None

    def _arguments(self, arguments: ast.arguments, place: Place, inner: Place) -> None:
        given = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        known = [each for each in given if each is not None]
        for each in known:
            self.nodes.append(each)
            self.places.append(inner)
            self._bind(each, inner)
        headers = [each.annotation for each in known]
        self._header([*headers, *arguments.defaults, *arguments.kw_defaults], place, inner)

    def _header(self, parts: Iterable[ast.expr | None], place: Place, inner: Place) -> None:
        """What is evaluated where a function is defined; what only names something is reached by the function."""
        for part in parts:
            if part is not None:
                outside = place.kind != "function" and inner.owner != MODULE
                own = outside and is_inert([part])
                self._push([part], place.at_import(inner.owner if own else MODULE) if outside else place)

    def _decorators(self, decorators: Iterable[ast.expr], owner: str, place: Place) -> None:
        for decorator in decorators:
            begin = decorator
            while isinstance(begin, ast.Attribute | ast.Call):
                begin = begin.value if isinstance(begin, ast.Attribute) else begin.func
            if isinstance(begin, ast.Name) and place.kind != "function":
                self.decorated.append((owner, begin.id))
            self._push([decorator], place if place.kind == "function" else place.at_import(MODULE))

    def _class(self, node: ast.ClassDef, place: Place) -> None:
        if place.kind == "module":
            inner = Place(f"{node.name}{BODY}", True, "class", place, sure=surely_bound(node.body))
            self.owners.add(node.name)
            self.edges.append((node.name, inner.owner))
            is_plain = not node.keywords and all(self._is_plain(base) for base in node.bases)
            (self.plain_classes.add if is_plain else self.plain_classes.discard)(node.name)
        else:  # it belongs to the class or function that it stands in
            inner = Place(place.owner, place.runs_at_import, "function", place, place.own, sure=surely_bound(node.body))
        self._decorators(node.decorator_list, node.name if place.kind == "module" else inner.owner, place)
        inert = place.kind == "function" or (is_inert(node.bases) and not node.keywords)
        self._push([*node.bases, *node.keywords], inner if inert else place.at_import(MODULE))
        self._push(node.body, inner)

    def _is_plain(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Subscript):
            base = base.value
        match base:
            case ast.Name(id=name):
                return name in _PLAIN_BASES or name in self.plain_classes
            case ast.Attribute(attr=name):
                return name in _PLAIN_BASES
        return False
