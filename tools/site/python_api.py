# SPDX-License-Identifier: Apache-2.0
"""Makes the page of the Python API from the package's sources and their docstrings; nothing is imported or compiled.

The names in `__all__` are public, and so are their methods, properties and fields that do not begin with an underscore.
A public name without a docstring is an error, except for fields, which have a comment "#:".
"""

import ast
import inspect
import textwrap
from pathlib import Path

from sphinx.ext.napoleon import Config, NumpyDocstring

# The names that a reader looks for first; the others follow in the order of __all__.
FIRST = ["Context", "Scheme", "KeySet", "Job", "Secret"]
STYLE = Config(napoleon_use_rtype=False, napoleon_use_param=False, napoleon_use_ivar=True)


class Docstring(NumpyDocstring):
    """A docstring in NumPy's style. Exceptions are in one list, with a colon only before an explanation."""

    def _parse_raises_section(self, section):
        lines = [":Raises:"]
        for _, names, explanation in self._consume_fields(parse_type=False, prefer_type=True):
            links = ", ".join(f":py:exc:`{name.strip()}`" for name in names.split(","))
            lines.append(f"   * {links}" + (f": {' '.join(explanation)}" if any(explanation) else ""))
        return [*lines, ""]


class Package:
    """The modules of a package in a folder. Names without a docstring collect in `undocumented`."""

    def __init__(self, folder):
        self.name, self.folder = folder.name, folder
        self.undocumented = []
        self.modules = {path.stem: (path.read_text(encoding="utf-8"), path) for path in sorted(folder.glob("*.py"))}
        self.trees = {stem: ast.parse(text) for stem, (text, _) in self.modules.items()}

    def public(self):
        """Returns [(name, the name where it is defined, module)] of __all__, those of FIRST at the front."""
        tree = self.trees["__init__"]
        origin = {alias.asname or alias.name: (alias.name, node.module)
                  for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1
                  for alias in node.names}
        names = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)
                     and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__")
        names = sorted(names, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), names.index(name)))
        return [(name, *origin[name]) for name in names if name in origin]

    def page(self):
        head = ast.get_docstring(self.trees["__init__"])
        title = "Python API"
        parts = [title, "\n", "=" * len(title), "\n\n", f".. py:module:: {self.name}\n\n", head, "\n\n"]
        for name, defined, module in self.public():
            node = next((node for node in self.trees[module].body
                         if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == defined
                         and not is_overload(node)), None)
            if node is not None:
                parts.append(self.member(node, module, name))
        return "".join(parts)

    def documentation(self, node, module, full_name):
        text = ast.get_docstring(node, clean=False)
        if not text:
            self.undocumented.append(f"{self.modules[module][1]}:{node.lineno}: {full_name} has no docstring")
            return ""
        return str(Docstring(inspect.cleandoc(text), STYLE))

    def member(self, node, module, name):
        """Returns the directive of a class or function and its contents."""
        if isinstance(node, ast.ClassDef):
            return self.of_class(node, module, name)
        return directive("py:function", name + signature(node.args, node.returns), [],
                         self.documentation(node, module, name))

    def of_class(self, node, module, name):
        methods = [item for item in node.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
                   and not is_overload(item)]
        made = next((method for method in methods if method.name == "__init__"), None)
        body = self.documentation(node, module, name) + "\n\n"
        body += "".join(self.fields(node, module))
        body += "".join(self.method(method, module, name) for method in methods if not method.name.startswith("_"))
        bases = [ast.unparse(base) for base in node.bases]
        if any(base.endswith(("Error", "Exception")) for base in bases):
            return directive("py:exception", name, [], body)
        return directive("py:class", name + (signature(made.args, None, True) if made else ""), [], body)

    def fields(self, node, module):
        lines = self.modules[module][0].splitlines()
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and not item.target.id.startswith("_"):
                said = lines[item.end_lineno - 1].partition("#:")[2].strip()
                yield directive("py:attribute", item.target.id, [f":type: {ast.unparse(item.annotation)}"], said)
            elif isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant):
                for target in item.targets:
                    if not target.id.startswith("_"):
                        yield directive("py:attribute", target.id, [f":value: {item.value.value!r}"], "")

    def method(self, node, module, of):
        decorators = {ast.unparse(decorator).split(".")[-1] for decorator in node.decorator_list}
        body = self.documentation(node, module, f"{of}.{node.name}")
        if decorators & {"property", "cached_property"}:
            options = [f":type: {ast.unparse(node.returns)}"] if node.returns else []
            return directive("py:property", node.name, options, body)
        options = [f":{kind}:" for kind in ("classmethod", "staticmethod") if kind in decorators]
        if isinstance(node, ast.AsyncFunctionDef):
            options.append(":async:")
        return directive("py:method", node.name + signature(node.args, node.returns, "staticmethod" not in decorators),
                         options, body)


def is_overload(node):
    """Returns whether a function is an overload for type checkers; the function itself has the docstring."""
    return any(ast.unparse(decorator).split(".")[-1] == "overload" for decorator in node.decorator_list)


def signature(arguments, returns, bound=False):
    if bound:
        (arguments.posonlyargs or arguments.args).pop(0)
    return f"({ast.unparse(arguments)})" + (f" -> {ast.unparse(returns)}" if returns else "")


def directive(kind, signature_, options, body):
    head = f".. {kind}:: {signature_}\n" + "".join(f"   {option}\n" for option in options)
    return head + "\n" + (textwrap.indent(body.strip(), "   ") + "\n\n" if body.strip() else "")


class Undocumented(Exception):
    """One line for each public name without a docstring."""


def page(folder):
    """Returns the page as reStructuredText."""
    package = Package(Path(folder))
    text = package.page()
    if package.undocumented:
        raise Undocumented("\n".join(package.undocumented))
    return text
