//! Separates the packages under which a tool is published from those that are only named after it.

/// Tools that publish their packages under a scope of their own.
const OWN_SCOPES: &str = "prisma sentry auth0 mui emotion apollo clerk nestjs angular reduxjs tanstack supabase stripe aws-sdk \
    playwright storybook testing-library trpc remix-run sveltejs vue nuxt babel swc clickhouse elastic mapbox";
/// Ends of the names of a tool's own packages.
const CLIENT_ENDS: &str = "gl js client sdk dom driver python";

/// Whether a package is a tool itself, or one under which the tool is published: `mapbox-gl`, `@prisma/client`,
/// `gorm.io/gorm`. Anybody may publish `axios-kit` or `@axios/kit`.
pub(super) fn is_package_of(package: &str, tool: &str) -> bool {
    let package = package.to_lowercase();
    let name = match package.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, name)) => {
            if scope == tool && (is_in(scope, OWN_SCOPES) || is_client(name)) {
                return true;
            }
            // `@sveltejs/kit` is another package than `kit`.
            package.as_str()
        }
        // The path of a Go module ends with its name, and perhaps its version.
        None if package.split('/').next().is_some_and(|host| host.contains('.')) => {
            let is_version = |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
            package.rsplit('/').find(|part| !is_version(part)).unwrap_or(&package)
        }
        None => package.as_str(),
    };
    name == tool || name.strip_prefix(tool).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_client)
}

fn is_client(end: &str) -> bool {
    is_in(end, CLIENT_ENDS)
}

fn is_in(word: &str, table: &str) -> bool {
    table.split_ascii_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::is_package_of;

    #[test]
    fn packages_of_a_tool_differ_from_those_named_after_it() {
        for (package, tool, expected) in [
            ("@prisma/client", "prisma", true),
            ("@axios/kit", "axios", false),
            ("axios-kit", "axios", false),
            ("mapbox-gl", "mapbox", true),
            ("gorm.io/gorm", "gorm", true),
            ("github.com/go-chi/chi/v5", "chi", true),
            ("github.com/go-chi/cors", "chi", false),
            ("react-query", "react", false),
        ] {
            assert_eq!(is_package_of(package, tool), expected, "{package}");
        }
    }
}
