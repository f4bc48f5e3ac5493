//! Finds the packages that source code imports, by the ending of its file. Relative imports are left out.

/// The packages that a source text imports, as they are installed where that is the same name.
pub fn imported_packages(path: &str, text: &str) -> Vec<String> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let import_of: fn(&str) -> Vec<&str> = match ending {
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" | "astro" => javascript_imports,
        "py" | "pyi" => python_imports,
        "rs" => rust_imports,
        "rb" => ruby_imports,
        "go" => go_imports,
        _ => return Vec::new(),
    };
    let mut packages: Vec<String> = Vec::new();
    for name in text.lines().flat_map(|line| import_of(line.trim())) {
        if !name.is_empty() && !packages.iter().any(|known| known == name) {
            packages.push(name.to_owned());
        }
    }
    packages
}

/// `import x from 'axios'`, `import 'axios/x'`, `export * from "axios"`, `require('axios')`, `import("axios")`.
fn javascript_imports(line: &str) -> Vec<&str> {
    let is_import = line.starts_with("import ") || line.starts_with("import{") || line.starts_with("export ");
    // The last line of an import over several lines begins with a brace.
    let from = if is_import || line.starts_with('}') { line.split_once(" from ").map(|(_, rest)| rest) } else { None };
    let bare = line.strip_prefix("import ").filter(|rest| rest.starts_with(['\'', '"']));
    let is_comment = line.starts_with("//") || line.starts_with('*');
    let calls = ["require(", "import("].into_iter().filter_map(|call| Some(line.split_once(call)?.1));
    let specifiers = from.into_iter().chain(bare).chain(calls.filter(|_| !is_comment));
    specifiers.filter_map(quoted).filter_map(javascript_package).collect()
}

/// `axios` of `axios/lib/x`, `@scope/name` of `@scope/name/x`; nothing for a path or a built-in module.
fn javascript_package(specifier: &str) -> Option<&str> {
    if specifier.starts_with(['.', '/', '#', '~']) || specifier.contains(':') || specifier.starts_with("@/") {
        return None;
    }
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    Some(&specifier[..end])
}

/// `import a, b.c as d`, `from a.b import c`.
fn python_imports(line: &str) -> Vec<&str> {
    fn root(name: &str) -> &str {
        &name[..name.find(['.', ' ', ';', '#']).unwrap_or(name.len())]
    }
    if let Some(module) = line.strip_prefix("from ").filter(|rest| rest.contains(" import ")) {
        return if module.starts_with('.') { Vec::new() } else { vec![root(module)] };
    }
    let Some(modules) = line.strip_prefix("import ") else { return Vec::new() };
    let named = modules.split(',').map(str::trim);
    named.map(root).filter(|name| is_identifier(name)).collect()
}

/// `use reqwest::Client`, `extern crate reqwest`.
fn rust_imports(line: &str) -> Vec<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let path = line.strip_prefix("use ").or_else(|| line.strip_prefix("extern crate "));
    let Some(path) = path else { return Vec::new() };
    let end = path.find([':', ';', ' ', '{']).unwrap_or(path.len());
    let own = ["crate", "self", "super", "std", "core", "alloc"];
    [&path[..end]].into_iter().filter(|name| is_identifier(name) && !own.contains(name)).collect()
}

/// `import "gorm.io/gorm"`, and a line of an import over several lines: `chi "github.com/go-chi/chi/v5"`.
fn go_imports(line: &str) -> Vec<&str> {
    let path = line.strip_prefix("import ").unwrap_or(line);
    let path = path.split_once('"').filter(|(before, _)| !before.contains(['=', '(', ':', ','])).map(|(_, rest)| rest);
    let path = path.and_then(|rest| rest.split_once('"')).filter(|(_, after)| after.is_empty()).map(|(path, _)| path);
    // The standard library has no host in its paths.
    path.filter(|path| path.split('/').next().is_some_and(|host| host.contains('.')) && !path.contains(' '))
        .into_iter()
        .collect()
}

/// `require "httparty"`, `gem 'httparty'`.
fn ruby_imports(line: &str) -> Vec<&str> {
    let named = line.strip_prefix("require ").or_else(|| line.strip_prefix("gem "));
    named.and_then(quoted).map(|name| name.split('/').next().unwrap_or(name)).into_iter().collect()
}

/// The text in the quotes with which this begins.
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"' | '`'))?;
    text[1..].split_once(quote).map(|(inner, _)| inner)
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::imported_packages;

    fn check(path: &str, text: &str, expected: &[&str]) {
        assert_eq!(imported_packages(path, text), expected, "{text}");
    }

    #[test]
    fn go_imports_are_paths_of_modules() {
        check("a.go", "import \"gorm.io/gorm\"", &["gorm.io/gorm"]);
        let several = "import (\n\t\"fmt\"\n\tlog \"github.com/sirupsen/logrus\"\n)\nx := \"gorm.io/gorm\"";
        check("a.go", several, &["github.com/sirupsen/logrus"]);
    }

    #[test]
    fn imports_are_read_by_language() {
        // D41
        check("a.ts", "import axios from 'axios'\nimport {\n  x\n} from \"@scope/kit/sub\";", &["axios", "@scope/kit"]);
        check(
            "a.js",
            "const m = require('moment')\nawait import('ky')\nimport 'lodash/fp'",
            &["moment", "ky", "lodash"],
        );
        check("a.tsx", "import x from './x'\nimport fs from 'node:fs'\n// require('axios')\nimport y from '@/y'", &[]);
        check(
            "a.py",
            "import pandas as pd, os.path\nfrom celery.app import Celery\nfrom .x import y",
            &["pandas", "os", "celery"],
        );
        check("a.rs", "use reqwest::Client;\nuse crate::x;\npub use tokio;", &["reqwest", "tokio"]);
        check("a.rb", "require 'httparty'", &["httparty"]);
        check("notes.md", "import axios from 'axios'", &[]);
    }
}
