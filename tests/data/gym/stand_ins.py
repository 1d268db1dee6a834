"""Stands in for packages of a GPU stack, so that classes of a trainer that only mention them can be imported without them."""

import importlib.abc
import importlib.machinery
import sys
import types


class Mentioned(type):
    """A class whose every attribute is such a class."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return mentioned(name)


def mentioned(name):
    """A class that can be a base, an annotation, or a decorator that changes nothing."""
    return Mentioned(name, (), {"__init__": lambda self, *_, **__: None, "__call__": lambda self, given=None, *_, **__: given})


class Package(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name == "__version__":
            return "999.0"
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, mentioned(name))
        return getattr(self, name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Package(spec.name)

    def exec_module(self, module):
        pass


def install(*packages):
    sys.meta_path.insert(0, Finder(set(packages)))
